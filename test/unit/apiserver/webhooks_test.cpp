// Admission by webhooks, called over plain HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "unit/apiserver/hook.h"

namespace gantree::apiserver {
namespace {

using testing::HasSubstr;

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

// How it failed, by the message: nobody listens at the addresses.
class WebhooksOfServices : public testing::Test {
 protected:
  WebhooksOfServices() {
    configure(world_, "ValidatingWebhookConfiguration", "http://127.0.0.1:1/hook");
    EXPECT_EQ(world_
                  .send("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c",
                        R"([{"op":"replace","path":"/webhooks/0/clientConfig",
                             "value":{"service":{"namespace":"default","name":"s","path":"/hook","port":8443}}}])",
                        "application/json-patch+json")
                  .status,
              200);
  }
  void add_service(const std::string& spec) {
    const Answer made =
        world_.post("/api/v1/namespaces/default/services", R"({"metadata":{"name":"s"},"spec":)" + spec + "}");
    EXPECT_EQ(made.status, 201) << made.text();
  }
  std::string failure() {
    const Answer refused = world_.post(kMaps, config_map("a"));
    EXPECT_EQ(refused.status, 500);
    return text_in(refused, {"message"});
  }
  World world_;
};

TEST_F(WebhooksOfServices, MustBeThere) {
  EXPECT_THAT(failure(), HasSubstr("service \"s\" not found"));
}

TEST_F(WebhooksOfServices, AreReachedByAnExternalName) {
  add_service(R"({"type":"ExternalName","externalName":"localhost"})");
  EXPECT_THAT(failure(), HasSubstr("https://localhost:8443/hook"));
}

TEST_F(WebhooksOfServices, AreReachedByEndpointsThatSomebodyWrote) {
  add_service(R"({"ports":[{"name":"web","port":8443,"targetPort":9443},{"name":"other","port":80}]})");
  EXPECT_THAT(failure(), HasSubstr("no endpoints available for service"));
  // Simulated pods answer nobody.
  EXPECT_EQ(world_
                .post("/api/v1/namespaces/default/endpoints", R"({"metadata":{"name":"s"},"subsets":[{"addresses":[
                  {"ip":"10.130.0.7"}],"ports":[{"name":"web","port":9443}]}]})")
                .status,
            201);
  EXPECT_THAT(failure(), HasSubstr("no endpoints available for service"));
  EXPECT_EQ(world_
                .put("/api/v1/namespaces/default/endpoints/s", R"({"metadata":{"name":"s"},"subsets":[{"addresses":[
                  {"ip":"192.0.2.1"}],"ports":[{"name":"other","port":1}]},{"addresses":[
                  {"ip":"127.0.0.1"}],"ports":[{"name":"web","port":2}]}]})")
                .status,
            200);
  EXPECT_THAT(failure(), HasSubstr("https://127.0.0.1:2/hook"));
  EXPECT_EQ(world_
                .post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
                      R"({"metadata":{"name":"s-1","labels":{"kubernetes.io/service-name":"s"}},"addressType":"IPv4",
                  "endpoints":[{"addresses":["127.0.0.1"],"conditions":{"ready":false}},{"addresses":["127.0.0.2"]}],
                  "ports":[{"name":"web","port":3}]})")
                .status,
            201);
  EXPECT_THAT(failure(), HasSubstr("https://127.0.0.2:3/hook"));
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

TEST(Webhooks, MayNotMoveAnObjectToAnotherNamespace) {
  World world;
  const std::string patch = to_base64(R"([{"op":"replace","path":"/metadata/namespace","value":"kube-system"}])");
  FakeHook hook([&](const Value&) { return R"(,"allowed":true,"patchType":"JSONPatch","patch":")" + patch + "\""; });
  configure(world, "MutatingWebhookConfiguration", hook.url());
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 400);
  EXPECT_EQ(world.get("/api/v1/namespaces/kube-system/configmaps/a").status, 404);
}

TEST(Webhooks, ThatOnlyJudgeAreAskedAtTheSameTime) {
  World world;
  std::atomic<int> inside = 0;
  std::atomic<bool> met = false;
  const auto meet = [&](const Value&) -> std::string {
    ++inside;
    World::eventually([&] { return inside >= 2; });
    met = met || inside >= 2;
    return R"(,"allowed":true)";
  };
  FakeHook one(meet);
  FakeHook other(meet);
  configure(world, "ValidatingWebhookConfiguration", one.url());
  EXPECT_EQ(world
                .send("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c",
                      R"([{"op":"copy","from":"/webhooks/0","path":"/webhooks/1"},
                          {"op":"replace","path":"/webhooks/1/name","value":"other.example.com"},
                          {"op":"replace","path":"/webhooks/1/clientConfig/url","value":")" +
                          other.url() + R"("}])",
                      "application/json-patch+json")
                .status,
            200);
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
  EXPECT_TRUE(met);
  EXPECT_EQ(one.calls, 1);
  EXPECT_EQ(other.calls, 1);
}

// Whoever sends several requests without waiting for answers relies on their order.
TEST(Webhooks, ThatNeedNotBeAskedKeepNoRequestBack) {
  World world;
  configure(world, "ValidatingWebhookConfiguration", "http://127.0.0.1:1/",
            R"(,"objectSelector":{"matchLabels":{"asked":"1"}})");
  EXPECT_EQ(world
                .send("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c",
                      R"([{"op":"copy","from":"/webhooks/0","path":"/webhooks/1"},
                          {"op":"replace","path":"/webhooks/1/name","value":"other.example.com"}])",
                      "application/json-patch+json")
                .status,
            200);
  const Answer made = world.post(kMaps, config_map("a", R"(,"finalizers":["x/y"])"));
  Call patch;
  patch.method = "PATCH";
  patch.path = std::string(kMaps) + "/a";
  patch.content_type = "application/merge-patch+json";
  patch.body = R"({"metadata":{"finalizers":null,"resourceVersion":")" + version_in(made) + R"("}})";
  Call removal;
  removal.method = "DELETE";
  removal.path = patch.path;
  std::atomic<int> status = 0;
  world.api().call(std::move(patch), [&](const Answer& answer) { status = answer.status; });
  EXPECT_EQ(world.api().call_and_wait(std::move(removal)).status, 200);
  EXPECT_EQ(status, 200);
  EXPECT_EQ(world.get(std::string(kMaps) + "/a").status, 404);
}

TEST(Webhooks, LetTwoApplyTheSameNewObjectAtOnce) {
  World world;
  const auto apply = [&](const std::string& manager, const std::string& metadata) {
    return world.send(
        "PATCH", std::string(kMaps) + "/a?fieldManager=" + manager,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":)" + metadata + R"(,"data":{")" + manager + R"(":"1"}})",
        "application/apply-patch+yaml");
  };
  FakeHook* self = nullptr;
  FakeHook hook([&](const Value&) -> std::string {
    if (self->calls == 1) {  // while the first one waits for its answer
      EXPECT_EQ(apply("other", "{}").status, 201);
    }
    return R"(,"allowed":true)";
  });
  self = &hook;
  configure(world, "ValidatingWebhookConfiguration", hook.url(), R"(,"objectSelector":{"matchLabels":{"asked":"1"}})");
  const Answer second = apply("one", R"({"labels":{"asked":"1"}})");
  EXPECT_EQ(second.status, 200) << second.text();
  EXPECT_EQ(text_in(second, {"data", "one"}), "1");
  EXPECT_EQ(text_in(second, {"data", "other"}), "1");
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
