// What the server itself deletes, and what becomes of it where a webhook refuses.
#include <gmock/gmock.h>

#include "unit/apiserver/hook.h"

namespace gantree::apiserver {
namespace {

using testing::HasSubstr;

// Refuses deletions as long as a test wants it.
struct Guard {
  std::atomic<bool> closed = true;
  FakeHook hook{[this](const Value& request) -> std::string {
    return text_at(request, {"operation"}) == "DELETE" && closed ? R"(,"allowed":false)" : R"(,"allowed":true)";
  }};
};

const Value* condition_of(const Value& object, std::string_view type) {
  const Array* conditions = array_at(object, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    if (text_at((*conditions)[i], {"type"}) == type) {
      return &(*conditions)[i];
    }
  }
  return nullptr;
}

TEST(Removals, OfANamespacesContentAreTriedAgainInGrowingPausesUntilTheyAreGranted) {
  World world;
  Guard guard;
  configure(world, "ValidatingWebhookConfiguration", guard.hook.url());
  EXPECT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"going"}})").status, 201);
  EXPECT_EQ(world.post("/api/v1/namespaces/going/configmaps", config_map("kept")).status, 201);
  guard.hook.calls = 0;
  EXPECT_EQ(world.remove("/api/v1/namespaces/going").status, 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  EXPECT_GE(guard.hook.calls, 2);
  EXPECT_LE(guard.hook.calls, 8);
  const Value going = body_of(world.get("/api/v1/namespaces/going"));
  const Value* failure = condition_of(going, "NamespaceDeletionContentFailure");
  ASSERT_NE(failure, nullptr) << to_json(going);
  EXPECT_EQ(text_at(*failure, {"status"}), "True");
  EXPECT_EQ(text_at(*failure, {"reason"}), "ContentDeletionFailed");
  EXPECT_THAT(std::string(text_at(*failure, {"message"})), HasSubstr("denied the request"));
  guard.closed = false;
  EXPECT_TRUE(World::eventually([&] { return world.get("/api/v1/namespaces/going").status == 404; }));
}

// Nobody is waited for there: the refusal comes at once, and came again as fast as the thread could ask.
TEST(Removals, ThatNoServiceCanJudgeLeaveTheServerTimeForOthers) {
  World world;
  configure(world, "ValidatingWebhookConfiguration", "http://127.0.0.1:1/");
  EXPECT_EQ(world
                .send("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c",
                      R"([{"op":"replace","path":"/webhooks/0/clientConfig",
                           "value":{"service":{"namespace":"default","name":"none"}}},
                          {"op":"replace","path":"/webhooks/0/rules/0/operations","value":["DELETE"]}])",
                      "application/json-patch+json")
                .status,
            200);
  EXPECT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"going"}})").status, 201);
  EXPECT_EQ(world.post("/api/v1/namespaces/going/configmaps", config_map("kept")).status, 201);
  EXPECT_EQ(world.remove("/api/v1/namespaces/going").status, 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto deletions = [&] {
    const std::string text = world.get("/metrics").text();
    const std::string line = "apiserver_request_total{verb=\"DELETE\",code=\"500\"} ";
    const std::size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + line.size()));
  };
  EXPECT_GE(deletions(), 1);
  EXPECT_LE(deletions(), 6);
}

TEST(Removals, OfDependentsAreTriedAgainUntilTheyAreGranted) {
  World world;
  Guard guard;
  configure(world, "ValidatingWebhookConfiguration", guard.hook.url());
  const Answer owner = world.post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"owner"}})");
  EXPECT_EQ(world
                .post(kMaps, config_map("owned", R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Secret",
                  "name":"owner","uid":")" + text_in(owner, {"metadata", "uid"}) +
                                                     "\"}]"))
                .status,
            201);
  guard.hook.calls = 0;
  EXPECT_EQ(world.remove("/api/v1/namespaces/default/secrets/owner").status, 200);
  EXPECT_TRUE(World::eventually([&] { return guard.hook.calls >= 2; }));
  EXPECT_EQ(world.get(std::string(kMaps) + "/owned").status, 200);
  guard.closed = false;
  EXPECT_TRUE(World::eventually([&] { return world.get(std::string(kMaps) + "/owned").status == 404; }));
}

TEST(Removals, OfADefinitionsObjectsAreTriedAgainUntilTheyAreGranted) {
  World world;
  Guard guard;
  configure(world, "ValidatingWebhookConfiguration", guard.hook.url());
  EXPECT_EQ(world
                .send("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c",
                      R"([{"op":"replace","path":"/webhooks/0/rules/0/apiGroups","value":["example.com"]},
                          {"op":"replace","path":"/webhooks/0/rules/0/resources","value":["things"]}])",
                      "application/json-patch+json")
                .status,
            200);
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  EXPECT_EQ(world
                .post(definitions, R"({"metadata":{"name":"things.example.com"},"spec":{"group":"example.com",
                  "scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1",
                  "served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
                .status,
            201);
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  EXPECT_TRUE(World::eventually([&] { return world.get(things).status == 200; }));
  EXPECT_EQ(world.post(things, R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}})").status,
            201);
  guard.hook.calls = 0;
  EXPECT_EQ(world.remove(definitions + "/things.example.com").status, 200);
  EXPECT_TRUE(World::eventually([&] { return guard.hook.calls >= 2; }));
  guard.closed = false;
  EXPECT_TRUE(World::eventually([&] { return world.get(definitions + "/things.example.com").status == 404; }));
}

}  // namespace
}  // namespace gantree::apiserver
