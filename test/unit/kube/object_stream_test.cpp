#include "kube/object_stream.h"

#include <gtest/gtest.h>

namespace gantree::kube {
namespace {

// Text with what has to be readable behind it, and would be noticed if it were read.
class Padded {
 public:
  explicit Padded(std::string_view text)
      : size_(text.size()), bytes_(std::string(text) + std::string(kJsonPadding, '}')) {}
  [[nodiscard]] std::string_view view() const { return std::string_view(bytes_).substr(0, size_); }

 private:
  std::size_t size_;
  std::string bytes_;
};

struct Item {
  std::string name;
  std::string json;
};

Result<ListEnd> read(const std::string& text, std::vector<Item>* items = nullptr) {
  ObjectReader reader;
  const Padded padded(text);
  return reader.read_list(padded.view(), [&](const ObjectRef& object, std::string_view json) {
    if (items != nullptr) {
      items->push_back({std::string(object.name_space) + "/" + std::string(object.name) + "@" +
                            std::string(object.resource_version) + "=" + std::string(object.uid),
                        std::string(json)});
    }
  });
}

TEST(ReadList, GivesEachObjectWithItsText) {
  std::vector<Item> items;
  const auto end = read(
      R"({"kind":"PodList","metadata":{"resourceVersion":"7","continue":"to\u006ben"},"items":[
          {"metadata":{"name":"a","namespace":"n","uid":"u1","resourceVersion":"3","managedFields":[{"x":{}}]},"spec":{}} ,
          {"spec":{"deep":[[[{}]]]},"metadata":{"labels":{"name":"no"},"name":"b","resourceVersion":"4"}}]})",
      &items);
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_EQ(end->resource_version, "7");
  EXPECT_EQ(end->continue_token, "token");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].name, "n/a@3=u1");
  EXPECT_TRUE(items[0].json.ends_with(R"("spec":{}})")) << items[0].json;
  EXPECT_EQ(items[1].name, "/b@4=");
}

TEST(ReadList, TheItemsMayComeFirstOrBeNull) {
  std::vector<Item> items;
  EXPECT_EQ(
      read(R"({"items":[{"metadata":{"name":"a"}}],"metadata":{"resourceVersion":"7"}})", &items)->resource_version,
      "7");
  EXPECT_EQ(items.size(), 1U);
  EXPECT_TRUE(read(R"({"items":null,"metadata":{"resourceVersion":"7"}})").has_value());
}

TEST(ReadList, RefusesWhatIsNoList) {
  for (const char* text :
       {"", "[]", "nonsense", R"({"items":[]})", R"({"items":[{}],"metadata":{"resourceVersion":"7"}})",
        R"({"items":[3],"metadata":{"resourceVersion":"7"}})", R"({"metadata":{"resourceVersion":7}})",
        R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"})"}) {
    EXPECT_FALSE(read(text).has_value()) << text;
  }
}

TEST(ReadEvent, TellsTypesObjectsAndErrors) {
  ObjectReader reader;
  const Padded added(R"({"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"9"}}})");
  const auto event = reader.read_event(added.view());
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->type, EventType::kAdded);
  EXPECT_EQ(event->object.name, "a");
  EXPECT_EQ(event->json, R"({"metadata":{"name":"a","uid":"u","resourceVersion":"9"}})");

  const Padded bookmark(R"({"object":{"kind":"Pod","metadata":{"resourceVersion":"12"}},"type":"BOOKMARK"})");
  EXPECT_EQ(reader.read_event(bookmark.view())->object.resource_version, "12");

  const Padded error(
      R"({"type":"ERROR","object":{"kind":"Status","message":"too old","reason":"Expired","code":410}})");
  const auto failed = reader.read_event(error.view());
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->error_code, 410);
  EXPECT_EQ(failed->error_message, "too old");

  const Padded unknown(R"({"type":"FUTURE","object":{}})");
  EXPECT_EQ(reader.read_event(unknown.view())->type, EventType::kOther);
}

TEST(ReadEvent, RefusesWhatIsNoEvent) {
  ObjectReader reader;
  for (const char* text :
       {"{}", "[]", R"({"type":"ADDED"})", R"({"type":"ADDED","object":3})", R"({"type":3,"object":{}})",
        R"({"type":"ADDED","object":{"metadata":{}}})", R"({"type":"ERROR","object":{"message":"a","x",3}})",
        R"({"type":"ERROR","object":{"code":"x"}})", R"({"type":"ADDED","object":{"metadata":)"}) {
    const Padded padded(text);
    EXPECT_FALSE(reader.read_event(padded.view()).has_value()) << text;
  }
}

TEST(LineBuffer, PutsLinesTogetherHoweverTheyAreCut) {
  const std::string text = "first\n\nsecond line\r\nthird\nrest";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    LineBuffer buffer(1000);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < text.size(); i += step) {
      EXPECT_TRUE(buffer.feed(std::string_view(text).substr(i, step), [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
      }));
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"first", "second line\r", "third"})) << step;
  }
}

TEST(LineBuffer, RefusesALineThatIsTooLong) {
  LineBuffer buffer(10);
  const auto take = [](std::string_view) { return true; };
  EXPECT_TRUE(buffer.feed("12345", take));
  EXPECT_FALSE(buffer.feed("6789012", take));
  EXPECT_TRUE(buffer.feed("again\n", take));
}

}  // namespace
}  // namespace gantree::kube
