// What goes on as it should though another leads meanwhile, a queue is stopped, or writes fail.
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

std::int64_t free_on(Process& process, const std::string& node) {
  const Inventory& inventory = process.cluster().inventory();
  return inventory.free(*inventory.find(node), *inventory.resources().find("nvidia.com/gpu"));
}

// The host that a pod was sent to.
std::string host_of(const SmallCluster& cluster, const std::string& pod) {
  return cluster.server.find(SmallCluster::pod_key(pod))->tree.str({"spec", "nodeSelector", "kubernetes.io/hostname"});
}

TEST(KueueHandOver, WhoeverStandsByHoldsRoomWhereTheOneThatLeadsHasPutAJobAndNotWhereItPutItItself) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.process.stop_leading(cluster.now);
  cluster.node("b", 4);
  cluster.node("a", 4, "r0", true);
  Process other({});
  cluster.server.list_all_again();
  cluster.settle(other);
  ASSERT_TRUE(cluster.admitted("j"));

  cluster.server.list_all_again();
  cluster.tell();
  cluster.process.stand_by();
  EXPECT_EQ(free_on(cluster.process, "a"), 4);
  EXPECT_EQ(free_on(cluster.process, "b"), 0);
}

TEST(KueueStops, AJobThatAQueueOnHoldLetsRunGetsAnotherHostForOneThatIsLost) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.settle();
  const std::string lost = host_of(cluster, "p");
  cluster.bind("p", lost);
  cluster.phase("p", "Running");
  cluster.server.change(FakeServer::key("ClusterQueue", "", "c"),
                        [](Tree& queue) { queue.at({"spec", "stopPolicy"}) = Tree::string("Hold"); });
  cluster.settle();
  cluster.server.remove(FakeServer::key("Node", "", lost));
  cluster.server.remove(SmallCluster::pod_key("p"));
  cluster.pod("j", 0, "next");
  cluster.settle();
  EXPECT_EQ(host_of(cluster, "next"), lost == "a" ? "b" : "a");
}

TEST(KueueWrites, AWorkloadFollowsItsJobHoweverOftenThatWriteFails) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 8, 1);  // more than there is
  cluster.settle();
  ASSERT_FALSE(cluster.admitted("j"));
  cluster.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"spec", "parallelism"}) = Tree::number(2);
    job.at({"spec", "completions"}) = Tree::number(2);
  });
  int failures = 5;
  for (int round = 0; round < 200; ++round) {
    cluster.tell();
    for (const Order& order : cluster.process.step(cluster.now)) {
      const bool follows = order.write.body.find("podSets") != std::string::npos;
      const bool done = !(follows && failures-- > 0) && cluster.server.apply(order.write) == WriteResult::kOk;
      cluster.process.answered(order.id, done ? Answer::kDone : Answer::kUncertain, cluster.now);
    }
    cluster.now += std::chrono::seconds(1);
  }
  EXPECT_LT(failures, 0);
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(KueueStrictQueue, WhereTheFirstIsDeletedOthersAreEvictedForTheNext) {
  SmallCluster cluster({}, true, 4);
  cluster.server.change(FakeServer::key("ClusterQueue", "", "c"),
                        [](Tree& queue) { queue.at({"spec", "queueingStrategy"}) = Tree::string("StrictFIFO"); });
  cluster.node("a", 8);
  cluster.job("low", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("low"));
  cluster.job("first", 1, 8, "high");  // more than the queue ever has
  cluster.job("next", 1, 4, "high");
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("low"));
  const std::string workload = cluster.workload("first").str({"metadata", "name"});
  cluster.server.remove(FakeServer::key("Job", "ns", "first"));
  cluster.server.remove(FakeServer::key("Workload", "ns", workload));
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("low"));
  EXPECT_TRUE(cluster.admitted("next"));
}

TEST(KueueRestart, AJobThatItsUserStartedInTheMomentOfItsAdmissionIsStoppedByTheNextProcessToo) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.write_workloads_alone();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.server.change(FakeServer::key("Job", "ns", "j"),
                        [](Tree& job) { job.at({"spec", "suspend"}) = Tree::boolean(false); });
  Process next({});
  cluster.server.list_all_again();
  cluster.settle(next);
  const Tree& job = cluster.server.find(FakeServer::key("Job", "ns", "j"))->tree;
  EXPECT_FALSE(job.flag({"spec", "suspend"}));
  EXPECT_NE(job.str({"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/workload"}), "")
      << "it was stopped, and started with the marks by which its pods go to their places";
}

TEST(KueueHosts, APodThatComesBackWithAHostThatWasReplacedMakesWayForOneWhereItBelongs) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.settle();
  cluster.bind("p", "a");
  cluster.phase("p", "Running");
  cluster.settle();
  cluster.node("b", 4);
  cluster.server.remove(FakeServer::key("Node", "", "a"));
  cluster.settle();
  cluster.node("a", 4);
  cluster.settle();
  const Tree& pod = cluster.server.find(SmallCluster::pod_key("p"))->tree;
  EXPECT_NE(pod.find({"metadata", "deletionTimestamp"}), nullptr);
  cluster.server.remove(SmallCluster::pod_key("p"));
  cluster.pod("j", 0, "next");
  cluster.settle();
  EXPECT_EQ(host_of(cluster, "next"), "b");
}

}  // namespace
}  // namespace gantree::test
