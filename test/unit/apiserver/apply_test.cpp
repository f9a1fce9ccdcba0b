#include "apiserver/apply.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gantree::apiserver {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

constexpr std::string_view kSchema = R"({"type":"object","properties":{"kind":{"type":"string"},
  "metadata":{"type":"object","properties":{"name":{"type":"string"},"labels":{"type":"object","additionalProperties":{"type":"string"}},
    "finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
    "managedFields":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}},
  "spec":{"type":"object","properties":{"replicas":{"type":"integer"},
    "args":{"type":"array","items":{"type":"string"}},
    "selector":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}},
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],
      "items":{"type":"object","properties":{"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"},"name":{"type":"string"}}}}}},
  "status":{"type":"object","properties":{"ready":{"type":"integer"}}}}})";

class Apply : public testing::Test {
 protected:
  Apply() { schema_ = *set_.define("Thing", json(kSchema)); }

  static FieldManager manager(std::string name, std::string time = "2026-01-01T00:00:00Z") {
    return {.name = std::move(name),
            .api_version = "a/v1",
            .subresource = {},
            .time = std::move(time),
            .status_apart = true,
            .built_in = false};
  }
  Value applied(const Value* live, std::string_view wish, const std::string& who, bool force = false) {
    auto result = apply(*schema_, live, json(wish), manager(who), force);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    return result ? *result : Value(Object());
  }
  static std::string spec(const Value& object) { return to_json(*find(object, {"spec"})); }
  static std::string owners(const Value& object) {
    std::string text;
    for (const Value& entry : *array_at(object, {"metadata", "managedFields"})) {
      text += std::string(text_at(entry, {"manager"})) + " " + std::string(text_at(entry, {"operation"})) + " " +
              to_json(*find(entry, {"fieldsV1"})) + "\n";
    }
    return text;
  }

  SchemaSet set_{SchemaSet::Dialect::kCustom};
  const Schema* schema_ = nullptr;
};

TEST_F(Apply, MergesLongListsInShortTime) {
  std::string ports;
  for (int i = 0; i < 50'000; ++i) {
    ports += (i > 0 ? ",{\"port\":" : "{\"port\":") + std::to_string(i) + "}";
  }
  const std::string wish = R"({"kind":"T","metadata":{"name":"a"},"spec":{"ports":[)" + ports + "]}}";
  const Value made = applied(nullptr, wish, "x");
  const Value again = applied(&made, wish, "y");
  EXPECT_EQ(spec(again), spec(made));
}

TEST_F(Apply, TwiceIsAsOnceEvenForFieldsWithoutAName) {
  const Value live = json(R"({"kind":"T","metadata":{"name":"a"},"spec":{"":{"p":"q"}}})");
  constexpr std::string_view kWish = R"({"kind":"T","metadata":{"name":"a"},"spec":{"replicas":1}})";
  const Value once = applied(&live, kWish, "x", true);
  EXPECT_EQ(to_json(applied(&once, kWish, "x")), to_json(once));
  EXPECT_NE(owners(once).find("\"f:\":{"), std::string::npos) << owners(once);
}

TEST_F(Apply, OwnsWhatItWishes) {
  const Value made = applied(
      nullptr,
      R"({"kind":"T","metadata":{"name":"a","labels":{"x":"1"}},"spec":{"replicas":1,"args":["a"],"ports":[{"port":80}]}})",
      "me");
  EXPECT_EQ(
      owners(made),
      R"(me Apply {"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:args":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:replicas":{}}})"
      "\n");
}

TEST_F(Apply, TakesOutWhatItNoLongerWishes) {
  const Value made = applied(
      nullptr,
      R"({"metadata":{"name":"a","labels":{"x":"1","y":"2"}},"spec":{"replicas":1,"ports":[{"port":80},{"port":81}]}})",
      "me");
  const Value next =
      applied(&made, R"({"metadata":{"name":"a","labels":{"y":"2"}},"spec":{"ports":[{"port":81}]}})", "me");
  EXPECT_EQ(spec(next), R"({"ports":[{"port":81}]})");
  EXPECT_EQ(to_json(*find(next, {"metadata", "labels"})), R"({"y":"2"})");
}

TEST_F(Apply, LeavesWhatOthersOwnToo) {
  const Value made = applied(nullptr, R"({"metadata":{"name":"a"},"spec":{"replicas":1,"args":["x"]}})", "one");
  const Value both = applied(&made, R"({"metadata":{"name":"a"},"spec":{"replicas":1}})", "two");
  const Value next = applied(&both, R"({"metadata":{"name":"a"}})", "one");
  EXPECT_EQ(spec(next), R"({"replicas":1})");
}

TEST_F(Apply, RefusesToChangeWhatOthersOwnUnlessForced) {
  const Value made = applied(nullptr, R"({"metadata":{"name":"a"},"spec":{"replicas":1,"args":["x"]}})", "one");
  const auto refused =
      apply(*schema_, &made, json(R"({"metadata":{"name":"a"},"spec":{"replicas":2}})"), manager("two"), false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, R"(Apply failed with 1 conflict: conflict with "one": .spec.replicas)");
  EXPECT_EQ(
      to_json(to_status(refused.error()).at("details")),
      R"({"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"one\"","field":".spec.replicas"}]})");
  const Value forced = applied(&made, R"({"metadata":{"name":"a"},"spec":{"replicas":2}})", "two", true);
  EXPECT_EQ(owners(forced), "one Apply {\"f:spec\":{\"f:args\":{}}}\ntwo Apply {\"f:spec\":{\"f:replicas\":{}}}\n");
}

TEST_F(Apply, NamesSeveralConflictsByManager) {
  Value made = json(R"({"metadata":{"name":"a"},"spec":{"replicas":1,"ports":[{"port":80,"name":"x"}]}})");
  track_update(*schema_, nullptr, made, manager("editor"));
  const auto refused = apply(
      *schema_, &made, json(R"({"metadata":{"name":"a"},"spec":{"replicas":2,"ports":[{"port":80,"name":"y"}]}})"),
      manager("two"), false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "Apply failed with 2 conflicts: conflicts with \"editor\" using a/v1:\n"
            "- .spec.ports[port=80,protocol=\"TCP\"].name\n- .spec.replicas");
}

TEST_F(Apply, KeepsItemsInTheWishedOrder) {
  const Value made = applied(nullptr, R"({"metadata":{"name":"a","finalizers":["a","b","c"]}})", "one");
  const Value next = applied(&made, R"({"metadata":{"name":"a","finalizers":["c","n","a"]}})", "two");
  EXPECT_EQ(to_json(*find(next, {"metadata", "finalizers"})), R"(["c","b","n","a"])");
}

TEST_F(Apply, RefusesItemsThatCannotBeToldApart) {
  const auto refused =
      apply(*schema_, nullptr, json(R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":1},{"port":1}]}})"),
            manager("me"), false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(
      refused.error().message,
      "what is applied does not fit the schema: .spec.ports: duplicate entries for key [port=1,protocol=\"TCP\"]");
}

TEST_F(Apply, UpdatesTakeOverWhatTheyChange) {
  const Value made = applied(nullptr, R"({"metadata":{"name":"a"},"spec":{"replicas":1,"args":["x"]}})", "one");
  Value changed = made;
  changed.at("spec").at("replicas") = 3;
  track_update(*schema_, &made, changed, manager("scaler", "2026-01-02T00:00:00Z"));
  EXPECT_EQ(owners(changed),
            "one Apply {\"f:spec\":{\"f:args\":{}}}\nscaler Update {\"f:spec\":{\"f:replicas\":{}}}\n");
}

TEST_F(Apply, StatusBelongsToThoseWhoWriteItThroughItsSubresource) {
  Value made = json(R"({"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"replicas":1},"status":{"ready":1}})");
  track_update(*schema_, nullptr, made, manager("maker"));
  EXPECT_EQ(
      owners(made),
      "maker Update {\"f:metadata\":{\"f:labels\":{\".\":{},\"f:x\":{}}},\"f:spec\":{\".\":{},\"f:replicas\":{}}}\n");
  Value changed = made;
  changed.at("status").at("ready") = 2;
  FieldManager kubelet = manager("kubelet");
  kubelet.subresource = "status";
  track_update(*schema_, &made, changed, kubelet);
  EXPECT_NE(owners(changed).find("kubelet Update {\"f:status\":{\"f:ready\":{}}}"), std::string::npos);
}

TEST_F(Apply, NoAccountIsBegunOfWhatNobodyOwned) {
  const Value bare = json(R"({"metadata":{"name":"a"}})");
  Value changed = json(R"({"metadata":{"name":"a"},"spec":{"replicas":1}})");
  track_update(*schema_, &bare, changed, manager("writer"));
  EXPECT_EQ(find(changed, {"metadata", "managedFields"}), nullptr);
  const Value wished = applied(&changed, R"({"metadata":{"name":"a","labels":{"x":"1"}}})", "one");
  EXPECT_NE(owners(wished).find("before-first-apply Update"), std::string::npos) << owners(wished);
}

TEST_F(Apply, OldUpdatersAreJoined) {
  Value object = json(R"({"metadata":{"name":"a","labels":{"l":"0"}},"spec":{}})");
  track_update(*schema_, nullptr, object, manager("maker"));
  for (int i = 0; i < 14; ++i) {
    const Value before = object;
    object_in(object_in(object.get_object(), "metadata"), "labels")["l" + std::to_string(i)] = "1";
    track_update(*schema_, &before, object,
                 manager("m" + std::to_string(i), "2026-01-01T00:00:" + std::to_string(10 + i) + "Z"));
  }
  EXPECT_EQ(array_at(object, {"metadata", "managedFields"})->size(), 10U);
  EXPECT_NE(owners(object).find("ancient-changes"), std::string::npos);
}

Value arbitrary_wish() {
  Object spec;
  if (*rc::gen::arbitrary<bool>()) {
    spec["replicas"] = *rc::gen::inRange(0, 3);
  }
  Array ports;
  for (int port = 80; port < 83; ++port) {
    if (*rc::gen::arbitrary<bool>()) {
      Object one;
      one["port"] = port;
      if (*rc::gen::arbitrary<bool>()) {
        one["name"] = *rc::gen::element(std::string("x"), std::string("y"));
      }
      ports.push_back(std::move(one));
    }
  }
  if (!ports.empty()) {
    spec["ports"] = std::move(ports);
  }
  Object wish;
  object_in(wish, "metadata")["name"] = "a";
  wish["spec"] = std::move(spec);
  return wish;
}

RC_GTEST_PROP(ApplyProperty, ApplyingTwiceChangesNothing, ()) {
  SchemaSet set(SchemaSet::Dialect::kCustom);
  const Schema* schema = *set.define("Thing", json(kSchema));
  FieldManager one{.name = "one",
                   .api_version = "a/v1",
                   .subresource = {},
                   .time = "2026-01-01T00:00:00Z",
                   .status_apart = true,
                   .built_in = false};
  FieldManager two = one;
  two.name = "two";
  const auto first = apply(*schema, nullptr, arbitrary_wish(), one, true);
  const Value wish = arbitrary_wish();
  const auto second = apply(*schema, &*first, wish, two, true);
  two.time = "2026-02-01T00:00:00Z";
  const auto third = apply(*schema, &*second, wish, two, false);
  RC_ASSERT(third.has_value());
  RC_ASSERT(same(*second, *third));
}

}  // namespace
}  // namespace gantree::apiserver
