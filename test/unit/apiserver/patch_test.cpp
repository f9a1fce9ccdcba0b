#include "apiserver/patch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gantree::apiserver {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

std::string patched(std::string_view document, std::string_view patch) {
  Value value = json(document);
  const auto done = json_patch(value, json(patch));
  return done ? to_json(value) : "! " + done.error().message;
}

TEST(JsonPatch, AddsRemovesReplacesMovesAndCopies) {
  EXPECT_EQ(patched(R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])"), R"({"a":[1,2,3]})");
  EXPECT_EQ(patched(R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])"), R"({"a":[1,2]})");
  EXPECT_EQ(patched(R"({"a":{"b/c":1}})", R"([{"op":"remove","path":"/a/b~1c"}])"), R"({"a":{}})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])"), R"({"a":null})");
  EXPECT_EQ(patched(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])"), R"({"a":{},"c":1})");
  EXPECT_EQ(patched(R"({"a":[1,2]})", R"([{"op":"copy","from":"/a/0","path":"/a/-"}])"), R"({"a":[1,2,1]})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])"), R"({"a":1})");
}

TEST(JsonPatch, AddsTheMemberThatItIsToReplaceButNoEntry) {
  EXPECT_EQ(patched(R"({"a":{}})", R"([{"op":"replace","path":"/a/b","value":1}])"), R"({"a":{"b":1}})");
  Value value = json(R"({"a":[1]})");
  EXPECT_EQ(json_patch(value, json(R"([{"op":"replace","path":"/a/1","value":1}])")).error().code, Errc::kNotFound);
  EXPECT_EQ(json_patch(value, json(R"([{"op":"replace","path":"/b/c","value":1}])")).error().code, Errc::kNotFound);
}

TEST(JsonPatch, ChangesNothingWhereOneOperationFails) {
  Value value = json(R"({"a":1})");
  const auto done =
      json_patch(value, json(R"([{"op":"add","path":"/b","value":2},{"op":"test","path":"/a","value":2}])"));
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, Errc::kNotFound);
  EXPECT_EQ(done.error().message, "testing value /a failed: test failed");
  EXPECT_EQ(to_json(value), R"({"a":1})");
}

TEST(JsonPatch, TellsMalformedPatchesFromThoseThatDoNotFit) {
  Value value = json(R"({"a":[1]})");
  EXPECT_EQ(json_patch(value, json("{}")).error().code, Errc::kInvalid);
  EXPECT_EQ(json_patch(value, json(R"([{"op":"jump","path":"/a"}])")).error().code, Errc::kNotFound);
  EXPECT_EQ(json_patch(value, json(R"([{"op":"remove","path":"/b"}])")).error().code, Errc::kNotFound);
  EXPECT_EQ(json_patch(value, json(R"([{"op":"remove","path":"/a/1"}])")).error().code, Errc::kNotFound);
  EXPECT_EQ(json_patch(value, json(R"([{"op":"add","path":"/a/01","value":1}])")).error().code, Errc::kNotFound);
  EXPECT_EQ(json_patch(value, json(R"([{"op":"move","from":"/a","path":"/a/0"}])")).error().code, Errc::kInvalid);
}

TEST(MergePatch, MergesObjectsAndReplacesTheRest) {
  Value value = json(R"({"a":{"b":1,"c":2},"d":[1,2]})");
  merge_patch(value, json(R"({"a":{"b":null,"e":{"f":null,"g":1}},"d":[3]})"));
  EXPECT_EQ(to_json(value), R"({"a":{"c":2,"e":{"g":1}},"d":[3]})");
}

Value arbitrary(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 6 : 4);
  switch (kind) {
    case 0:
      return *rc::gen::inRange(-5, 5);
    case 1:
      return Value(*rc::gen::element(std::string(), std::string("x"), std::string("y")));
    case 2:
      return *rc::gen::arbitrary<bool>();
    case 3:
      return 0.5;
    case 4: {
      Array array;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        array.push_back(arbitrary(depth - 1));
      }
      return array;
    }
    default: {
      Object object;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        object[*rc::gen::element(std::string("a"), std::string("b"), std::string("c"))] = arbitrary(depth - 1);
      }
      return object;
    }
  }
}

RC_GTEST_PROP(MergePatch, OfADifferenceGivesTheOther, ()) {
  Value from = arbitrary(4);
  const Value to = arbitrary(4);
  merge_patch(from, merge_diff(from, to));
  RC_ASSERT(same(from, to));
}

RC_GTEST_PROP(MergePatch, TwiceIsAsOnce, ()) {
  Value once = arbitrary(4);
  const Value patch = arbitrary(4);
  merge_patch(once, patch);
  Value twice = once;
  merge_patch(twice, patch);
  RC_ASSERT(same(once, twice));
}

// Patches of all kinds come from anybody and are applied on the thread that serves everybody: none of them may take
// time that grows with the square of its size. Those that follow took minutes each.
std::string numbered(std::string_view before, int count, std::string_view after) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + std::string(before) + std::to_string(i) + std::string(after);
  }
  return text;
}

TEST(MergePatch, TakesManyFieldsAwayInShortTime) {
  Value value = json("{" + numbered("\"a", 200'000, "\":0") + ",\"b\":1}");
  merge_patch(value, json("{" + numbered("\"a", 200'000, "\":null") + "}"));
  EXPECT_EQ(to_json(value), R"({"b":1})");
}

TEST(JsonPatch, CannotBeMadeToMoveTheWorld) {
  const std::string list = "{\"a\":[" + numbered("", 500'000, "") + "]}";
  std::string moves;
  std::string inserts;
  for (int i = 0; i < 5'000; ++i) {
    moves += (i > 0 ? "," : "") + std::string(i % 2 == 0 ? R"({"op":"move","from":"/a","path":"/b"})"
                                                         : R"({"op":"move","from":"/b","path":"/a"})");
    inserts += (i > 0 ? "," : "") + std::string(R"({"op":"add","path":"/a/0","value":1})");
  }
  Value value = json(list);
  EXPECT_TRUE(json_patch(value, json("[" + moves + "]")));
  EXPECT_EQ(json_patch(value, json("[" + inserts + "]")).error().code, Errc::kLimit);
}

class StrategicPatch : public testing::Test {
 protected:
  StrategicPatch() {
    const auto container = set_.define("Container", json(R"({"type":"object","properties":{"name":{"type":"string"},
      "image":{"type":"string"},"args":{"type":"array","items":{"type":"string"}}}})"));
    const auto spec = set_.define("Spec", json(R"({"type":"object","properties":{
      "containers":{"type":"array","items":{"$ref":"#/definitions/Container"},"x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"},
      "finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge"},
      "strategy":{"type":"object","x-kubernetes-patch-strategy":"retainKeys","properties":{"type":{"type":"string"}}},
      "labels":{"type":"object","additionalProperties":{"type":"string"}}}})"));
    EXPECT_TRUE(container.has_value());
    schema_ = *spec;
  }
  std::string merged(std::string_view document, std::string_view patch) {
    Value value = json(document);
    const auto done = strategic_merge_patch(value, json(patch), *schema_);
    return done ? to_json(value) : "! " + done.error().message;
  }
  SchemaSet set_{SchemaSet::Dialect::kBuiltIn};
  const Schema* schema_ = nullptr;
};

TEST_F(StrategicPatch, MergesKeyedListsItemByItem) {
  EXPECT_EQ(merged(R"({"containers":[{"name":"a","image":"x"},{"name":"b"}]})",
                   R"({"containers":[{"name":"a","image":"y","args":["1"]},{"name":"c"}]})"),
            R"({"containers":[{"name":"a","image":"y","args":["1"]},{"name":"c"},{"name":"b"}]})");
  EXPECT_EQ(
      merged(R"({"containers":[{"name":"a"},{"name":"b"}]})", R"({"containers":[{"name":"a","$patch":"delete"}]})"),
      R"({"containers":[{"name":"b"}]})");
  EXPECT_EQ(
      merged(R"({"containers":[{"name":"a"},{"name":"b"}]})", R"({"containers":[{"$patch":"replace"},{"name":"c"}]})"),
      R"({"containers":[{"name":"c"}]})");
  EXPECT_EQ(merged(R"({"containers":[{"name":"a"}]})", R"({"containers":[{"image":"x"}]})"),
            R"(! map: {"image":"x"} does not contain declared merge key: name)");
}

TEST_F(StrategicPatch, FollowsItsDirectives) {
  EXPECT_EQ(
      merged(R"({"finalizers":["a","b"]})", R"({"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c","b"]})"),
      R"({"finalizers":["c","b"]})");
  EXPECT_EQ(
      merged(R"({"containers":[{"name":"a"},{"name":"b"},{"name":"z"}]})",
             R"({"$setElementOrder/containers":[{"name":"n"},{"name":"b"},{"name":"a"}],"containers":[{"name":"n"}]})"),
      R"({"containers":[{"name":"n"},{"name":"b"},{"name":"a"},{"name":"z"}]})");
  EXPECT_EQ(merged(R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{"a":1}}})",
                   R"({"strategy":{"$retainKeys":["type"],"type":"Recreate"}})"),
            R"({"strategy":{"type":"Recreate"}})");
  EXPECT_EQ(merged(R"({"labels":{"a":"1"}})", R"({"labels":{"$patch":"replace","b":"2"}})"), R"({"labels":{"b":"2"}})");
  EXPECT_EQ(merged(R"({"labels":{"a":"1","b":"2"}})", R"({"labels":{"a":null}})"), R"({"labels":{"b":"2"}})");
  EXPECT_EQ(merged("{}", R"({"labels":{"$patch":"jump"}})"), R"({"labels":{}})");
}

TEST_F(StrategicPatch, MergesLongListsInShortTime) {
  const std::string containers = "{\"containers\":[" + numbered(R"({"name":"c)", 60'000, R"("})") + "]}";
  EXPECT_EQ(merged(containers, containers), containers);
  const std::string order = "{\"$setElementOrder/containers\":[" + numbered(R"({"name":"c)", 60'000, R"("})") + "]}";
  EXPECT_EQ(merged(containers, order), containers);
  const std::string gone = "{\"containers\":[" + numbered(R"({"$patch":"delete","name":"c)", 60'000, R"("})") + "]}";
  EXPECT_EQ(merged(containers, gone), R"({"containers":[]})");
  const std::string names = numbered("\"f", 60'000, "\"");
  const std::string finalizers = "{\"finalizers\":[" + names + "]}";
  EXPECT_EQ(merged(finalizers, finalizers), finalizers);
  EXPECT_EQ(merged(finalizers, "{\"$deleteFromPrimitiveList/finalizers\":[" + names + "]}"), R"({"finalizers":[]})");
  EXPECT_EQ(merged("{\"strategy\":{" + numbered("\"k", 60'000, "\":1") + "}}", R"({"strategy":{"$retainKeys":[]}})"),
            R"({"strategy":{}})");
}

}  // namespace
}  // namespace gantree::apiserver
