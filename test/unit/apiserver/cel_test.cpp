#include "apiserver/cel.h"

#include <gtest/gtest.h>

#include <chrono>

#include "apiserver/schema.h"

namespace gantree::apiserver {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

std::string result(std::string_view rule, std::string_view self, std::string_view old_self = "null") {
  const auto program = CelProgram::compile(rule);
  if (!program) {
    return "no program: " + program.error().message;
  }
  const Value old_value = json(old_self);
  const auto value = (*program)->evaluate(json(self), &old_value);
  return value ? to_json(*value) : "error: " + value.error().message;
}

TEST(Cel, ReadsFieldsAndComparesThem) {
  EXPECT_EQ(result("self.a == 1 && self.b.c != 'x'", R"({"a":1,"b":{"c":"y"}})"), "true");
  EXPECT_EQ(result("has(self.a) != has(self.b)", R"({"a":1})"), "true");
  EXPECT_EQ(result("self.min <= self.max", R"({"min":3,"max":2})"), "false");
  EXPECT_EQ(result("self.x", "{}"), "error: no such key: x");
  EXPECT_EQ(result("self['a.b'] == \"c\"", R"({"a.b":"c"})"), "true");
  EXPECT_EQ(result("self.a__dash__b", R"({"a-b":7})"), "7");
}

TEST(Cel, OneSideOfALogicalOperatorMayDecideAlone) {
  EXPECT_EQ(result("!has(self.x) || self.x > 1", "{}"), "true");
  EXPECT_EQ(result("self.x > 1 || true", "{}"), "true");
  EXPECT_EQ(result("self.x > 1 && false", "{}"), "false");
  EXPECT_EQ(result("self.x > 1 && true", "{}"), "error: no such key: x");
}

TEST(Cel, WorksOnListsAndMaps) {
  constexpr std::string_view kLevels = R"([{"n":"a"},{"n":"b"},{"n":"host"}])";
  EXPECT_EQ(result("self.all(l, l.n != 'host' || l == self[size(self) - 1])", kLevels), "true");
  EXPECT_EQ(result("self.all(a, self.exists_one(b, b.n == a.n))", kLevels), "true");
  EXPECT_EQ(result("self.filter(l, l.n < 'c').map(l, l.n)", kLevels), R"(["a","b"])");
  EXPECT_EQ(result("self.map(l, l.n).join('/')", kLevels), R"("a/b/host")");
  EXPECT_EQ(result("'k' in self && self.all(key, key.startsWith('k'))", R"({"k":1,"kk":2})"), "true");
  EXPECT_EQ(result("self in ['x', 'y'] ? 'yes' : 'no'", R"("x")"), R"("yes")");
  EXPECT_EQ(result("[self, oldSelf].all(l, l[size(l) - 1] == 2)", "[1,2]", "[2]"), "true");
  EXPECT_EQ(result("{'a': 1, 'b': [1 + 2 * 3, -7 / 2, 7 % 4]}", "null"), R"({"a":1,"b":[7,-3,3]})");
}

TEST(Cel, KnowsTheUsualFunctionsOfText) {
  EXPECT_EQ(
      result("self.matches('^[a-z]+$') && self.size() == 3 && !self.contains('x') && self.endsWith('c')", R"("abc")"),
      "true");
  EXPECT_EQ(result("self.split('.').size() == 2 && int('4') + 1 == 5 && string(1) == '1'", R"("a.b")"), "true");
}

TEST(Cel, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(result("self.a.", "{}").substr(0, 10), "no program");
  EXPECT_EQ(result("authorizer(self)", "{}").substr(0, 10), "no program");
  EXPECT_EQ(result("size(self, self)", "{}").substr(0, 10), "no program");
  EXPECT_EQ(result("self == 'x", "{}").substr(0, 10), "no program");
  EXPECT_EQ(result(std::string(5000, '('), "{}").substr(0, 10), "no program");
  std::string chain = "1";
  for (int i = 0; i < 20000; ++i) {
    chain += "+1";
  }
  EXPECT_EQ(result(chain, "{}").substr(0, 10), "no program");
  for (const char sign : {'!', '-'}) {
    EXPECT_EQ(result(std::string(3'000'000, sign) + "1", "{}").substr(0, 10), "no program");
    EXPECT_EQ(result(std::string(50'000, sign) + "1", "{}").substr(0, 10), "no program");
  }
}

TEST(Cel, EndlessRulesEnd) {
  Array many;
  for (int i = 0; i < 3000; ++i) {
    many.push_back(Value(i));
  }
  EXPECT_EQ(result("self.all(a, self.all(b, a + b >= 0))", to_json(Value(many))), "error: the rule takes too long");
}

// Few steps can make much.
TEST(Cel, RulesThatWouldMakeMoreThanFitsInMemoryEnd) {
  const std::string self = to_json(Object{{"text", std::string(1'000'000, 'a')}, {"list", Array(30'000)}});
  for (const std::string_view rule :
       {"self.list.map(x, self.text + self.text).size() > 0", "self.list.map(x, self.list).size() > 0",
        "self.list.all(x, [self.text, self.text].size() > 0)", "self.list.all(x, self.list == self.list)",
        "self.list.all(x, !(x in self.list) || {'a': self.list}.size() > 0)",
        "self.list.map(x, 'b').join(self.text) != ''", "self.list.all(x, self.text.contains(self.text))",
        "self.list.all(x, string(self.list) != '')", "self.list.all(x, self.text.split('a').size() > 0)",
        "self.list.exists(x, self[self.text] == 1)", "self.list.all(x, self.text.replace('a', self.text) != '')",
        "self.list.all(x, self.text.findAll('a').size() > 0)", "self.list.all(x, self.?list.hasValue())",
        "self.list.all(x, sets.contains(self.list, self.list))", "self.list.all(x, self.text.indexOf(self.text) == 0)",
        "self.list.all(x, '%s%s'.format([self.text, self.text]) != '')",
        "self.list.all(x, self.text.matches('a*b') || true)"}) {
    EXPECT_EQ(result(rule, self), "error: the rule takes too long") << rule;
  }
  EXPECT_EQ(result("self.list.all(x, size(self.list) == 30000 && self.text != 'a')", self), "true");
}

TEST(Cel, AllRulesOnAnObjectTogetherEnd) {
  SchemaSet set(SchemaSet::Dialect::kCustom);
  const auto root = define_custom(set, json(R"~({"type":"object","properties":{"list":{"type":"array","items":
    {"type":"array","items":{"type":"integer"},"x-kubernetes-validations":[{"rule":"self.all(a, self.all(b, a + b >= 0))"}]}}}})~"),
                                  nullptr);
  ASSERT_TRUE(root.has_value());
  // One of them is cheap enough.
  const Array some(300, Value(1));
  EXPECT_TRUE(validate_object(**root, Object{{"list", Array{Value(some)}}}, nullptr).empty());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(validate_object(**root, Object{{"list", Array(1'000, Value(some))}}, nullptr).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Cel, RulesOfASchemaAreCheckedWithTheirMessages) {
  SchemaSet set(SchemaSet::Dialect::kCustom);
  const auto root = define_custom(set, json(R"~({"type":"object","properties":{"spec":{"type":"object",
    "x-kubernetes-validations":[{"rule":"self.min <= self.max","message":"min is above max"},{"rule":"self.name == oldSelf.name","fieldPath":".name","reason":"FieldValueForbidden","message":"stays"}],
    "properties":{"min":{"type":"integer"},"max":{"type":"integer"},"name":{"type":"string","x-kubernetes-validations":[{"rule":"self != 'bad'"}]},
      "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"integer"}},
        "x-kubernetes-validations":[{"rule":"self.v >= oldSelf.v","messageExpression":"'no less than ' + string(oldSelf.v)"}]}}}}}})~"),
                                  nullptr);
  ASSERT_TRUE(root.has_value());
  const auto check = [&](std::string_view text, const char* old = nullptr) {
    const Value before = old == nullptr ? Value() : json(old);
    std::string all;
    for (const FieldError& error : validate_object(**root, json(text), old == nullptr ? nullptr : &before)) {
      all += (all.empty() ? "" : "; ") + to_text(error);
    }
    return all;
  };
  EXPECT_EQ(check(R"({"spec":{"min":1,"max":2,"name":"a"}})"), "");
  EXPECT_EQ(check(R"({"spec":{"min":3,"max":2,"name":"bad"}})"),
            "spec: Invalid value: min is above max; spec.name: Invalid value: \"bad\": failed rule: self != 'bad'");
  EXPECT_EQ(check(R"({"spec":{"min":1,"max":2,"name":"b"}})", R"({"spec":{"min":1,"max":2,"name":"a"}})"),
            "spec.name: Forbidden: stays");
  EXPECT_EQ(check(R"({"spec":{"min":1,"max":2,"name":"a","parts":[{"k":"y","v":1},{"k":"x","v":1}]}})",
                  R"({"spec":{"min":1,"max":2,"name":"a","parts":[{"k":"x","v":5}]}})"),
            "spec.parts[1]: Invalid value: no less than 5");
}

TEST(Cel, ARuleMayAskWhetherThereWasSomethingBefore) {
  SchemaSet set(SchemaSet::Dialect::kCustom);
  const auto root =
      define_custom(set, json(R"~({"type":"object","properties":{"size":{"type":"integer","x-kubernetes-validations":
    [{"rule":"self >= oldSelf.orValue(1)","optionalOldSelf":true,"message":"it may only grow"}]}}})~"),
                    nullptr);
  ASSERT_TRUE(root.has_value());
  const Value before = json(R"({"size":3})");
  EXPECT_TRUE(validate_object(**root, json(R"({"size":1})"), nullptr).empty());
  EXPECT_FALSE(validate_object(**root, json(R"({"size":0})"), nullptr).empty());
  EXPECT_FALSE(validate_object(**root, json(R"({"size":2})"), &before).empty());
}

}  // namespace
}  // namespace gantree::apiserver
