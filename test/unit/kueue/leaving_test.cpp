// What leaves already, and whom others do not have to go for then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using testing::HasSubstr;

// A second queue, of its own tree and flavor.
void add_other_queue(SmallCluster& cluster) {
  cluster.put(SmallCluster::kGroup, "v1beta2", "ResourceFlavor",
              "{'metadata':{'name':'g'},'spec':{'nodeLabels':{'pool':'g'},'topologyName':'net'}}");
  cluster.put(
      SmallCluster::kGroup, "v1beta2", "ClusterQueue",
      "{'metadata':{'name':'d'},'spec':{'namespaceSelector':{},'resourceGroups':[{'coveredResources':"
      "['nvidia.com/gpu'],'flavors':[{'name':'g','resources':[{'name':'nvidia.com/gpu','nominalQuota':4}]}]}]}}");
  cluster.put(SmallCluster::kGroup, "v1beta2", "LocalQueue",
              "{'metadata':{'name':'other','namespace':'ns'},'spec':{'clusterQueue':'d'}}");
  cluster.put("", "v1", "Node",
              "{'metadata':{'name':'z','labels':{'kubernetes.io/hostname':'z','rack':'r9','pool':'g'}},"
              "'status':{'allocatable':{'nvidia.com/gpu':'4','pods':'110'},"
              "'conditions':[{'type':'Ready','status':'True'}]}}");
}

// A job with one pod, which runs; it is deleted, and its pod does not go.
void leaves(SmallCluster& cluster, const std::string& name, int gpus, const std::string& node,
            const std::string& queue = "q") {
  cluster.job(name, 1, gpus);
  cluster.server.change(FakeServer::key("Job", "ns", name), [&](Tree& job) {
    job.at({"metadata", "labels", "kueue.x-k8s.io/queue-name"}) = Tree::string(queue);
  });
  cluster.settle();
  ASSERT_TRUE(cluster.admitted(name));
  cluster.pod(name, 0, name + "-0");
  cluster.settle();
  cluster.bind(name + "-0", node);
  cluster.phase(name + "-0", "Running");
  cluster.settle();
  const std::string workload = cluster.workload(name).str({"metadata", "name"});
  cluster.server.remove(FakeServer::key("Job", "ns", name));
  cluster.server.remove(FakeServer::key("Workload", "ns", workload));
  cluster.settle();
}

TEST(KueueLeaving, WhatLeavesElsewhereHoldsUpNobodysEvictions) {
  SmallCluster cluster;
  cluster.node("a", 4);
  add_other_queue(cluster);
  leaves(cluster, "gone", 4, "z", "other");
  cluster.job("low", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("low"));
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("urgent")) << "a pod of another queue, on another host, is none of its business";
  EXPECT_FALSE(cluster.admitted("low"));
}

TEST(KueueLeaving, NobodyIsEvictedWhereWhatLeavesIsEnough) {
  SmallCluster cluster({}, true, 8);
  cluster.node("a", 4);
  cluster.node("b", 4);
  leaves(cluster, "gone", 4, "a");
  cluster.job("low", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("low"));
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("low"));
  EXPECT_FALSE(cluster.admitted("urgent"));
  cluster.server.remove(SmallCluster::pod_key("gone-0"));
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("urgent"));
  EXPECT_TRUE(cluster.admitted("low"));
}

TEST(KueueLeaving, WhatDoesNotGoInAMinuteIsNotWaitedFor) {
  SmallCluster cluster({}, true, 8);
  cluster.node("a", 4);
  cluster.node("b", 4);
  leaves(cluster, "gone", 4, "a");
  cluster.job("low", 1, 4);
  cluster.settle();
  cluster.job("urgent", 1, 4, "high");
  for (int i = 0; i < 12; ++i) {
    cluster.settle();
  }
  EXPECT_TRUE(cluster.admitted("low")) << "48 seconds have passed";
  for (int i = 0; i < 5; ++i) {
    cluster.settle();
  }
  EXPECT_FALSE(cluster.admitted("low"));
  EXPECT_TRUE(cluster.admitted("urgent"));
}

TEST(KueueLeaving, OnlyWhatIsMissingBesideItIsEvicted) {
  SmallCluster cluster({}, true, 12);
  for (const char* name : {"a", "b", "c"}) {
    cluster.node(name, 4);
  }
  leaves(cluster, "gone", 4, "a");
  cluster.job("low", 1, 4);
  cluster.settle();
  cluster.job("lower", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("low") && cluster.admitted("lower"));
  cluster.job("urgent", 2, 4, "high");
  cluster.settle();
  EXPECT_NE(cluster.admitted("low"), cluster.admitted("lower")) << "the host of the one that leaves is the second";
  EXPECT_FALSE(cluster.admitted("urgent"));
  cluster.server.remove(SmallCluster::pod_key("gone-0"));
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("urgent"));
}

TEST(KueueLeaving, ItsPlaceIsNotGivenToAnotherMeanwhile) {
  SmallCluster cluster({}, true, 8);
  cluster.node("a", 4);
  leaves(cluster, "gone", 4, "a");
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("urgent"));
  const auto held_until = [&] {
    return cluster.process.controller()
        .workloads()
        .at("ns/" + cluster.workload("urgent").str({"metadata", "name"}))
        .held_until;
  };
  const std::optional<Time> until = held_until();
  ASSERT_TRUE(until);
  // The annotation of a namespace, and the queue of others, are none of its business.
  cluster.server.change(FakeServer::key("Namespace", "", "ns"),
                        [](Tree& one) { one.at({"metadata", "annotations", "note"}) = Tree::string("x"); });
  add_other_queue(cluster);
  cluster.settle();
  EXPECT_EQ(held_until(), until) << "it keeps what it was promised";
  cluster.server.remove(SmallCluster::pod_key("gone-0"));
  cluster.job("late", 1, 4, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("urgent"));
  EXPECT_FALSE(cluster.admitted("late"));
}

}  // namespace
}  // namespace gantree::test
