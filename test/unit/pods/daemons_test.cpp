// Room for pods of DaemonSets that nodes are about to get.
#include "pods/daemons.h"

#include <gtest/gtest.h>

#include "unit/pods/fake_api.h"

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
  void daemon_set_in(const std::string& ns, const std::string& name, int gpus) {
    api_.send("apps", "v1", "DaemonSet",
              R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"d-)" + name +
                  R"(","creationTimestamp":")" + rfc3339(api_.now) +
                  R"("},"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":)"
                  R"({"nvidia.com/gpu":")" +
                  std::to_string(gpus) + R"("}}}]}}}})");
  }
  void lose_set(const std::string& ns, const std::string& name) {
    api_.scheduler.removed("apps", "DaemonSet", ns, name, api_.now);
  }
  void pass(seconds time) {
    api_.now += time;
    static_cast<void>(api_.scheduler.step(api_.now));
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
  node("n", kStart - seconds(3600));
  daemon_set_in("evil", "first", 8);
  EXPECT_EQ(free("n"), 0);
  lose_set("evil", "first");
  EXPECT_EQ(free("n"), 8);
  daemon_set_in("evil", "second", 8);
  EXPECT_EQ(free("n"), 8) << "the first one's pod did not come";
  daemon_set_in("good", "other", 8);
  EXPECT_EQ(free("n"), 0) << "of that nothing is known";
  pass(seconds(61));
  EXPECT_EQ(free("n"), 8);
  daemon_set_in("good", "third", 8);
  EXPECT_EQ(free("n"), 8);
  daemon_set_in("kube-system", "system", 8);
  EXPECT_EQ(free("n"), 0);
  lose_set("kube-system", "system");
  daemon_set_in("kube-system", "again", 8);
  EXPECT_EQ(free("n"), 0) << "no tenant writes there";
}

TEST_F(DaemonsTest, IsNotHeldForTwiceAsLongEachTimeThePodsDoNotCome) {
  node("n", kStart - seconds(3600));
  int number = 0;
  const auto holds = [&] {
    const std::string name = "d" + std::to_string(++number);
    daemon_set_in("evil", name, 8);
    const bool held = free("n") == 0;
    lose_set("evil", name);
    return held;
  };
  ASSERT_TRUE(holds());
  seconds held_off = kDaemonDistrust;
  for (int i = 0; i < 8; ++i) {
    pass(held_off - seconds(1));
    EXPECT_FALSE(holds()) << held_off.count();
    pass(seconds(1));
    EXPECT_TRUE(holds()) << held_off.count();
    held_off = std::min(2 * held_off, kLongestDaemonDistrust);
  }
  EXPECT_EQ(held_off, kLongestDaemonDistrust);
  pass(2 * kLongestDaemonDistrust);
  EXPECT_TRUE(holds());
  pass(kDaemonDistrust);
  EXPECT_TRUE(holds()) << "an hour after the last pause all is forgotten";
}

TEST_F(DaemonsTest, IsHeldAgainOnceEveryPodThatWasLateHasCome) {
  for (const char* name : {"a", "b", "c"}) {
    node(name, kStart - seconds(3600));
  }
  daemon_set(kStart);
  pass(seconds(61));
  EXPECT_EQ(free("a"), 8);
  agent("agent-a", "a");
  agent("agent-b", "b");
  daemon_set_in("default", "second", 2);
  EXPECT_EQ(free("a"), 7) << "a third pod is missing still";
  lose_set("default", "second");
  agent("agent-c", "c");
  daemon_set_in("default", "third", 2);
  EXPECT_EQ(free("a"), 5);
}

TEST_F(DaemonsTest, IsHeldAgainWhenTheNodeIsGoneWhosePodWasLate) {
  node("a", kStart - seconds(3600));
  node("b", kStart - seconds(3600));
  daemon_set(kStart);
  pass(seconds(61));
  agent("agent-a", "a");
  api_.scheduler.removed("", "Node", "", "b", api_.now);
  daemon_set_in("default", "second", 2);
  EXPECT_EQ(free("a"), 5);
}

// Pods that ask for nothing come at once, whatever the quota.
TEST_F(DaemonsTest, IsNotHeldAgainForPodsSmallerThanThoseThatWereMissing) {
  node("n", kStart - seconds(3600));
  daemon_set(kStart, "", 8);
  pass(seconds(61));
  agent("agent-small", "n");
  daemon_set_in("default", "second", 7);
  EXPECT_EQ(free("n"), 7) << "the pod that came has 1 of 8 GPUs";
  daemon_set(kStart, "", 1);
  agent("agent-small", "n");
  daemon_set_in("default", "third", 7);
  EXPECT_EQ(free("n"), 7) << "the DaemonSet asks for less than was held for it";
}

// Pods may say that they are anybody's.
TEST(Daemons, KeepNothingOfThoseThatAreGoneWithTheirPods) {
  Cluster cluster;
  Node node;
  node.name = "n";
  cluster.upsert_node(node);
  Daemons daemons(cluster);
  for (int i = 0; i < 100; ++i) {
    const std::string set = "evil/d" + std::to_string(i);
    daemons.pod_bound(set + "-x", set, i % 2 == 0 ? "n" : "unknown", {});
  }
  daemons.pod_bound("evil/other-x", "evil/one", "n", {});
  EXPECT_EQ(daemons.known(), 100U) << "a pod of another name than its DaemonSet's would never be found again";
  for (int i = 0; i < 100; i += 2) {
    daemons.pod_gone("evil/d" + std::to_string(i) + "-x", "n", kStart);
  }
  EXPECT_EQ(daemons.known(), 50U);
  daemons.node_removed("unknown");
  EXPECT_EQ(daemons.known(), 0U);
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
