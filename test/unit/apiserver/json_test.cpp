#include "apiserver/json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/json_twice.h"

namespace gantree::apiserver {
namespace {

std::string again(std::string_view text) {
  const auto value = parse_json(text);
  return value ? to_json(*value) : value.error().message;
}

TEST(Json, ReadsAndWritesNumbersInTheFewestDigits) {
  EXPECT_EQ(again("[1, -1, 18446744073709551615, 9223372036854775807, 0.1, 1.0, 1e22, 0.30000000000000004]"),
            "[1,-1,18446744073709551615,9223372036854775807,0.1,1,1e+22,0.30000000000000004]");
}

TEST(Json, KeepsTheOrderOfMembersAndEscapesWhatItMust) {
  EXPECT_EQ(again(R"({"b":"x\ny\"\\\u0001ü","a":[null,true,false,{}]})"),
            "{\"b\":\"x\\ny\\\"\\\\\\u0001\u00fc\",\"a\":[null,true,false,{}]}");
}

TEST(Json, RefusesAKeyThatIsThereTwice) {
  EXPECT_NE(again(R"({"a":1,"b":{"c":1,"c":2}})").find("\"c\" is there twice"), std::string::npos);
}

TEST(Json, TellsWhichKeysAreThereTwiceWhereTheLastMayCount) {
  std::vector<std::string> twice;
  const auto value = parse_json(R"({"a":1,"b":[{"c":1},{"c":1,"c":2}],"a":3})", twice);
  ASSERT_TRUE(value);
  EXPECT_EQ(to_json(*value), R"({"a":3,"b":[{"c":1},{"c":2}]})");
  EXPECT_EQ(twice, (std::vector<std::string>{"b[1].c", "a"}));
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1} x", "nul", "\"\xff\"", "1e999"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(Json, TakesDeepNestingToItsLimitAndNoFurther) {
  const std::string deep(kMaxDepth - 1, '[');
  EXPECT_TRUE(parse_json(deep + std::string(kMaxDepth - 1, ']')));
  EXPECT_FALSE(parse_json(std::string(100'000, '[')));
}

TEST(Json, FindsWhatLiesAtTheEndOfThePath) {
  const Value value = *parse_json(R"({"a":{"b":"x","c":[1]}})");
  EXPECT_EQ(text_at(value, {"a", "b"}), "x");
  EXPECT_EQ(text_at(value, {"a", "c"}), "");
  EXPECT_EQ(find(value, {"a", "b", "c"}), nullptr);
  EXPECT_EQ(array_at(value, {"a", "c"})->size(), 1U);
}

TEST(Json, ComparesWithoutRegardToTheOrderOfMembers) {
  EXPECT_TRUE(same(*parse_json(R"({"a":1,"b":[2.0]})"), *parse_json(R"({"b":[2],"a":1})")));
  EXPECT_FALSE(same(*parse_json("[1,2]"), *parse_json("[2,1]")));
}

TEST(Json, IsReadInPartsWhereTheRestIsNotWanted) {
  const auto read = [](std::string_view text) {
    const auto value = parse_json_parts(text, [](std::string_view outer, std::string_view key) {
      return outer.empty() ? key == "a" || key == "b" : key != "no";
    });
    return value ? to_json(*value) : value.error().message;
  };
  EXPECT_EQ(
      read(
          R"({"x":{"y":[1,{"z":2}]},"a":{"no":[[],{}],"k":{"no":1}},"y":1.5,"b":[{"no":"n"}],"z":[],"w":"\n","v":null})"),
      R"({"a":{"k":{"no":1}},"b":[{"no":"n"}]})");
  EXPECT_EQ(read(R"({"x":{}})"), "{}");
  EXPECT_NE(read(R"({"x":{]})").find("cannot be read"), std::string::npos);
}

TEST(Json, IsWrittenAsUtf8WhateverTheText) {
  EXPECT_EQ(to_json(Value("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")), "\"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  for (const std::string bad :
       {"\xAD", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xE2\x82"}) {
    const std::string text = to_json(Value("x" + bad + "y"));
    EXPECT_TRUE(parse_json(text)) << text;
    EXPECT_TRUE(text.starts_with("\"x\\ufffd") && text.ends_with("y\"")) << text;
  }
}

}  // namespace
}  // namespace gantree::apiserver
