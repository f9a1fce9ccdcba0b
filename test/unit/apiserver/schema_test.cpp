#include "apiserver/schema.h"

#include <gtest/gtest.h>

#include "apiserver/canonical.h"
#include "apiserver/pattern.h"

namespace gantree::apiserver {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

// The schema of one custom kind, and what it says.
struct Custom {
  explicit Custom(std::string_view text) {
    auto read = define_custom(set, json(text), nullptr);
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
    root = read ? *read : nullptr;
  }
  [[nodiscard]] std::string complaints(std::string_view object) const {
    std::string all;
    for (const FieldError& error : validate(*root, json(object))) {
      all += (all.empty() ? "" : "; ") + to_text(error);
    }
    return all;
  }
  SchemaSet set{SchemaSet::Dialect::kCustom};
  const Schema* root = nullptr;
};

constexpr std::string_view kQueue =
    R"({"type":"object","properties":{"spec":{"type":"object","required":["name"],"properties":{
  "name":{"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":5},
  "weight":{"type":"integer","minimum":1,"maximum":10},
  "policy":{"type":"string","enum":["Fair","Strict"],"default":"Fair"},
  "cpu":{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true},
  "since":{"type":"string","format":"date-time"},
  "note":{"type":"string","nullable":true},
  "tags":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set","maxItems":3},
  "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
           "items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"count":{"type":"integer","default":1}}}},
  "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
  "labels":{"type":"object","additionalProperties":{"type":"string"}}}}}})";

TEST(Schema, SaysWhatIsMissingAndWhatIsOfTheWrongType) {
  const Custom queue(kQueue);
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","weight":3,"cpu":"1","note":null}})"), "");
  EXPECT_EQ(queue.complaints(R"({"spec":{}})"), "spec.name: Required value");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","weight":"3"}})"),
            "spec.weight: Invalid value: \"string\": spec.weight in body must be of type integer: \"string\"");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","labels":{"a":1}}})"),
            "spec.labels.a: Invalid value: \"integer\": spec.labels.a in body must be of type string: \"integer\"");
}

TEST(Schema, ChecksLimitsInTheWordsOfKubernetes) {
  const Custom queue(kQueue);
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"Ab"}})"),
            "spec.name: Invalid value: \"Ab\": spec.name in body should match '^[a-z]+$'");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abcdef"}})"), "spec.name: Too long: may not be more than 5 bytes");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","weight":11}})"),
            "spec.weight: Invalid value: 11: spec.weight in body should be less than or equal to 10");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","policy":"None"}})"),
            "spec.policy: Unsupported value: \"None\": supported values: \"Fair\", \"Strict\"");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","since":"today"}})"),
            "spec.since: Invalid value: \"today\": spec.since in body must be of type date-time: \"today\"");
}

TEST(Schema, WantsItemsOfSetsAndMapListsToDiffer) {
  const Custom queue(kQueue);
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","tags":["a","b","a"]}})"),
            "spec.tags[2]: Duplicate value: \"a\"");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","parts":[{"name":"x"},{"name":"x","count":2}]}})"),
            "spec.parts[1]: Duplicate value: {\"name\":\"x\"}");
  EXPECT_EQ(queue.complaints(R"({"spec":{"name":"abc","tags":["a","b","c","d"]}})"),
            "spec.tags: Too many: 4: must have at most 3 items");
}

TEST(Schema, FillsInDefaultsWhereTheParentIsThere) {
  const Custom queue(kQueue);
  Value value = json(R"({"spec":{"name":"abc","policy":null,"weight":null,"note":null,"parts":[{"name":"x"}]}})");
  set_defaults(*queue.root, value);
  EXPECT_EQ(to_json(value), R"({"spec":{"name":"abc","policy":"Fair","note":null,"parts":[{"name":"x","count":1}]}})");
  Value empty = json("{}");
  set_defaults(*queue.root, empty);
  EXPECT_EQ(to_json(empty), "{}");
}

TEST(Schema, PrunesWhatItDoesNotKnowAndSaysWhere) {
  const Custom queue(kQueue);
  Value value =
      json(R"({"apiVersion":"a/v1","spec":{"name":"abc","x":1,"free":{"y":2},"parts":[{"name":"a","z":3}]}})");
  const std::vector<std::string> unknown = prune(*queue.root, value);
  EXPECT_EQ(unknown, (std::vector<std::string>{"spec.parts[0].z", "spec.x", "apiVersion"}));
  EXPECT_EQ(to_json(value), R"({"spec":{"name":"abc","free":{"y":2},"parts":[{"name":"a"}]}})");
}

TEST(Schema, KnowsTheMetadataOfCustomAndEmbeddedObjects) {
  SchemaSet base(SchemaSet::Dialect::kBuiltIn);
  const auto meta = base.define("Meta", json(R"({"type":"object","properties":{"name":{"type":"string"}}})"));
  SchemaSet set(SchemaSet::Dialect::kCustom);
  const auto root = define_custom(
      set, json(R"({"type":"object","properties":{"t":{"type":"object","x-kubernetes-embedded-resource":true}}})"),
      *meta);
  Value value =
      json(R"({"kind":"A","metadata":{"name":"a","x":1},"t":{"kind":"B","metadata":{"name":"b"},"spec":{}}})");
  EXPECT_EQ(prune(**root, value), (std::vector<std::string>{"metadata.x", "t.spec"}));
  EXPECT_EQ(to_json(value), R"({"kind":"A","metadata":{"name":"a"},"t":{"kind":"B","metadata":{"name":"b"}}})");
}

TEST(Schema, RefusesPatternsThatCannotBeRead) {
  SchemaSet set(SchemaSet::Dialect::kCustom);
  EXPECT_FALSE(
      define_custom(set, json(R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})"), nullptr)
          .has_value());
}

TEST(Schema, TakesNoForeverForHardPatterns) {
  const Custom hard(R"({"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}})");
  EXPECT_NE(hard.complaints("{\"a\":\"" + std::string(200, 'a') + "b\"}"), "");
  // Nor where text and pattern are both long.
  std::string pattern = "^";
  for (int i = 0; i < 500; ++i) {
    pattern += "(a|aa)*";
  }
  const Custom harder(R"({"type":"object","properties":{"a":{"type":"string","pattern":")" + pattern + R"($"}}})");
  EXPECT_NE(harder.complaints("{\"a\":\"" + std::string(20'000, 'a') + "b\"}"), "");
}

TEST(Schema, MatchesPatternsAsGoDoes) {
  const auto matches = [](std::string_view pattern, std::string_view text) {
    const auto compiled = Pattern::compile(pattern);
    return compiled && (*compiled)->matches(text);
  };
  EXPECT_TRUE(matches("b", "abc")) << "anywhere";
  EXPECT_FALSE(matches("^a$", "a\n")) << "the end is the end of the text";
  EXPECT_FALSE(matches("^b$", "a\nb")) << "and the beginning its beginning";
  EXPECT_TRUE(matches("^\\p{L}+$", "\xc3\xa4"));
  EXPECT_FALSE(Pattern::compile("(?=a)b")) << "Go looks neither ahead";
  EXPECT_FALSE(Pattern::compile("(a)\\1")) << "nor back";
  EXPECT_FALSE(Pattern::compile("a{1001}"));
}

TEST(Schema, CannotContainItself) {
  for (const std::string_view part :
       {R"("anyOf":[{"$ref":"#/definitions/v1"}])", R"("allOf":[{"$ref":"#/definitions/v1"}])",
        R"("not":{"$ref":"v1"})", R"("properties":{"a":{"default":{},"$ref":"v1"}})", R"("$ref":"v1")"}) {
    SchemaSet set(SchemaSet::Dialect::kCustom);
    const auto root = define_custom(set, json("{\"type\":\"object\"," + std::string(part) + "}"), nullptr, "v1");
    EXPECT_FALSE(root.has_value()) << part;
  }
}

TEST(Schema, TakesManyUnknownFieldsOutInShortTime) {
  const Custom queue(kQueue);
  Object many;
  for (int i = 0; i < 200'000; ++i) {
    many["x" + std::to_string(i)] = nullptr;
  }
  Value value(Object{{"spec", many}});
  EXPECT_EQ(prune(*queue.root, value).size(), 100U) << "and tells of some of them";
  EXPECT_EQ(to_json(value), R"({"spec":{}})");
}

TEST(Schema, SaysWhatCannotBeDecodedEvenWhereNothingHasAName) {
  const Custom queue(kQueue);
  EXPECT_EQ(decode_error(*queue.root, json(R"({"spec":{"name":5}})")),
            "json: cannot unmarshal number into Go struct field .spec.name of type string");
}

TEST(Canonical, WritesQuantitiesAsKubernetesDoes) {
  const auto text = [](std::string_view quantity) {
    const auto amount = parse_amount(quantity);
    return amount ? to_text(*amount) : std::string("none");
  };
  EXPECT_EQ(text("1000m"), "1");
  EXPECT_EQ(text("0.5"), "500m");
  EXPECT_EQ(text("1024Mi"), "1Gi");
  EXPECT_EQ(text("1.5Gi"), "1536Mi");
  EXPECT_EQ(text("1000"), "1k");
  EXPECT_EQ(text("0"), "0");
  EXPECT_EQ(text("0Gi"), "0");
  EXPECT_EQ(text("512"), "512");
  EXPECT_EQ(text("-1.5"), "-1500m");
  EXPECT_EQ(text("1e3"), "1e3");
  EXPECT_EQ(text("12E"), "9223372036854775807");
  EXPECT_EQ(text("0.1m"), "100u");
  EXPECT_EQ(text("100Gi"), "100Gi");
  EXPECT_EQ(text("."), "none");
  EXPECT_EQ(text("1x"), "none");
  EXPECT_EQ(text(""), "none");
}

}  // namespace
}  // namespace gantree::apiserver
