// Whatever is asked of the embedded API server: it answers, says no by a Status, and what watches have told, what lists
// say and what is on the disk are one.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "base/whole_number.h"
#include "property/api_requests.h"

namespace gantree::test {
namespace {

std::uint64_t setting(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : whole_number<std::uint64_t>(text).value_or(usual);
}

class ApiProperty : public testing::Test {
 protected:
  ApiProperty() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gantree-api-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ApiProperty() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string file() const { return folder_ + "/cluster.db"; }

  // Kinds that others need are there from the beginning.
  static void prepare(ApiJudge& judge) {
    for (const Sample& sample : samples()) {
      if (sample.collection.ends_with("priorityclasses") || sample.collection.ends_with("customresourcedefinitions")) {
        auto object = apiserver::parse_json(sample.object);
        ASSERT_TRUE(object);
        apiserver::object_in(object->get_object(), "metadata")["name"] =
            sample.collection.ends_with("priorityclasses") ? "low" : "things.example.com";
        apiserver::Answer answer;
        ASSERT_EQ(
            judge.send({.method = "POST", .path = std::string(sample.collection), .body = apiserver::to_json(*object)},
                       &answer),
            "");
        ASSERT_EQ(answer.status, 201) << answer.text();
      }
    }
  }

  std::string folder_;
};

TEST_F(ApiProperty, NothingThatIsAskedBreaksTheServerOrItsAccount) {
  RequestDie die(setting("GANTREE_PROPERTY_SEED", 1));
  const std::uint64_t count = setting("GANTREE_PROPERTY_REQUESTS", 12'000);
  std::set<int> codes;
  ApiJudge::Objects own;
  ApiJudge::Objects before;
  {
    ApiJudge judge(all_collections(), file());
    own = judge.objects();
    prepare(judge);
    for (std::uint64_t i = 0; i < count; ++i) {
      apiserver::Answer answer;
      ASSERT_EQ(judge.send(die.next(), &answer), "") << "request " << i;
      codes.insert(answer.status);
      if (const auto body = apiserver::parse_json(answer.text())) {
        if (const std::string_view token = apiserver::text_at(*body, {"metadata", "continue"}); !token.empty()) {
          die.remember(std::string(token));
        }
      }
      if (i % 500 == 499) {
        ASSERT_EQ(judge.compare(), "") << "after request " << i;
        ASSERT_EQ(judge.put_all_back(), "") << "after request " << i;
      }
    }
    ASSERT_EQ(judge.compare(), "");
    before = judge.objects();
    EXPECT_LT(judge.passed_over(), count / 10);
  }
  // The die must not be so wild that nothing gets through, nor so tame that all does.
  for (const int code : {200, 201, 400, 404, 405, 406, 409, 410, 415, 422}) {
    EXPECT_TRUE(codes.contains(code)) << code << " was never answered";
  }
  EXPECT_GT(before.size(), 20U);
  ApiJudge again(all_collections(), file());
  const ApiJudge::Objects after = again.objects();
  for (const auto& [place, text] : before) {
    const auto found = after.find(place);
    EXPECT_EQ(found == after.end() ? "" : found->second, text) << "is what was read of " << place.second;
  }
  // The server's own come back where they were deleted.
  for (const auto& [place, text] : after) {
    EXPECT_TRUE(before.contains(place) || own.contains(place))
        << place.first << " " << place.second << " is there after a restart alone";
  }
  EXPECT_EQ(again.compare(), "");
}

}  // namespace
}  // namespace gantree::test
