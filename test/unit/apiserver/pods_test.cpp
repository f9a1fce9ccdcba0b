// Pods: bound, evicted, deleted with grace; scale; priorities.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

std::string at(std::string_view name, std::string_view below = "") {
  return std::string(kPods) + "/" + std::string(name) + std::string(below);
}
constexpr const char* kBinding = R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a","annotations":{"k":"v"}},
  "target":{"apiVersion":"v1","kind":"Node","name":"n1"}})";

TEST(Pods, AreBoundOnce) {
  World world;
  EXPECT_EQ(world.post(kPods, pod("a")).status, 201);
  const Answer bound = world.post(at("a", "/binding"), kBinding);
  EXPECT_EQ(bound.status, 201) << bound.text();
  const Answer read = world.get(at("a"));
  EXPECT_EQ(text_in(read, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(text_in(read, {"metadata", "annotations", "k"}), "v");
  EXPECT_NE(text_in(read, {"status", "conditions"}).find("PodScheduled"), std::string::npos);
  const Answer again = world.post(at("a", "/binding"), kBinding);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(text_in(again, {"message"}),
            "Operation cannot be fulfilled on pods/binding \"a\": pod a has its node already, \"n1\"");
}

TEST(Pods, ThatAreGatedAreNotBound) {
  World world;
  EXPECT_EQ(world.post(kPods, pod("a", "", R"(,"schedulingGates":[{"name":"g"}])")).status, 201);
  EXPECT_EQ(world.post(at("a", "/binding"), kBinding).status, 409);
}

TEST(Pods, OnANodeAreDeletedByTheirKubelet) {
  World world;
  (void)world.post(kPods, pod("a"));
  (void)world.post(at("a", "/binding"), kBinding);
  const Answer deleted = world.remove(at("a"), R"({"gracePeriodSeconds":7})");
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(text_in(deleted, {"metadata", "deletionGracePeriodSeconds"}), "7");
  EXPECT_EQ(world.get(at("a")).status, 200);
  EXPECT_EQ(world.remove(at("a"), R"({"gracePeriodSeconds":0})").status, 200);
  EXPECT_EQ(world.get(at("a")).status, 404);
}

TEST(Pods, WithoutANodeGoAtOnce) {
  World world;
  (void)world.post(kPods, pod("a"));
  EXPECT_EQ(world.remove(at("a")).status, 200);
  EXPECT_EQ(world.get(at("a")).status, 404);
}

// A pod on a node, and a budget that counts it.
class Evicted : public testing::Test {
 protected:
  static constexpr const char* kBudget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b";

  Evicted() {
    (void)world_.post(kPods, pod("a", R"(,"labels":{"app":"x"})"));
    (void)world_.post(at("a", "/binding"), kBinding);
    EXPECT_EQ(world_
                  .post("/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                        R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},
      "spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}})")
                  .status,
              201);
  }
  void run(bool ready) {
    const Answer set =
        world_.merge(at("a", "/status"), std::string(R"({"status":{"phase":"Running","conditions":[{"type":"Ready",
      "status":")") + (ready ? "True" : "False") +
                                             "\"}]}}");
    EXPECT_EQ(set.status, 200) << set.text();
  }
  void allow(int disruptions, int healthy, int desired) {
    const Answer set =
        world_.merge(std::string(kBudget) + "/status",
                     fmt::format(R"({{"status":{{"observedGeneration":1,"disruptionsAllowed":{},"currentHealthy":{},
          "desiredHealthy":{},"expectedPods":2}}}})",
                                 disruptions, healthy, desired));
    EXPECT_EQ(set.status, 200) << set.text();
  }
  Answer evict() {
    return world_.post(at("a", "/eviction"), R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"},
      "deleteOptions":{"gracePeriodSeconds":0}})");
  }
  World world_;
};

TEST_F(Evicted, PodsThatAreReadyGoWithinTheirBudget) {
  run(true);
  allow(0, 1, 1);
  const Answer refused = evict();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(text_in(refused, {"reason"}), "TooManyRequests");
  EXPECT_NE(refused.text().find("disruption budget b wants 1 healthy pods; there are 1"), std::string::npos);
  allow(1, 1, 1);
  EXPECT_EQ(evict().status, 201);
  EXPECT_EQ(world_.get(at("a")).status, 404);
  EXPECT_EQ(text_in(world_.get(kBudget), {"status", "disruptionsAllowed"}), "0");
}

TEST_F(Evicted, PodsThatAreNotReadyGoWhileTheOthersAreEnough) {
  run(false);
  allow(0, 0, 1);
  EXPECT_EQ(evict().status, 429);
  allow(0, 0, 0);
  EXPECT_EQ(evict().status, 429);
  allow(0, 1, 1);
  EXPECT_EQ(evict().status, 201);
  EXPECT_EQ(text_in(world_.get(kBudget), {"status", "disruptionsAllowed"}), "0");
}

TEST_F(Evicted, PodsThatAreNotReadyAlwaysGoWhereTheBudgetSaysSo) {
  EXPECT_EQ(world_.merge(kBudget, R"({"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}})").status, 200);
  allow(0, 0, 1);
  run(true);
  EXPECT_EQ(evict().status, 429);
  run(false);
  EXPECT_EQ(evict().status, 201);
}

TEST(Pods, ThatAreEvictedSayThatTheyWereDisrupted) {
  World world;
  (void)world.post(kPods, pod("e", "", R"(,"nodeName":"n")"));
  const Answer evicted =
      world.post(at("e", "/eviction"), R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"e"}})");
  EXPECT_EQ(evicted.status, 201);
  const std::string left = world.get(at("e")).text();
  EXPECT_NE(left.find("\"DisruptionTarget\""), std::string::npos) << left;
  EXPECT_NE(left.find("EvictionByEvictionAPI"), std::string::npos);
}

TEST(Pods, GetTheNumberOfTheirPriorityClass) {
  World world;
  (void)world.post(
      "/apis/scheduling.k8s.io/v1/priorityclasses",
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":7})");
  EXPECT_EQ(text_in(world.post(kPods, pod("a", "", R"(,"priorityClassName":"high")")), {"spec", "priority"}), "7");
  EXPECT_EQ(text_in(world.post(kPods, pod("b")), {"spec", "priority"}), "0");
  const Answer refused = world.post(kPods, pod("c", "", R"(,"priorityClassName":"none")"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(text_in(refused, {"message"}), "pods \"c\" is forbidden: no PriorityClass with name none was found");
}

TEST(Pods, AreWithinTheLimitsOfTheirNamespace) {
  World world;
  const Answer limits = world.post("/api/v1/namespaces/default/limitranges",
                                   R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},
      "spec":{"limits":[{"type":"Container","max":{"cpu":"3"},"defaultRequest":{"cpu":"1"}}]}})");
  EXPECT_EQ(limits.status, 201) << limits.text();
  const Answer filled = world.post(kPods, pod("a"));
  EXPECT_NE(text_in(filled, {"spec", "containers"}).find(R"("limits":{"cpu":"3"})"), std::string::npos)
      << filled.text();
  EXPECT_NE(text_in(filled, {"spec", "containers"}).find(R"("requests":{"cpu":"1"})"), std::string::npos);
  const Answer refused =
      world.post(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[
      {"name":"c","image":"i","resources":{"limits":{"cpu":"4"}}}]}})");
  EXPECT_EQ(refused.status, 403) << refused.text();
}

TEST(Pods, NeedTheAccountAndTheClassThatTheyName) {
  World world;
  EXPECT_EQ(world.post(kPods, pod("a", "", R"(,"serviceAccountName":"none")")).status, 403);
  EXPECT_EQ(world.post(kPods, pod("a", "", R"(,"runtimeClassName":"none")")).status, 403);
  EXPECT_EQ(world.post(kPods, pod("a", "", R"(,"serviceAccountName":"default")")).status, 201);
}

TEST(Pods, KeepTheirStatusApart) {
  World world;
  (void)world.post(kPods, pod("a"));
  (void)world.merge(at("a"), R"({"status":{"phase":"Running"}})");
  EXPECT_EQ(text_in(world.get(at("a")), {"status", "phase"}), "Pending");
  (void)world.merge(at("a", "/status"), R"({"status":{"phase":"Running"},"spec":{"nodeName":"x"}})");
  EXPECT_EQ(text_in(world.get(at("a")), {"status", "phase"}), "Running");
  EXPECT_EQ(text_in(world.get(at("a")), {"spec", "nodeName"}), "");
}

TEST(Pods, ChangeInNothingElseThroughPartsOfTheirOwn) {
  World world;
  (void)world.post(kPods, pod("a"));
  for (const char* part : {"/resize", "/ephemeralcontainers"}) {
    const Answer same = world.merge(at("a", part), R"({"metadata":{"labels":{"x":"y"}},"spec":{"nodeName":"x"}})");
    EXPECT_EQ(same.status, 200) << same.text();
    EXPECT_EQ(text_in(world.get(at("a")), {"spec", "nodeName"}), "") << part;
    EXPECT_EQ(text_in(world.get(at("a")), {"metadata", "labels"}), "") << part;
  }
  (void)world.merge(at("a", "/ephemeralcontainers"), R"({"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}})");
  EXPECT_NE(text_in(world.get(at("a")), {"spec", "ephemeralContainers"}).find("\"e\""), std::string::npos);
  EXPECT_EQ(
      world.merge(at("a", "/resize"), R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})")
          .status,
      422);
}

TEST(Deployments, AreOfANewGenerationAlsoByTheirAnnotations) {
  World world;
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  (void)world.post(path, R"({"metadata":{"name":"d"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(text_in(world.merge(path + "/d", R"({"metadata":{"labels":{"x":"y"}}})"), {"metadata", "generation"}), "1");
  EXPECT_EQ(text_in(world.merge(path + "/d", R"({"metadata":{"annotations":{"x":"y"}}})"), {"metadata", "generation"}),
            "2");
}

TEST(Scale, ChangesTheReplicasOfItsObject) {
  World world;
  const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";
  const Answer created =
      world.post(sets, R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r"},"spec":{"replicas":1,
    "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_EQ(created.status, 201) << created.text();
  const Answer scale = world.get(sets + "/r/scale");
  EXPECT_EQ(text_in(scale, {"kind"}), "Scale");
  EXPECT_EQ(text_in(scale, {"status", "selector"}), "a=b");
  const Answer scaled = world.merge(sets + "/r/scale", R"({"spec":{"replicas":3}})");
  EXPECT_EQ(text_in(scaled, {"spec", "replicas"}), "3") << scaled.text();
  const Answer read = world.get(sets + "/r");
  EXPECT_EQ(text_in(read, {"spec", "replicas"}), "3");
  EXPECT_EQ(text_in(read, {"metadata", "generation"}), "2");
}

TEST(Scale, IsAppliedAsTheReplicasOfItsObject) {
  World world;
  const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";
  (void)world.post(sets + "?fieldManager=maker", R"({"metadata":{"name":"r"},"spec":{"replicas":1,
    "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  const auto apply = [&](std::string_view options, int replicas) {
    return world.send(
        "PATCH", sets + "/r/scale?fieldManager=scaler" + std::string(options),
        R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":)" + std::to_string(replicas) + "}}",
        "application/apply-patch+yaml");
  };
  EXPECT_EQ(apply("", 2).status, 409);
  EXPECT_EQ(text_in(apply("&force=true", 2), {"spec", "replicas"}), "2");
  const Value body = body_of(world.get(sets + "/r"));
  const Array* owners = array_at(body, {"metadata", "managedFields"});
  ASSERT_NE(owners, nullptr);
  for (const Value& owner : *owners) {
    const bool scaler = text_at(owner, {"manager"}) == "scaler";
    EXPECT_EQ(find(owner, {"fieldsV1", "f:spec", "f:replicas"}) != nullptr, scaler);
    EXPECT_EQ(text_at(owner, {"subresource"}), scaler ? "scale" : "");
    EXPECT_EQ(find(owner, {"time"}) == nullptr, scaler);
  }
  EXPECT_EQ(owners->size(), 2U);
}

}  // namespace
}  // namespace gantree::apiserver
