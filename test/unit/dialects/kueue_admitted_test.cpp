// Jobs that were admitted have their room, also before they have pods.
#include <gtest/gtest.h>

#include "cycle/cycle.h"
#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

// Two racks of two hosts of eight gpus.
std::string nodes() {
  std::string yaml;
  for (const std::string name : {"r1a", "r1b", "r2a", "r2b"}) {
    yaml += "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
            ", labels: {pool: tas, net/block: b1, net/rack: " + name.substr(0, 2) +
            ", kubernetes.io/hostname: " + name +
            "}}, status: {allocatable: {cpu: 64, pods: 110, nvidia.com/gpu: 8}}}\n";
  }
  return yaml;
}

// The Workload of a Job; `status` is a flow map without its braces.
std::string workload(const std::string& job, const std::string& status) {
  return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w, namespace: default, "
         "ownerReferences: [{kind: Job, name: " +
         job + ", controller: true}]}, spec: {queueName: queue, podSets: [{name: main, count: 2}]}, status: {" +
         status + "}}\n";
}

const std::string kOnBothOfR2 =
    "admission: {clusterQueue: cq, podSetAssignments: [{name: main, flavors: {nvidia.com/gpu: tas}, "
    "topologyAssignment: {levels: [kubernetes.io/hostname], slices: [{domainCount: 2, valuesPerLevel: [{individual: "
    "{prefix: r2, roots: [a, b]}}], podCounts: {universal: 1}}]}}]}";

std::string pod(const std::string& name, const std::string& spec) {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         ", namespace: default, ownerReferences: [{kind: Job, name: a, controller: true}]}, spec: {containers: [{name: "
         "c, resources: {requests: {nvidia.com/gpu: 1}}}], " +
         spec + "}}\n";
}

TEST(KueueAdmitted, TheRoomOfAnAdmittedJobIsNotGivenToOthersInAPlan) {
  World world(kSetup + nodes() + job("a", 2, required("net/rack")) + workload("a", kOnBothOfR2));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_TRUE(world.reading->queue.empty());
  const ResourceId gpu = world.resource("nvidia.com/gpu");
  EXPECT_EQ(world.cluster.inventory().free(*world.cluster.inventory().find("r2a"), gpu), 7);
  ASSERT_EQ(world.cluster.running().size(), 1U);
  EXPECT_EQ(world.cluster.running().front().pods(), 2);
  EXPECT_FALSE(world.cluster.running().front().used.empty());
}

TEST(KueueAdmitted, OfAnAdmittedJobOnlyThePodsThatAreYetToComeAreHeldRoomFor) {
  World world(kSetup + nodes() + job("a", 2, required("net/rack")) + workload("a", kOnBothOfR2) +
              pod("a-0", "nodeName: r2a") + pod("a-1", "schedulingGates: [{name: kueue.x-k8s.io/topology}]"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_TRUE(world.reading->queue.empty());
  const ResourceId gpu = world.resource("nvidia.com/gpu");
  const Inventory& inventory = world.cluster.inventory();
  EXPECT_EQ(inventory.free(*inventory.find("r2a"), gpu), 7);
  EXPECT_EQ(inventory.free(*inventory.find("r2b"), gpu), 7);
  ASSERT_EQ(world.cluster.running().size(), 1U);
  EXPECT_EQ(world.cluster.running().front().pods(), 2);
}

TEST(KueueAdmitted, APlanKeepsAJobThatWasAdmittedToARackInIt) {
  World world(kSetup + nodes() + job("a", 2, required("net/rack")) +
              workload("a",
                       "admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 2, topologyAssignment: "
                       "{levels: [net/block, net/rack], domains: [{values: [b1, r2], count: 2}]}}]}"));
  ASSERT_TRUE(world.reading) << world.error();
  const Plan plan = run_cycle(world.cluster, world.quota, std::move(world.reading->queue));
  ASSERT_EQ(plan.decisions.size(), 1U);
  ASSERT_EQ(plan.decisions.front().state, GangState::kPlaced) << plan.decisions.front().message;
  for (const HostShare& share : plan.decisions.front().pod_sets.front().hosts) {
    EXPECT_TRUE(world.cluster.inventory().node(share.node).name.starts_with("r2"));
  }
}

}  // namespace
}  // namespace gantree
