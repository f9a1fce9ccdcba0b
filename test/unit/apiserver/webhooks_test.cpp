// Admission by webhooks, called over plain HTTP.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "unit/apiserver/hook.h"

namespace gantree::apiserver {
namespace {

TEST(Webhooks, MayChangeWhatIsCreated) {
  World world;
  const std::string patch = to_base64(R"([{"op":"add","path":"/data/extra","value":"1"}])");
  FakeHook hook([&](const Value&) { return R"(,"allowed":true,"patchType":"JSONPatch","patch":")" + patch + "\""; });
  configure(world, "MutatingWebhookConfiguration", hook.url());
  const Answer created = world.post(kMaps, config_map("a"));
  EXPECT_EQ(created.status, 201) << created.text();
  EXPECT_EQ(text_in(created, {"data", "extra"}), "1");
}

TEST(Webhooks, MayRefuse) {
  World world;
  FakeHook hook([](const Value& request) {
    return text_at(request, {"operation"}) == "DELETE" ? R"(,"allowed":false)"
                                                       : R"(,"allowed":true,"warnings":["mind the gap"])";
  });
  configure(world, "ValidatingWebhookConfiguration", hook.url());
  const Answer created = world.post(kMaps, config_map("a"));
  EXPECT_EQ(created.status, 201);
  ASSERT_EQ(created.headers.size(), 1U);
  EXPECT_EQ(created.headers[0].second, "299 - \"mind the gap\"");
  const Answer refused = world.remove(std::string(kMaps) + "/a");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(text_in(refused, {"message"}),
            "admission webhook \"hook.example.com\" denied the request without explanation");
}

TEST(Webhooks, AreAskedOnlyWhereTheirConditionsHold) {
  World world;
  FakeHook hook([](const Value&) { return R"(,"allowed":false)"; });
  const std::string changed =
      "request.operation != 'CREATE' && (has(object.data) ? object.data : {}) != (has(oldObject.data) ? oldObject.data "
      ": {})";
  configure(world, "ValidatingWebhookConfiguration", hook.url(),
            R"(,"matchConditions":[{"name":"data-change","expression":")" + changed +
                R"("},{"name":"not-deleted","expression":"request.operation != 'DELETE'"}])");
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
  EXPECT_EQ(world.merge(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"x":"2"}}})").status, 200);
  EXPECT_EQ(hook.calls, 0);
  EXPECT_EQ(world.merge(std::string(kMaps) + "/a", R"({"data":{"k":"other"}})").status, 400);
  EXPECT_EQ(hook.calls, 1);
  EXPECT_EQ(world.remove(std::string(kMaps) + "/a").status, 200);
}

TEST(Webhooks, WithAConditionThatCannotBeDecidedStopARequestUnlessTheyMayBePassedOver) {
  for (const bool must : {true, false}) {
    World world;
    FakeHook hook([](const Value&) { return R"(,"allowed":true)"; });
    configure(
        world, "ValidatingWebhookConfiguration", hook.url(),
        std::string(R"(,"matchConditions":[{"name":"c","expression":"object.nothing == 'x'"}],"failurePolicy":")") +
            (must ? "Fail\"" : "Ignore\""));
    const Answer answer = world.post(kMaps, config_map("a"));
    EXPECT_EQ(answer.status, must ? 400 : 201) << answer.text();
    EXPECT_EQ(hook.calls, 0);
  }
}

TEST(Webhooks, ThatCannotBeReachedStopARequestUnlessTheyMayBePassedOver) {
  World world;
  configure(world, "ValidatingWebhookConfiguration", "http://127.0.0.1:1/hook");
  const Answer refused = world.post(kMaps, config_map("a"));
  EXPECT_EQ(refused.status, 500);
  EXPECT_NE(text_in(refused, {"message"}).find("failed calling webhook \"hook.example.com\""), std::string::npos);
  (void)world.send("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c",
                   R"([{"op":"add","path":"/webhooks/0/failurePolicy","value":"Ignore"}])",
                   "application/json-patch+json");
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
}

TEST(Webhooks, AreAskedOnlyAboutWhatTheySelect) {
  World world;
  FakeHook hook([](const Value&) { return R"(,"allowed":true)"; });
  configure(world, "ValidatingWebhookConfiguration", hook.url(), R"(,"objectSelector":{"matchLabels":{"x":"1"}})");
  (void)world.post(kMaps, config_map("a"));
  EXPECT_EQ(hook.calls, 0);
  (void)world.post(kMaps, config_map("b", R"(,"labels":{"x":"1"})"));
  EXPECT_EQ(hook.calls, 1);
}

TEST(Webhooks, DoNotHideWhatOthersChangeMeanwhile) {
  World world;
  (void)world.post(kMaps, config_map("a"));
  FakeHook* self = nullptr;
  FakeHook hook([&](const Value&) {
    if (self->calls == 1) {  // while the first change waits for its answer
      Call other;
      other.method = "DELETE";
      other.path = std::string(kMaps) + "/b";
      world.api().call(std::move(other), [](const Answer&) {});
    }
    return std::string(R"(,"allowed":true)");
  });
  self = &hook;
  configure(world, "ValidatingWebhookConfiguration", hook.url());
  EXPECT_EQ(world.merge(std::string(kMaps) + "/a", R"({"data":{"n":"1"}})").status, 200);
  EXPECT_EQ(text_in(world.get(std::string(kMaps) + "/a"), {"data", "n"}), "1");
}

}  // namespace
}  // namespace gantree::apiserver
