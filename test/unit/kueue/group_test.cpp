// Groups of pods that lose some of them: what their Workload is told, and what becomes of its place in the queue.
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

class KueueGroup : public testing::Test {
 protected:
  void put(const std::string& group, const std::string& name, int total = 2) {
    cluster_.put(
        "", "v1", "Pod",
        fmt::format(
            "{{'metadata':{{'name':'{0}','namespace':'ns','creationTimestamp':'2026-01-01T00:00:00Z',"
            "'labels':{{'kueue.x-k8s.io/managed':'true','kueue.x-k8s.io/queue-name':'q',"
            "'kueue.x-k8s.io/pod-group-name':'{1}'}},'annotations':{{'kueue.x-k8s.io/pod-group-total-count':'{2}',"
            "'kueue.x-k8s.io/role-hash':'r'}}}},'spec':{{'schedulingGates':[{{'name':'kueue.x-k8s.io/admission'}},"
            "{{'name':'kueue.x-k8s.io/topology'}}],'containers':[{{'name':'c','resources':{{'requests':"
            "{{'nvidia.com/gpu':'1'}}}}}}]}},'status':{{'phase':'Pending'}}}}",
            name, group, total));
    cluster_.settle();
  }
  // As its host does, where it was sent.
  void run(const std::string& pod) {
    cluster_.bind(
        pod,
        cluster_.server.find(SmallCluster::pod_key(pod))->tree.str({"spec", "nodeSelector", "kubernetes.io/hostname"}));
    cluster_.phase(pod, "Running");
    cluster_.settle();
  }
  [[nodiscard]] const Tree* workload(const std::string& group) const {
    const Stored* stored = cluster_.server.find(FakeServer::key("Workload", "ns", group));
    return stored == nullptr ? nullptr : &stored->tree;
  }
  // Status and reason.
  [[nodiscard]] std::string waiting_for_pods(const std::string& group) const {
    const Tree* conditions = workload(group)->find({"status", "conditions"});
    for (const Tree& one : conditions == nullptr ? std::vector<Tree>() : conditions->items) {
      if (one.str({"type"}) == "WaitingForReplacementPods") {
        return one.str({"status"}) + " " + one.str({"reason"});
      }
    }
    return "";
  }
  [[nodiscard]] bool admitted(const std::string& group) const {
    return workload(group) != nullptr && workload(group)->find({"status", "admission"}) != nullptr;
  }

  SmallCluster cluster_;
};

TEST_F(KueueGroup, ThatLacksNothingIsToldNothing) {
  cluster_.node("a", 4);
  put("g", "p0");
  put("g", "p1");
  ASSERT_TRUE(admitted("g"));
  EXPECT_EQ(waiting_for_pods("g"), "");
}

TEST_F(KueueGroup, OfWhichAPodFailsWaitsForAnother) {
  cluster_.node("a", 4);
  put("g", "p0");
  put("g", "p1");
  run("p0");
  run("p1");
  cluster_.phase("p1", "Failed");
  cluster_.settle();
  EXPECT_EQ(waiting_for_pods("g"), "True PodsFailed");
  put("g", "other");
  EXPECT_EQ(waiting_for_pods("g"), "False PodsReady");
  EXPECT_TRUE(admitted("g"));
}

TEST_F(KueueGroup, LacksNothingAsLongAsAPodThatGoesStillRuns) {
  cluster_.node("a", 4);
  put("g", "p0");
  put("g", "p1");
  run("p0");
  run("p1");
  cluster_.server.change(SmallCluster::pod_key("p1"), [](Tree& one) {
    one.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:00Z");
  });
  cluster_.settle();
  EXPECT_EQ(waiting_for_pods("g"), "");
  cluster_.server.remove(SmallCluster::pod_key("p1"));
  cluster_.settle();
  EXPECT_EQ(waiting_for_pods("g"), "True PodsFailed");
}

TEST_F(KueueGroup, LacksNothingWhereThosePodsAreGoneThatHadSucceeded) {
  cluster_.node("a", 4);
  put("g", "p0");
  put("g", "p1");
  run("p0");
  run("p1");
  cluster_.phase("p1", "Succeeded");
  cluster_.settle();
  cluster_.server.remove(SmallCluster::pod_key("p1"));
  cluster_.settle();
  EXPECT_EQ(waiting_for_pods("g"), "");
}

TEST_F(KueueGroup, ThatIsEvictedWaitsForItsPodsByTheReasonOfThat) {
  cluster_.node("a", 4);
  put("g", "p0");
  put("g", "p1");
  run("p0");
  run("p1");
  cluster_.server.change(FakeServer::key("Workload", "ns", "g"),
                         [](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(false); });
  cluster_.settle();
  cluster_.server.remove(SmallCluster::pod_key("p1"));
  cluster_.settle();
  EXPECT_EQ(waiting_for_pods("g"), "True Deactivated");
}

TEST_F(KueueGroup, ThatLosesAPodWhileItWaitsKeepsItsPlaceAndHoldsUpNobody) {
  cluster_.server.change(FakeServer::key("ClusterQueue", "", "c"),
                         [](Tree& queue) { queue.at({"spec", "queueingStrategy"}) = Tree::string("StrictFIFO"); });
  put("g", "p0");
  put("g", "p1");
  ASSERT_NE(workload("g"), nullptr);
  const std::string uid = workload("g")->str({"metadata", "uid"});
  cluster_.server.remove(SmallCluster::pod_key("p1"));
  cluster_.settle();
  ASSERT_NE(workload("g"), nullptr);
  EXPECT_EQ(waiting_for_pods("g"), "True PodsFailed");
  cluster_.node("a", 4);
  cluster_.settle();
  EXPECT_FALSE(admitted("g"));
  put("h", "h0", 1);
  EXPECT_TRUE(admitted("h"));
  put("g", "other");
  EXPECT_TRUE(admitted("g"));
  EXPECT_EQ(workload("g")->str({"metadata", "uid"}), uid);
  EXPECT_EQ(waiting_for_pods("g"), "False PodsReady");
}

TEST_F(KueueGroup, ThatIsEvictedIsNotAdmittedAgainBeforeItsPodsAreKnownToBeHeld) {
  put("g", "p0");
  put("g", "p1");
  cluster_.node("a", 4);
  std::vector<std::uint64_t> releases;
  const auto go_on = [&] {
    for (int round = 0; round < 10; ++round) {
      cluster_.tell();
      for (const Order& order : cluster_.process.step(cluster_.now)) {
        if (order.write.object.kind == "Pod" && order.write.body.find("schedulingGates") != std::string::npos) {
          releases.push_back(order.id);  // on its way for long
        } else {
          static_cast<void>(cluster_.server.apply(order.write));
          cluster_.process.answered(order.id, Answer::kDone, cluster_.now);
        }
      }
      cluster_.now += std::chrono::seconds(1);
    }
  };
  const auto activate = [&](bool active) {
    cluster_.server.change(FakeServer::key("Workload", "ns", "g"),
                           [&](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(active); });
    go_on();
  };
  go_on();
  ASSERT_TRUE(admitted("g"));
  ASSERT_EQ(releases.size(), 2U);
  activate(false);
  ASSERT_FALSE(admitted("g"));
  activate(true);
  EXPECT_FALSE(admitted("g")) << "its pods may be released to where they were sent before";
  for (const std::uint64_t release : std::exchange(releases, {})) {
    cluster_.process.answered(release, Answer::kRefused, cluster_.now);
  }
  go_on();
  EXPECT_TRUE(admitted("g"));
}

TEST_F(KueueGroup, ThatIsMadeAnewWithOtherPodsAsksForThose) {
  put("g", "p0");
  put("g", "p1");
  ASSERT_NE(workload("g"), nullptr);
  for (const char* pod : {"p0", "p1"}) {
    cluster_.server.remove(SmallCluster::pod_key(pod));
  }
  cluster_.settle();
  EXPECT_EQ(workload("g"), nullptr) << "nothing is left of it";
  for (const char* pod : {"p0", "p1", "p2"}) {
    put("g", pod, 3);
  }
  ASSERT_NE(workload("g"), nullptr);
  EXPECT_EQ(workload("g")->find({"spec", "podSets"})->items.front().num({"count"}, 0), 3);
}

}  // namespace
}  // namespace gantree::test
