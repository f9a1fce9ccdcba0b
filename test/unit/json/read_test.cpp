#include "json/read.h"

#include <gtest/gtest.h>

#include <string>

#include "support/show.h"

namespace gantree::json {
namespace {

std::string repeated(std::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

TEST(ReadDocuments, ReadsTheSameTreeFromJsonAndFromYaml) {
  const std::string json = R"({"a": 1, "b": [true, null, "x"], "c": {"d": "e\n"}, "f": [], "g": {}})";
  const std::string yaml = "a: 1\nb:\n- true\n- null\n- x\nc:\n  d: |\n    e\nf: []\ng: {}\n";
  EXPECT_EQ(shown(json), R"({"a":1,"b":[true,null,"x"],"c":{"d":"e\n"},"f":[],"g":{}})");
  EXPECT_EQ(shown(yaml), shown(json));
}

TEST(ReadDocuments, ReadsAnyMixOfYamlAndJsonDocuments) {
  EXPECT_EQ(shown("---\n{\"a\": 1}\n---\n{\"b\": 2}\n"), "{\"a\":1} {\"b\":2}");
  EXPECT_EQ(shown("{\"a\": 1}{\"b\": 2}\n\n[3]"), "{\"a\":1} {\"b\":2} [3]");
  EXPECT_EQ(shown("a: 1\n---\n{\"b\": 2}\n---\nc: 3\n"), "{\"a\":1} {\"b\":2} {\"c\":3}");
  EXPECT_EQ(shown("--- {\"a\": 1}\n--- {b: 2}\n--- c\n"), "{\"a\":1} {\"b\":2} \"c\"");
  EXPECT_EQ(shown("{\"a\": 1} # with a comment\n# and one more\n{\"b\": 2}"), "{\"a\":1} {\"b\":2}");
  EXPECT_EQ(shown("a: 1\r\n---\r\n{\"b\":\r\n2}\r\n---\r\nc: 3\r\n"), "{\"a\":1} {\"b\":2} {\"c\":3}");
}

TEST(ReadDocuments, HandlesDirectivesMarkersAndByteOrderMarks) {
  EXPECT_EQ(shown("%YAML 1.1\n---\n{\"a\": 1}\n...\n# end\n"), "{\"a\":1}");
  EXPECT_EQ(shown("a: 1\n...\n%YAML 1.2\n---\n{\"b\": 2}\n"), "{\"a\":1} {\"b\":2}");
  EXPECT_EQ(shown("a: 1\n...\nb: 2\n"), "{\"a\":1} {\"b\":2}");
  EXPECT_EQ(shown("--- |\n text\n...\n--- >\n a\n b\n"), "\"text\\n\" \"a b\\n\"");
  EXPECT_EQ(shown("  a: 1\n  b: 2\n"), "{\"a\":1,\"b\":2}");
  EXPECT_EQ(shown("\xEF\xBB\xBF{\"a\": 1}"), "{\"a\":1}");
  EXPECT_EQ(shown("\xEF\xBB\xBF---\na: 1\n"), "{\"a\":1}");
  EXPECT_EQ(shown("a: --- b\nc: |\n  ---\n  ...\n"), "{\"a\":\"--- b\",\"c\":\"---\\n...\\n\"}");
}

TEST(ReadDocuments, LeavesOutEmptyDocuments) {
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown(" \n\t\n"), "");
  EXPECT_EQ(shown("\n# nothing\n---\n---\n\n...\n"), "");
  EXPECT_EQ(shown("---\na: 1\n---\n# nothing\n--- null\n"), "{\"a\":1}");
}

TEST(ReadDocuments, ReturnsRootsThatAreNoObjectsAsTheyAre) {
  EXPECT_EQ(shown("- 1\n- a\n"), "[1,\"a\"]");
  EXPECT_EQ(shown("just text\n"), "\"just text\"");
  EXPECT_EQ(shown("\"quoted\""), "\"quoted\"");
  EXPECT_EQ(shown("42"), "42");
}

TEST(ReadDocuments, KnowsTheLineOfEachValue) {
  const std::string text = "# one\n---\na: 1\nb:\n  c: 2\n---\n{\n\"d\": [\n1,\n{\"e\":\n2}]\n}\n---\n\nf: 3\n";
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
  EXPECT_EQ((*documents)[2].root()["f"].line(), 15);
}

TEST(ReadDocuments, DocumentsOutliveEachOther) {
  std::optional<Document> last;
  {
    auto documents = read_documents("f", "{\"a\": \"x\"}\n---\nb: x\n");
    ASSERT_TRUE(documents);
    last = std::move(documents->back());
  }
  EXPECT_EQ(last->root()["b"].text(), "x");
  EXPECT_EQ(last->file(), "f");
}

TEST(ReadDocuments, ReadsUnquotedScalarsAsKubernetesDoes) {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) {
    EXPECT_EQ(shown("a: " + std::string(text)), "{\"a\":null}") << text;
  }
  for (const char* text : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}) {
    EXPECT_EQ(shown("a: " + std::string(text)), "{\"a\":true}") << text;
  }
  for (const char* text : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}) {
    EXPECT_EQ(shown("a: " + std::string(text)), "{\"a\":false}") << text;
  }
  for (const char* text : {"0x1F", "0o17", "0b11", ".5", "5.", "-1.5e-3", "1e3", ".inf", "-.INF", ".nan", "+5"}) {
    EXPECT_EQ(shown("a: " + std::string(text)), "{\"a\":\"#" + std::string(text) + "\"}") << text;
  }
  for (const char* text : {"tRue", "yEs", "nULL", "1_000", "2026-01-01", "1.2.3", "1e", "0x", "0xg", "0o8", ".", "+",
                           "NaN", "inf", "100m", "1Gi", "a b", "yesterday", "1:30"}) {
    EXPECT_EQ(shown("a: " + std::string(text)), "{\"a\":\"" + std::string(text) + "\"}") << text;
  }
  EXPECT_EQ(shown("a: 'yes'\nb: \"1\"\nc: |-\n  true\n"), "{\"a\":\"yes\",\"b\":\"1\",\"c\":\"true\"}");
}

TEST(ReadDocuments, KeysAreTextAsWritten) {
  EXPECT_EQ(shown("1: a\ntrue: b\non: c\n'd': e\n~: f\n"),
            "{\"1\":\"a\",\"true\":\"b\",\"on\":\"c\",\"d\":\"e\",\"~\":\"f\"}");
  EXPECT_EQ(shown("{\"a\\u0062\": 1}"), "{\"ab\":1}");
  EXPECT_EQ(shown("? [a]\n: b\n"), "f:1: a key must be a scalar, not a list");
  EXPECT_EQ(shown("a: 1\n? {b: c}\n: d\n"), "f:2: a key must be a scalar, not an object");
}

TEST(ReadDocuments, UnescapesJsonText) {
  EXPECT_EQ(shown(R"({"a": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00", "b\n": "é"})"),
            "{\"a\":\"\\\"\\\\/\\b\\f\\n\\r\\t\xC3\xA9\xF0\x9F\x98\x80\",\"b\\n\":\"\xC3\xA9\"}");
}

TEST(ReadDocuments, CoreTagsOverrideWhatAScalarLooksLike) {
  EXPECT_EQ(shown("a: !!str 1\nb: !!int \"5\"\nc: !!bool 'yes'\nd: !!null ''\ne: ! 1\nf: !!float 1.5\n"),
            "{\"a\":\"1\",\"b\":5,\"c\":true,\"d\":null,\"e\":\"1\",\"f\":\"#1.5\"}");
  EXPECT_EQ(shown("!!map {a: !!seq [1]}"), "{\"a\":[1]}");
  EXPECT_EQ(shown("a: !!int x"), "f:1: \"x\" does not fit its tag !!int");
  EXPECT_EQ(shown("a: !!binary eA=="), "f:1: the tag !!binary is not supported");
  EXPECT_EQ(shown("a: 1\nb: !mine {}"), "f:2: the tag !mine is not supported");
  EXPECT_EQ(shown("!mine a: 1"), "f:1: the tag !mine is not supported");
}

TEST(ReadDocuments, AliasesStandForWhatTheyName) {
  EXPECT_EQ(shown("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n"),
            "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":[{\"b\":1},{\"b\":1}]}");
  EXPECT_EQ(shown("a: &x 1\nb: &x 2\nc: *x\n"), "{\"a\":1,\"b\":2,\"c\":2}");
  EXPECT_EQ(shown("&k a: 1\nb: *k\n*k : 3\n"), "f:3: duplicate key \"a\"");
  EXPECT_EQ(shown("a: *x\n"), "f:1: alias *x refers to no anchor before it");
  EXPECT_EQ(shown("a: &x 1\n---\nb: *x\n"), "f:3: alias *x refers to no anchor before it");
  EXPECT_EQ(shown("a: &x\n  b: *x\n"), "f:2: alias *x refers to a value that contains it");
  EXPECT_EQ(shown("a: &x [1]\n*x : 1\n"), "f:2: a key must be a scalar, not a list");
}

TEST(ReadDocuments, MergeKeysTakeInMembersThatAreNotThereYet) {
  EXPECT_EQ(shown("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n"), "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"c\":3,\"b\":1}}");
  EXPECT_EQ(shown("<<: [{a: 1}, {a: 2, b: 3}]\n"), "{\"a\":1,\"b\":3}");
  EXPECT_EQ(shown("'<<': 1\n"), "{\"<<\":1}");
  EXPECT_EQ(shown("<<: {}\n<<: {}\n"), "f:2: duplicate key \"<<\"");
  EXPECT_EQ(shown("a: 1\n<<: 5\n"), "f:2: the merge key << takes an object or a list of objects, not a number");
}

TEST(ReadDocuments, AliasesMayNotExpandWithoutBound) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    laughs += repeated("*a" + std::to_string(i - 1) + ", ", 10) + "]\n";
  }
  EXPECT_EQ(shown(laughs), "f:6: aliases expand to more than 1000000 values");

  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 200; ++i) {
    deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_EQ(shown(deep), "f:128: nested deeper than 128 levels");
}

TEST(ReadDocuments, DuplicateKeysAreErrorsWithTheLineOfTheSecond) {
  EXPECT_EQ(shown("a: 1\nb: 2\na:\n  c: 3\n"), "f:3: duplicate key \"a\"");
  EXPECT_EQ(shown("{\"a\": 1,\n\"b\": {\"c\": 1,\n\"c\":\n2}}"), "f:3: duplicate key \"c\"");
  EXPECT_EQ(shown("{\"a\": 1,\n\"\\u0061\": 1}"), "f:2: duplicate key \"a\"");
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) {
    many += "\"k" + std::to_string(i) + "\": 1,\n";
  }
  EXPECT_EQ(shown(many + "\"k7\": 1,\n\"k5\": 1}"), "f:1001: duplicate key \"k7\"");
  EXPECT_EQ(shown(many + "\"k\": 1}").find("duplicate"), std::string::npos);
}

TEST(ReadDocuments, NestsAsDeepAsAllowedAndNoDeeper) {
  EXPECT_EQ(shown(repeated("[", 128) + repeated("]", 128)), repeated("[", 128) + repeated("]", 128));
  EXPECT_EQ(shown(repeated("[", 129) + repeated("]", 129)), "f:1: nested deeper than 128 levels");
  EXPECT_EQ(shown(repeated("- ", 128) + "x"), repeated("[", 128) + "\"x\"" + repeated("]", 128));
  EXPECT_EQ(shown(repeated("- ", 129) + "x"), "f:1: nested deeper than 128 levels");
  EXPECT_EQ(shown(repeated("[", 1'000'000)), "f:1: nested deeper than 128 levels");
  EXPECT_EQ(shown(repeated("{\"a\":\n", 100'000)), "f:129: nested deeper than 128 levels");
  EXPECT_EQ(shown(repeated("- ", 1'000'000)), "f:1: nested deeper than 128 levels");
}

TEST(ReadDocuments, MalformedYamlIsToldWithItsLine) {
  EXPECT_EQ(shown("a: 1\nb: c: d\n"), "f:2: mapping values are not allowed here");
  EXPECT_EQ(shown("a:\n  - x\n - y\n"),
            "f:3: did not find expected key while parsing a block mapping that starts on line 1");
  EXPECT_EQ(shown("a: 1\n---\nb: \"x\ny\n"),
            "f:4: found unexpected end of stream while scanning a quoted scalar that starts on line 3");
  EXPECT_EQ(shown("a: 1\nfoo\nb: 2\n"), "f:2: expected \":\" after a key");
  EXPECT_EQ(shown("a:\n\tb: 1\n"), "f:2: a tab is used for indentation; YAML takes only spaces");
  EXPECT_EQ(shown("a: @b\n"), "f:1: a value cannot start with @; put it in quotes");
  EXPECT_EQ(shown("{\"a\": 1}\n---\n{\"a\": [1,\n2}\n"),
            "f:4: did not find expected ',' or ']' while parsing a flow sequence that starts on line 3");
  EXPECT_EQ(shown("{\"a\": 1}\nb: 2\n"), "f:2: expected \"---\" or the end of the file after a JSON document");
  EXPECT_EQ(shown("{a: 1}\n{a: 1}\n"), "f:2: expected \"---\" before another document");
  EXPECT_EQ(shown("{\"a\": 1,\n\"b\": 2"),
            "f:2: did not find expected ',' or '}' while parsing a flow mapping that starts on line 1");
}

TEST(ReadDocuments, WhatOpensLikeJsonMustBeStrictJson) {
  EXPECT_EQ(shown("{\"a\": 1,\n\"b\": tru}"), "f:2: malformed JSON: unexpected tru");
  EXPECT_EQ(shown("{\"a\":\n01}"), "f:2: malformed JSON: unexpected 01");
  EXPECT_EQ(shown("{\"a\": 1,\n}"), "f:2: malformed JSON: unexpected }");
  EXPECT_EQ(shown("{\"a\": [1,\n]}"), "f:2: malformed JSON: unexpected ]");
  EXPECT_EQ(shown("{\"a\": 1,\n b: 2}"), "f:2: malformed JSON: unexpected b");
  EXPECT_EQ(shown("{\"a\": \"x\",\n \"b\": \"y\nz\"}"), "f:2: malformed JSON: a line break or tab within a string");
  EXPECT_EQ(shown("{\"a\": 1}\n{\"b\":\n2,}\n"), "f:3: malformed JSON: unexpected }");
  EXPECT_EQ(shown("{\"a\": 1, # why\n\"b\": 2}"), "f:1: malformed JSON: unexpected #");
}

TEST(ReadDocuments, OtherFlowStyleIsYaml) {
  EXPECT_EQ(shown("{a: 1, # why\n b: [x, 'y',],}\n"), "{\"a\":1,\"b\":[\"x\",\"y\"]}");
  EXPECT_EQ(shown("[1, 2, three,]\n---\n{'a': 01}"), "[1,2,\"three\"] {\"a\":1}");
}

TEST(ReadDocuments, BytesThatAreNoTextAreErrors) {
  EXPECT_EQ(shown(std::string("a: 1\nb: \0x\n", 11)), "f:2: a NUL byte is not allowed");
  EXPECT_EQ(shown("a: 1\nb: \xFF\n"), "f:2: the text is not valid UTF-8");
  EXPECT_EQ(shown("{\"a\":\n\"\xED\xA0\x80\"}"), "f:2: the text is not valid UTF-8") << "a surrogate";
  EXPECT_EQ(shown("a: 1\n\xC3"), "f:2: the text is not valid UTF-8") << "cut off";
  EXPECT_EQ(shown(repeated("a:\n- b\n", 1) + "- \x01\n"), "f:3: the character U+0001 is not allowed");
  EXPECT_EQ(shown("{\"a\": \"\x02\"}"), "f:1: the character U+0002 is not allowed");
}

TEST(ReadDocuments, ManyDirectivesAreRefusedRatherThanComparedForEver) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "%TAG !a" + std::to_string(i) + "! b\n";
  }
  EXPECT_EQ(shown(text + "---\na: 1\n"), "f:65: more than 64 %TAG directives");
  EXPECT_EQ(shown(repeated("%TAG ! b\r", 100)), "f:1: more than 64 %TAG directives");
}

TEST(ReadDocuments, ConcatenatedJsonTakesLinearTime) {
  EXPECT_EQ(shown(repeated("{\"a\":[1]}", 3)), "{\"a\":[1]} {\"a\":[1]} {\"a\":[1]}");
  const auto documents = read_documents("f", repeated("{\"a\": \"}\\\"\"}\n", 200'000));
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_EQ(documents->size(), 200'000U);
  EXPECT_EQ(documents->back().root().line(), 200'000);
}

}  // namespace
}  // namespace gantree::json
