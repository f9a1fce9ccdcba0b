#include "json/patch.h"

#include <gtest/gtest.h>

#include "json/read.h"

namespace gantree::json {
namespace {

class PatchTest : public testing::Test {
 protected:
  Value read(std::string text) {
    documents_ = *read_documents("t", std::move(text));
    return documents_.front().root();
  }
  static std::string text(Patch& patch) { return Out(patch.take()).to_json(false); }

 private:
  std::vector<Document> documents_;
};

TEST_F(PatchTest, SetsWhatIsMissingOrDifferent) {
  Patch patch(read("{spec: {suspend: false}}"));
  patch.set({"spec", "suspend"}, true);
  patch.set({"spec", "name"}, "a");
  EXPECT_EQ(text(patch), R"([{"op":"add","path":"/spec/suspend","value":true},)"
                         R"({"op":"add","path":"/spec/name","value":"a"}])");
}

TEST_F(PatchTest, LeavesAloneWhatIsAsWanted) {
  Patch patch(read("{spec: {suspend: true, name: 'true'}}"));
  patch.set({"spec", "suspend"}, true);
  patch.set({"spec", "name"}, "true");
  EXPECT_TRUE(patch.empty());
}

TEST_F(PatchTest, MakesTheObjectsOnTheWayOnce) {
  Patch patch(read("{metadata: {labels: null}}"));
  patch.set({"metadata", "labels", "a"}, "1");
  patch.set({"metadata", "labels", "b"}, "2");
  EXPECT_EQ(text(patch), R"([{"op":"add","path":"/metadata/labels","value":{}},)"
                         R"({"op":"add","path":"/metadata/labels/a","value":"1"},)"
                         R"({"op":"add","path":"/metadata/labels/b","value":"2"}])");
}

TEST_F(PatchTest, AppendsToListsThatAreThereOrNot) {
  Patch patch(read("{spec: {gates: [x]}}"));
  patch.append({"spec", "gates"}, "y");
  patch.append({"spec", "others"}, "y");
  patch.append({"spec", "others"}, "z");
  EXPECT_EQ(text(patch), R"([{"op":"add","path":"/spec/gates/-","value":"y"},)"
                         R"({"op":"add","path":"/spec/others","value":[]},)"
                         R"({"op":"add","path":"/spec/others/-","value":"y"},)"
                         R"({"op":"add","path":"/spec/others/-","value":"z"}])");
}

TEST_F(PatchTest, EscapesNames) {
  Patch patch(read("{a: {}}"));
  patch.set({"a", "x/y~z"}, "1");
  EXPECT_EQ(text(patch), R"([{"op":"add","path":"/a/x~1y~0z","value":"1"}])");
}

}  // namespace
}  // namespace gantree::json
