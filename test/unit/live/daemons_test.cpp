// Room for pods of DaemonSets that nodes are about to get.
#include "live/daemons.h"

#include <gtest/gtest.h>

#include "unit/live/fake_api.h"

namespace gantree {
namespace {

using std::chrono::seconds;

// Nodes of 8 GPUs, and a DaemonSet "agent" whose pods ask for one.
class DaemonsTest : public testing::Test {
 protected:
  void node(const std::string& name, Time created, const std::string& more = "", const std::string& spec = "") {
    api_.send("", "v1", "Node",
              R"({"metadata":{"name":")" + name + R"(","creationTimestamp":")" + rfc3339(created) +
                  R"(","labels":{"pool":"gpus")" + more + R"(}},"spec":{)" + spec +
                  R"(},"status":{"allocatable":{"cpu":"64","pods":"110","nvidia.com/gpu":"8"},)"
                  R"("conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void daemon_set(Time created, const std::string& pod_spec = "", int gpus = 1) {
    api_.send("apps", "v1", "DaemonSet",
              R"({"metadata":{"namespace":"default","name":"agent","uid":"d","creationTimestamp":")" +
                  rfc3339(created) + R"("},"spec":{"template":{"spec":{)" + pod_spec +
                  R"("containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":")" + std::to_string(gpus) +
                  R"("}}}]}}},"status":{"numberReady":3}})");
  }
  void agent(const std::string& name, const std::string& node, const std::string& phase = "Running") {
    api_.send(
        "", "v1", "Pod",
        R"({"metadata":{"namespace":"default","name":")" + name + R"(","uid":"u-)" + name +
            R"(","ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","controller":true}]},)"
            R"("spec":{"schedulerName":"default-scheduler","nodeName":")" +
            node +
            R"(","containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":")" +
            phase + R"("}})");
  }
  // What a gang finds free on a node.
  std::int64_t free(const std::string& node) {
    const Inventory& inventory = api_.scheduler.cluster().inventory();
    return inventory.free(*inventory.find(node), *inventory.resources().find("nvidia.com/gpu"));
  }

  FakeApi api_;
};

TEST_F(DaemonsTest, IsHeldOnANewNodeUntilThePodIsThere) {
  daemon_set(kStart - seconds(3600));
  node("n", kStart);
  EXPECT_EQ(free("n"), 7);
  agent("agent-x", "n");
  EXPECT_EQ(free("n"), 7) << "the pod itself, once";
}

TEST_F(DaemonsTest, IsHeldWhicheverIsToldFirst) {
  node("n", kStart);
  EXPECT_EQ(free("n"), 8);
  daemon_set(kStart - seconds(3600));
  EXPECT_EQ(free("n"), 7);
}

TEST_F(DaemonsTest, IsNotHeldWhereThePodWasToldBeforeNodeAndDaemonSet) {
  agent("agent-x", "n");
  node("n", kStart);
  daemon_set(kStart);
  EXPECT_EQ(free("n"), 7);
}

TEST_F(DaemonsTest, IsGivenBackAfterAMinuteAndWhatWaitsIsLookedAt) {
  daemon_set(kStart - seconds(3600));
  node("n", kStart);
  api_.pod_group("train", 1);
  api_.pod("train-0", {.gang = "train", .gpus = 8});
  api_.run();
  EXPECT_EQ(api_.bound("train"), 0) << "7 of 8 are free";
  ASSERT_TRUE(api_.wake);
  EXPECT_LE(*api_.wake, kStart + kDaemonPatience);
  api_.pass(kDaemonPatience);
  EXPECT_EQ(api_.scheduler.take_freed_nodes(api_.now), std::set<std::string>{"n"});
  api_.run();
  EXPECT_EQ(api_.bound("train"), 1);
}

TEST_F(DaemonsTest, IsNotHeldOnNodesThatAreOldWhenTheProcessStarts) {
  daemon_set(kStart - seconds(3600));
  node("n", kStart - seconds(61));
  EXPECT_EQ(free("n"), 8);
}

TEST_F(DaemonsTest, IsHeldOnAllNodesForANewDaemonSet) {
  node("n", kStart - seconds(3600));
  daemon_set(kStart);
  EXPECT_EQ(free("n"), 7);
  api_.scheduler.removed("apps", "DaemonSet", "default", "agent", api_.now);
  EXPECT_EQ(free("n"), 8);
}

TEST_F(DaemonsTest, IsHeldOnlyWhereItsPodsWouldGo) {
  daemon_set(kStart, R"("nodeSelector":{"pool":"other"},)");
  node("n", kStart);
  EXPECT_EQ(free("n"), 8);
  api_.pass(seconds(300));
  node("n", kStart, R"(,"zone":"a")");
  EXPECT_EQ(free("n"), 8);
  daemon_set(kStart, R"("nodeSelector":{"zone":"a"},)");
  EXPECT_EQ(free("n"), 7) << "it has come to match only now";
}

TEST_F(DaemonsTest, IsNotHeldOnTaintedNodesSaveForTaintsThatDaemonSetsTolerate) {
  daemon_set(kStart);
  node("tainted", kStart, "", R"("taints":[{"key":"own","effect":"NoSchedule"}])");
  node("cordoned", kStart, "",
       R"("unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}])");
  EXPECT_EQ(free("tainted"), 8);
  EXPECT_EQ(free("cordoned"), 7);
}

TEST_F(DaemonsTest, IsKeptWhileOnePodTakesThePlaceOfAnother) {
  daemon_set(kStart - seconds(3600));
  node("n", kStart - seconds(3600));
  agent("agent-x", "n");
  api_.scheduler.removed("", "Pod", "default", "agent-x", api_.now);
  EXPECT_EQ(free("n"), 7);
  agent("agent-y", "n");
  EXPECT_EQ(free("n"), 7);
  agent("agent-y", "n", "Failed");
  EXPECT_EQ(free("n"), 7);
  api_.pass(kDaemonPatience);
  static_cast<void>(api_.scheduler.take_freed_nodes(api_.now));
  EXPECT_EQ(free("n"), 8);
}

// A tenant makes one after the other, whose pods its quota forbids.
TEST_F(DaemonsTest, IsNotHeldAgainForANamespaceWhosePodsDoNotCome) {
  const auto fake = [&](const std::string& ns, const std::string& name) {
    api_.send("apps", "v1", "DaemonSet",
              R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"d-)" + name +
                  R"(","creationTimestamp":")" + rfc3339(api_.now) +
                  R"("},"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":)"
                  R"({"nvidia.com/gpu":"8"}}}]}}}})");
  };
  node("n", kStart - seconds(3600));
  fake("evil", "first");
  EXPECT_EQ(free("n"), 0);
  api_.scheduler.removed("apps", "DaemonSet", "evil", "first", api_.now);
  EXPECT_EQ(free("n"), 8);
  fake("evil", "second");
  EXPECT_EQ(free("n"), 8) << "the first one's pod did not come";
  fake("good", "other");
  EXPECT_EQ(free("n"), 0) << "of that nothing is known";
  api_.now += seconds(61);
  static_cast<void>(api_.scheduler.step(api_.now));
  EXPECT_EQ(free("n"), 8);
  fake("good", "third");
  EXPECT_EQ(free("n"), 8);
  fake("kube-system", "system");
  EXPECT_EQ(free("n"), 0);
  api_.scheduler.removed("apps", "DaemonSet", "kube-system", "system", api_.now);
  fake("kube-system", "again");
  EXPECT_EQ(free("n"), 0) << "no tenant writes there";
  api_.scheduler.removed("apps", "DaemonSet", "kube-system", "again", api_.now);
  api_.now += kDaemonDistrust;
  fake("evil", "later");
  EXPECT_EQ(free("n"), 0);
}

TEST_F(DaemonsTest, IsNotHeldForMoreThanANamespaceMayHave) {
  const auto set = [&](const std::string& ns, const std::string& name, const std::string& pod_spec = "") {
    api_.send("apps", "v1", "DaemonSet",
              R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"d","creationTimestamp":")" +
                  rfc3339(kStart) + R"("},"spec":{"template":{"spec":{)" + pod_spec +
                  R"("containers":[{"name":"c","resources":{"requests":{"pods-of-tenants":"1"}}}]}}}})");
  };
  node("n", kStart);
  const auto pods = [&] { return api_.scheduler.cluster().pods(); };
  const std::size_t before = pods();
  for (std::size_t i = 0; i < kMostDaemonSets + 5; ++i) {
    set("evil", "d" + std::to_string(i));
  }
  EXPECT_EQ(pods(), before + kMostDaemonSets);
  set("other", "long",
      R"("nodeSelector":{"pool":"gpus"},"tolerations":[{"key":")" + std::string(kMostDaemonBytes, 'x') + R"("}],)");
  EXPECT_EQ(pods(), before + kMostDaemonSets);
  set("other", "short");
  EXPECT_EQ(pods(), before + kMostDaemonSets + 1);
}

TEST_F(DaemonsTest, IsForgottenWithTheNode) {
  daemon_set(kStart);
  node("n", kStart);
  api_.scheduler.removed("", "Node", "", "n", api_.now);
  node("n", kStart - seconds(3600));
  EXPECT_EQ(free("n"), 7) << "the DaemonSet is new";
  api_.scheduler.removed("", "Node", "", "n", api_.now);
  api_.pass(seconds(61));
  node("n", kStart);
  EXPECT_EQ(free("n"), 8);
}

TEST_F(DaemonsTest, ThatIsMalformedIsPassedOver) {
  auto object =
      prune("apps", "v1", "DaemonSet",
            R"({"metadata":{"namespace":"default","name":"bad"},"spec":{"template":{"spec":{"containers":7}}}})");
  ASSERT_TRUE(object);
  EXPECT_FALSE(api_.scheduler.changed(std::move(*object), api_.now));
  node("n", kStart);
  EXPECT_EQ(free("n"), 8);
}

}  // namespace
}  // namespace gantree
