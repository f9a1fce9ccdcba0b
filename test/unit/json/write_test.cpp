#include "json/write.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "json/like_go.h"
#include "support/show.h"

namespace gantree::json {
namespace {

Out sample() {
  Out list = Out::array();
  list.push("x");
  list.push(Out::object().add("a", 1).add("b", Out::array()));
  list.push(Out::array().push(true).push(Out()));
  return Out::object()
      .add("name", "train")
      .add("items", std::move(list))
      .add("spec", Out::object().add("count", std::size_t{6}))
      .add("empty", Out::object());
}

std::string yaml_of(const char* text) {
  return Out::object().add("a", text).to_yaml();
}

TEST(Out, IsWrittenAsCompactJson) {
  EXPECT_EQ(sample().to_json(false),
            R"({"name":"train","items":["x",{"a":1,"b":[]},[true,null]],"spec":{"count":6},"empty":{}})");
}

TEST(Out, IsWrittenAsIndentedJson) {
  EXPECT_EQ(sample().to_json(true), R"({
  "name": "train",
  "items": [
    "x",
    {
      "a": 1,
      "b": []
    },
    [
      true,
      null
    ]
  ],
  "spec": {
    "count": 6
  },
  "empty": {}
})");
}

TEST(Out, IsWrittenAsYamlTheWayKubectlDoes) {
  EXPECT_EQ(sample().to_yaml(), R"(name: train
items:
- x
- a: 1
  b: []
- - true
  - null
spec:
  count: 6
empty: {}
)");
}

TEST(Out, EscapesWhatJsonCannotHoldAsItIs) {
  EXPECT_EQ(Out("\"\\\n\t\r\x01\x7F/\xC3\xA9").to_json(false), "\"\\\"\\\\\\n\\t\\r\\u0001\\u007f/\xC3\xA9\"");
}

TEST(Write, EscapesTextAsGoDoesWhereDigestsAreCompared) {
  const auto go = [](std::string_view text) {
    std::string out;
    append_string_like_go(out, text);
    return out;
  };
  EXPECT_EQ(go("a\"\\\b\f\n\r\t\x01/"), R"("a\"\\\b\f\n\r\t\u0001/")");
  EXPECT_EQ(go("<a & b>"), R"("\u003ca \u0026 b\u003e")");
  EXPECT_EQ(go("\x7F\xC3\xA9\xE2\x80\xA8\xE2\x80\xA9"), "\"\x7F\xC3\xA9\\u2028\\u2029\"");
  EXPECT_EQ(go("\xFF"), R"("\ufffd")");
}

TEST(Out, BytesThatAreNoTextBecomeReplacementCharacters) {
  EXPECT_EQ(Out("a\xFF\xC3").to_json(false), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(Out("\xED\xA0\x80").to_yaml(), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n");
}

TEST(Out, ScalarsAndEmptyContainersStandAlone) {
  EXPECT_EQ(Out().to_yaml(), "null\n");
  EXPECT_EQ(Out(std::numeric_limits<std::int64_t>::min()).to_yaml(), "-9223372036854775808\n");
  EXPECT_EQ(Out::array().to_yaml(), "[]\n");
  EXPECT_EQ(Out::object().to_yaml(), "{}\n");
  EXPECT_EQ(Out("a\nb").to_yaml(), "|-\n  a\n  b\n");
}

TEST(Out, QuotesTextThatWouldReadAsSomethingElse) {
  for (const char* text :
       {"true", "no", "null", "~", "1", "1.5", "0x1F", ".inf", "", "2026-01-01T00:00:00Z", "1_000", "1:30"}) {
    EXPECT_EQ(yaml_of(text), "a: \"" + std::string(text) + "\"\n");
  }
  for (const char* text :
       {"*", "&a", "{\"a\":1}", "- a", "-", "a: b", "a #b", "a:", " a", "a ", "# a", "@x", "---", "...", "<<"}) {
    EXPECT_EQ(yaml_of(text), "a: '" + std::string(text) + "'\n");
  }
  EXPECT_EQ(yaml_of("it's: x"), "a: 'it''s: x'\n");
  EXPECT_EQ(yaml_of("\ttab"), "a: \"\\ttab\"\n");
}

TEST(Out, LeavesHarmlessTextPlain) {
  for (const char* text : {"train", "b1/r1", "--flag=x", "a,b", "nvidia.com/gpu", "a:b", "a#b", "it's", "10.0.0.0/24",
                           "registry/image@sha256:00", "\xC3\xA9", "1Gi", "100m", "yesterday"}) {
    EXPECT_EQ(yaml_of(text), "a: " + std::string(text) + "\n");
  }
}

TEST(Out, TextOfSeveralLinesIsALiteralBlock) {
  EXPECT_EQ(yaml_of("x\n\n  y\n"), "a: |\n  x\n\n    y\n");
  EXPECT_EQ(yaml_of("x\ny"), "a: |-\n  x\n  y\n");
  EXPECT_EQ(yaml_of("x\n\n"), "a: |+\n  x\n\n");
  EXPECT_EQ(yaml_of(" x\ny"), "a: \" x\\ny\"\n") << "leading blanks would be taken for indentation";
  EXPECT_EQ(Out::array().push("x\ny").to_yaml(), "- |-\n    x\n    y\n");
}

TEST(Out, VeryLongKeysCanBeReadBack) {
  const std::string key(5000, 'k');
  const Out out = Out::object().add(key, Out::object().add(key, Out::array().push(1))).add("b", 2);
  EXPECT_EQ(shown(out.to_yaml()), out.to_json(false));
}

// Characters that have ever meant something to YAML, and some that are just
// letters.
rc::Gen<std::string> text() {
  const auto piece = rc::gen::elementOf(std::vector<std::string>{"a",
                                                                 "b",
                                                                 "1",
                                                                 "0",
                                                                 " ",
                                                                 "\n",
                                                                 "\t",
                                                                 "\r",
                                                                 ":",
                                                                 "#",
                                                                 "-",
                                                                 "'",
                                                                 "\"",
                                                                 "\\",
                                                                 "{",
                                                                 "}",
                                                                 "[",
                                                                 "]",
                                                                 ",",
                                                                 "&",
                                                                 "*",
                                                                 "!",
                                                                 "|",
                                                                 ">",
                                                                 "%",
                                                                 "@",
                                                                 "`",
                                                                 "?",
                                                                 "=",
                                                                 "<<",
                                                                 "~",
                                                                 ".",
                                                                 "---",
                                                                 "...",
                                                                 "true",
                                                                 "null",
                                                                 "yes",
                                                                 "\x01",
                                                                 "\x7F",
                                                                 "\xC2\x85",
                                                                 "\xE2\x80\xA8",
                                                                 "\xEF\xBB\xBF",
                                                                 "\xC3\xA9",
                                                                 "\xF0\x9F\x98\x80",
                                                                 "\xEF\xBF\xBE"});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const std::vector<std::string>& pieces) {
    std::string joined;
    for (const std::string& part : pieces) {
      joined += part;
    }
    return joined;
  });
}

Out tree(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 6 : 4);
  switch (kind) {
    case 0:
      return {};
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *text();
    case 4: {
      Out out = Out::array();
      for (int left = *rc::gen::inRange(0, 4); left > 0; --left) {
        out.push(tree(depth - 1));
      }
      return out;
    }
    default: {
      Out out = Out::object();
      for (const std::string& key : *rc::gen::unique<std::vector<std::string>>(text())) {
        out.add(key, tree(depth - 1));
      }
      return out;
    }
  }
}

RC_GTEST_PROP(Out, ReadsBackTheSameFromJsonAndFromYaml, ()) {
  const Out out = Out::object().add("root", tree(4));
  const std::string expected = out.to_json(false);
  RC_ASSERT(shown(out.to_json(false)) == expected);
  RC_ASSERT(shown(out.to_json(true)) == expected);
  RC_ASSERT(shown(out.to_yaml()) == expected);
}

RC_GTEST_PROP(Out, TextAloneReadsBackFromYaml, ()) {
  const Out out = *text();
  RC_ASSERT(shown(out.to_yaml()) == out.to_json(false));
}

}  // namespace
}  // namespace gantree::json
