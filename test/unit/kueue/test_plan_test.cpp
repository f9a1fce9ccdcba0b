// The lines of the test plan of Kueue's topology proposal, "unit tests", one test each and in its order. Its
// integration tests, and these once more, are in test/e2e/kueue_jobs_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using testing::HasSubstr;

constexpr const char* kRequired = "kueue.x-k8s.io/podset-required-topology";
constexpr const char* kPreferred = "kueue.x-k8s.io/podset-preferred-topology";

// A job of pods with four GPUs each, which is what a host has.
void submit(SmallCluster& cluster, int pods, const std::string& annotation) {
  cluster.job("train", pods, 4);
  cluster.server.change(FakeServer::key("Job", "ns", "train"), [&](Tree& job) {
    job.at({"spec", "template", "metadata", "annotations", annotation}) = Tree::string("rack");
  });
  cluster.settle();
}

// Hosts a0, a1, ... of rack a and so on, of four GPUs each.
void build(SmallCluster& cluster, const std::vector<std::string>& racks, int hosts) {
  for (const std::string& rack : racks) {
    for (int host = 0; host < hosts; ++host) {
      cluster.node(fmt::format("{}{}", rack, host), 4, rack);
    }
  }
}

std::string assignment(const SmallCluster& cluster) {
  const Tree workload = cluster.workload("train");
  const Tree* sets = workload.find({"status", "admission", "podSetAssignments"});
  return sets == nullptr ? "" : sets->items.front().find({"topologyAssignment"})->to_json();
}

std::string why_it_waits(const SmallCluster& cluster) {
  const Tree workload = cluster.workload("train");
  for (const Tree& condition : workload.find({"status", "conditions"})->items) {
    if (condition.str({"type"}) == "QuotaReserved" && condition.str({"status"}) == "False") {
      return condition.str({"reason"});
    }
  }
  return {};
}

TEST(TestPlan, ANewNodeIsAddedMakingWorkloadAdmissionPossible) {
  SmallCluster cluster;
  build(cluster, {"a"}, 1);
  submit(cluster, 2, kRequired);
  EXPECT_FALSE(cluster.admitted("train"));
  cluster.node("a1", 4, "a");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("train"));
}

TEST(TestPlan, ThePodSetAssignmentIsComputedSuccessfullyForPodsetRequiredTopology) {
  SmallCluster cluster;
  build(cluster, {"a", "b"}, 2);
  submit(cluster, 2, kRequired);
  ASSERT_TRUE(cluster.admitted("train"));
  EXPECT_THAT(assignment(cluster), HasSubstr(R"("prefix":"a","roots":["0","1"])"));
}

TEST(TestPlan, ThePodSetAssignmentCannotBeComputedForPodsetRequiredTopology) {
  SmallCluster cluster;
  build(cluster, {"a", "b"}, 2);
  submit(cluster, 3, kRequired);
  EXPECT_FALSE(cluster.admitted("train"));
  EXPECT_EQ(why_it_waits(cluster), "TopologyPlacementFailed");
}

TEST(TestPlan, ThePodSetAssignmentIsComputedSuccessfullyForPodsetPreferredTopologyAcrossMultipleValues) {
  SmallCluster cluster;
  build(cluster, {"a", "b"}, 2);
  submit(cluster, 3, kPreferred);
  ASSERT_TRUE(cluster.admitted("train"));
  EXPECT_THAT(assignment(cluster), HasSubstr("a0"));
  EXPECT_THAT(assignment(cluster), HasSubstr("b0"));
}

TEST(TestPlan, ThePodSetAssignmentCannotBeComputedForPodsetPreferredTopology) {
  SmallCluster cluster;
  build(cluster, {"a", "b"}, 2);
  submit(cluster, 5, kPreferred);
  EXPECT_FALSE(cluster.admitted("train"));
  EXPECT_EQ(why_it_waits(cluster), "TopologyPlacementFailed");
}

TEST(TestPlan, TheSchedulingGateIsAddedToThePodTemplate) {
  SmallCluster cluster;
  build(cluster, {"a"}, 1);
  submit(cluster, 1, kRequired);
  ASSERT_TRUE(cluster.admitted("train"));
  const Tree job = cluster.server.find(FakeServer::key("Job", "ns", "train"))->tree;
  const Tree* gates = job.find({"spec", "template", "spec", "schedulingGates"});
  ASSERT_NE(gates, nullptr);
  EXPECT_EQ(gates->items.front().str({"name"}), "kueue.x-k8s.io/topology");
}

}  // namespace
}  // namespace gantree::test
