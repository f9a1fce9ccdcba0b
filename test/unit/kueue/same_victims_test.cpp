// Several for whom others have to go at the same time: what one of them was promised is not another's.
#include <gtest/gtest.h>

#include <set>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

class Preemptors : public SmallCluster {
 public:
  using SmallCluster::SmallCluster;

  // A job of low priority that runs, with one pod of its own name.
  void running(const std::string& name, int gpus) {
    job(name, 1, gpus);
    settle();
    pod(name, 0, name + "-0");
    settle();
    const Stored* stored = server.find(pod_key(name + "-0"));
    bind(name + "-0", stored->tree.str({"spec", "nodeSelector", "kubernetes.io/hostname"}));
    phase(name + "-0", "Running");
    settle();
  }
  void end_pod(const std::string& job) {
    server.remove(pod_key(job + "-0"));
    settle();
  }
  // Those whose leaving a job waits for.
  [[nodiscard]] std::set<std::string> waits_for(const std::string& job) const {
    const std::string key = "ns/" + workload(job).str({"metadata", "name"});
    return process.controller().workloads().at(key).blockers;
  }
  [[nodiscard]] std::string reason_of(const std::string& job, std::string_view condition) const {
    const Tree one = workload(job);
    const Tree* conditions = one.find({"status", "conditions"});
    for (std::size_t i = 0; conditions != nullptr && i < conditions->items.size(); ++i) {
      if (conditions->items[i].str({"type"}) == condition) {
        return conditions->items[i].str({"reason"});
      }
    }
    return {};
  }
  [[nodiscard]] std::string key_of(const std::string& job) const {
    return "ns/" + workload(job).str({"metadata", "name"});
  }
};

TEST(KueuePreemptors, OfTwoThatNeedTheSameHostOnlyOneWaitsForItsHolderToLeave) {
  Preemptors cluster;
  cluster.node("a", 8);
  cluster.running("victim", 8);
  cluster.job("first", 1, 8, "high");
  cluster.job("second", 1, 8, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("victim"));
  EXPECT_EQ(cluster.waits_for("first"), std::set{cluster.key_of("victim")});
  EXPECT_EQ(cluster.reason_of("first", "QuotaReserved"), "WaitingForPreemptedWorkloads");
  EXPECT_TRUE(cluster.waits_for("second").empty());
  EXPECT_EQ(cluster.reason_of("second", "QuotaReserved"), "TopologyPlacementFailed");

  cluster.end_pod("victim");
  EXPECT_TRUE(cluster.admitted("first"));
  EXPECT_FALSE(cluster.admitted("second"));
  EXPECT_EQ(cluster.reason_of("first", "Evicted"), "");
}

TEST(KueuePreemptors, OfTwoThatNeedTheSameQuotaOnlyOneWaitsForItsHolderToLeave) {
  Preemptors cluster({}, true, 8);
  cluster.node("a", 8);
  cluster.node("b", 8);
  cluster.running("victim", 8);
  cluster.job("first", 1, 8, "high");
  cluster.job("second", 1, 8, "high");
  cluster.settle();
  EXPECT_EQ(cluster.waits_for("first"), std::set{cluster.key_of("victim")});
  EXPECT_TRUE(cluster.waits_for("second").empty());
  EXPECT_EQ(cluster.reason_of("second", "QuotaReserved"), "WaitingForQuota");

  cluster.end_pod("victim");
  EXPECT_TRUE(cluster.admitted("first"));
  EXPECT_FALSE(cluster.admitted("second"));
}

TEST(KueuePreemptors, TwoThatNeedAHostEachHaveOneHolderEachLeave) {
  Preemptors cluster;
  cluster.node("a", 8);
  cluster.node("b", 8);
  cluster.running("x", 8);
  cluster.running("y", 8);
  cluster.job("first", 1, 8, "high");
  cluster.job("second", 1, 8, "high");
  cluster.settle();
  const std::set<std::string> of_first = cluster.waits_for("first");
  const std::set<std::string> of_second = cluster.waits_for("second");
  EXPECT_EQ(of_first.size(), 1U);
  EXPECT_EQ(of_second.size(), 1U);
  EXPECT_NE(of_first, of_second);

  const std::string one = of_first.contains(cluster.key_of("x")) ? "x" : "y";
  cluster.end_pod(one);
  EXPECT_TRUE(cluster.admitted("first"));
  EXPECT_FALSE(cluster.admitted("second"));
  cluster.end_pod(one == "x" ? "y" : "x");
  EXPECT_TRUE(cluster.admitted("second"));
}

// Half of a host is a running job's, the other half is named by a pod of another scheduler as its own.
struct Nominated : Preemptors {
  explicit Nominated(int priority) {
    node("a", 8);
    running("victim", 4);
    put("", "v1", "Pod",
        fmt::format("{{'metadata':{{'name':'theirs','namespace':'ns'}},'spec':{{'schedulerName':'default-scheduler',"
                    "'priority':{},'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'4'}}}}}}]}},"
                    "'status':{{'phase':'Pending','nominatedNodeName':'a'}}}}",
                    priority));
    settle();
    job("first", 1, 8, "high");
    settle();
  }
  [[nodiscard]] std::string nominated() const {
    return server.find(pod_key("theirs"))->tree.str({"status", "nominatedNodeName"});
  }
};

TEST(KueuePreemptors, TakeTheRoomThatPodsOfLowerPriorityNameAndClearIt) {
  Nominated cluster(50);
  EXPECT_TRUE(cluster.suspended("victim"));
  EXPECT_EQ(cluster.nominated(), "");
  cluster.end_pod("victim");
  EXPECT_TRUE(cluster.admitted("first"));
}

TEST(KueuePreemptors, LeaveTheRoomToPodsOfHigherPriorityThatNameIt) {
  Nominated cluster(200);
  EXPECT_FALSE(cluster.suspended("victim")) << "without the other half that would help nobody";
  EXPECT_EQ(cluster.nominated(), "a");
  EXPECT_FALSE(cluster.admitted("first"));
}

}  // namespace
}  // namespace gantree::test
