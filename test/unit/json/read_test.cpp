#include "json/read.h"

#include <gtest/gtest.h>

#include <string>

#include "json/write.h"
#include "unit/json/show.h"

namespace gantree::json {
namespace {

TEST(ReadDocuments, ReadsTheSameTreeFromJsonAndFromYaml) {
  const std::string json = R"({"a": 1, "b": [true, null, "x"], "c": {"d": "e\n"}})";
  const std::string yaml = "a: 1\nb:\n- true\n- null\n- x\nc:\n  d: |\n    e\n";
  EXPECT_EQ(shown(json), R"({"a":1,"b":[true,null,"x"],"c":{"d":"e\n"}})");
  EXPECT_EQ(shown(yaml), shown(json));
}

TEST(ReadDocuments, ReadsAnyMixOfYamlAndJsonDocuments) {
  EXPECT_EQ(shown("---\n{\"a\": 1}\n---\n{\"b\": 2}\n"), "{\"a\":1} {\"b\":2}");
  EXPECT_EQ(shown("{\"a\": 1}{\"b\": 2}\n\n[3]"), "{\"a\":1} {\"b\":2} [3]");
  EXPECT_EQ(shown("a: 1\n---\n{\"b\": 2}\n---\nc: 3\n"), "{\"a\":1} {\"b\":2} {\"c\":3}");
  EXPECT_EQ(shown("--- {\"a\": 1}\n--- {b: 2}\n--- c\n"), "{\"a\":1} {\"b\":2} \"c\"");
  EXPECT_EQ(shown("%YAML 1.1\n---\n{\"a\": 1}\n...\n# end\n"), "{\"a\":1}");
  EXPECT_EQ(shown("a: 1\n...\n%YAML 1.1\n---\n{\"b\": 2}\n"), "{\"a\":1} {\"b\":2}");
  EXPECT_EQ(shown("  a: 1\n  b: 2\n"), "{\"a\":1,\"b\":2}");
  EXPECT_EQ(shown("{\"a\": 1} # with a comment\n"), "{\"a\":1}");
}

TEST(ReadDocuments, LeavesOutEmptyDocuments) {
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("\n# nothing\n---\n---\n\n...\n"), "");
  EXPECT_EQ(shown("\xEF\xBB\xBF---\na: 1\n---\n# nothing\n"), "{\"a\":1}");
  EXPECT_EQ(shown("\xEF\xBB\xBF{\"a\": 1}"), "{\"a\":1}");
}

TEST(ReadDocuments, KnowsTheLineOfEachValue) {
  const std::string text = "# one\n---\na: 1\nb:\n  c: 2\n---\n{\n\"d\": [\n1,\n{\"e\":\n2}]\n}\n";
  const auto documents = read_documents("f", text);
  ASSERT_TRUE(documents) << documents.error().message;
  const Value first = (*documents)[0].root();
  EXPECT_EQ(first.line(), 3);
  EXPECT_EQ(first["b"]["c"].line(), 5);
  const Value second = (*documents)[1].root();
  EXPECT_EQ(second.line(), 7);
  EXPECT_EQ(second["d"].line(), 8);
  EXPECT_EQ(Value(&second["d"].items()[0]).line(), 9);
  EXPECT_EQ(Value(&second["d"].items()[1])["e"].line(), 11);
}

}  // namespace
}  // namespace gantree::json
