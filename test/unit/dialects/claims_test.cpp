// Who made which pod: through owners, through labels where objects in between are missing, and in circles.
#include <gtest/gtest.h>

#include <map>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

constexpr char kContainers[] = "containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]";

std::string node(const std::string& name) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {net/rack: r-" + name +
         "}}, status: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 8}}}\n";
}

std::string pod(const std::string& name, const std::string& owner_kind, const std::string& owner,
                const std::string& labels, const std::string& host = "a", const std::string& annotations = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default, labels: {" + labels +
         "}, annotations: {" + annotations + "}, ownerReferences: [{kind: " + owner_kind + ", name: " + owner +
         ", controller: true}]}, spec: {" + (host.empty() ? "" : "nodeName: " + host + ", ") + kContainers + "}}\n";
}

std::string member(int worker, const std::string& host = "a", const std::string& annotations = "") {
  const std::string prefix = "leaderworkerset.sigs.k8s.io/";
  return pod(
      worker == 0 ? "s-0" : "s-0-" + std::to_string(worker), "StatefulSet", worker == 0 ? "s" : "s-0",
      prefix + "name: s, " + prefix + "group-index: '0', " + prefix + "worker-index: '" + std::to_string(worker) + "'",
      host, annotations);
}

std::string leader_worker_set(int size, const std::string& more = "") {
  return "---\n{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: s, namespace: "
         "default}, spec: {replicas: 1, leaderWorkerTemplate: {size: " +
         std::to_string(size) + more + ", workerTemplate: {spec: {" + kContainers + "}}}}}\n";
}

std::string stateful_set(const std::string& name, const std::string& owner_kind, const std::string& owner) {
  return "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: " + name +
         ", namespace: default, ownerReferences: [{kind: " + owner_kind + ", name: " + owner +
         ", controller: true}]}, spec: {replicas: 1, template: {spec: {" + kContainers + "}}}}\n";
}

// The running gangs as "Kind/name:pods", in order.
std::string running(const World& world) {
  EXPECT_EQ(world.error(), "");
  std::string text;
  for (const RunningGang& gang : world.cluster.running()) {
    text += (text.empty() ? "" : " ") + gang.key.kind + "/" + gang.key.name + ":" + std::to_string(gang.pods());
  }
  return text;
}

// The pod sets of the only running gang as "name:pods", in order.
std::string sets_running(const World& world) {
  EXPECT_EQ(world.error(), "");
  std::map<std::string, int> sets;
  for (const RunningGang& gang : world.cluster.running()) {
    for (const Holding& holding : gang.holdings) {
      sets[holding.pod_set] += holding.count;
    }
  }
  std::string text;
  for (const auto& [name, pods] : sets) {
    text += (text.empty() ? "" : " ") + name + ":" + std::to_string(pods);
  }
  return text;
}

TEST(Claims, CallTheRunningPodsOfALeaderWorkerSetLeaderAndWorkers) {
  EXPECT_EQ(sets_running(World(node("a") + leader_worker_set(3) + member(0) + member(1) + member(2))),
            "leader:1 workers:2");
}

TEST(Claims, CallTheRunningPodsOfAJobSetByTheirReplicatedJob) {
  const std::string label = "jobset.sigs.k8s.io/jobset-name: js, jobset.sigs.k8s.io/replicatedjob-name: ";
  EXPECT_EQ(sets_running(World(node("a") + pod("p", "Job", "js-d-0", label + "driver") +
                               pod("q", "Job", "js-w-0", label + "work") + pod("r", "Job", "js-w-1", label + "work"))),
            "driver:1 work:2");
}

TEST(Claims, CallRunningPodsByThePodSetThatTheirLabelNames) {
  const std::string label = "kueue.x-k8s.io/podset: launcher, jobset.sigs.k8s.io/replicatedjob-name: driver";
  EXPECT_EQ(sets_running(World(node("a") + pod("p", "Job", "a", label) + pod("q", "Job", "a", "x: z"))),
            ":1 launcher:1")
      << "and where nothing tells, there is no name";
}

TEST(Claims, FindALeaderWorkerSetThroughItsStatefulSetsAndItsLeader) {
  const std::string sets = stateful_set("s", "LeaderWorkerSet", "s") + stateful_set("s-0", "Pod", "s-0");
  const World world(node("a") + leader_worker_set(3) + sets + member(0) + member(1));
  EXPECT_EQ(running(world), "LeaderWorkerSet/s-0:2");
  ASSERT_EQ(world.reading->queue.size(), 1U);
  EXPECT_EQ(world.job("s-0").pod_sets, (std::vector<std::pair<std::string, int>>{{"workers", 1}}));
}

TEST(Claims, FindALeaderWorkerSetByTheLabelsOfItsPodsAlone) {
  const World world(node("a") + leader_worker_set(2) + member(0) + member(1));
  EXPECT_EQ(running(world), "LeaderWorkerSet/s-0:2");
  EXPECT_TRUE(world.reading->queue.empty()) << "all of it runs";
}

TEST(Claims, KeepTheExclusiveDomainOfAGroupWhoseSetIsNotInTheInput) {
  const std::string annotation = "leaderworkerset.sigs.k8s.io/exclusive-topology: net/rack";
  const World world(node("a") + member(0, "a", annotation) + member(1, "a", annotation));
  ASSERT_EQ(running(world), "LeaderWorkerSet/s-0:2");
  EXPECT_EQ(world.cluster.running()[0].exclusives.size(), 1U);
}

TEST(Claims, GatherTheJobsOfAJobSetThatIsNotInTheInput) {
  const std::string label = "jobset.sigs.k8s.io/jobset-name: js";
  EXPECT_EQ(running(World(node("a") + pod("p", "Job", "js-w-0", label) + pod("q", "Job", "js-w-1", label))),
            "JobSet/js:2");
}

TEST(Claims, TakeThePodsOfADeploymentOneByOne) {
  EXPECT_EQ(running(World(node("a") + pod("p", "ReplicaSet", "d-1", "x: z") + pod("q", "ReplicaSet", "d-1", "x: z"))),
            "Pod/p:1 Pod/q:1");
}

TEST(Claims, FindTheDeploymentOfPodsWhoseReplicaSetIsNotInTheInput) {
  const std::string deployment =
      std::string(
          "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: default, labels: "
          "{kueue.x-k8s.io/queue-name: queue}}, spec: {replicas: 1, template: {spec: {") +
      kContainers + "}}}}\n";
  const World world(kSetup + node("a") + deployment + pod("p", "ReplicaSet", "d-5f", "pod-template-hash: 5f", ""));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->queue.size(), 1U) << "the pod does not ask beside its Deployment";
}

TEST(Claims, AskForPodsThatWaitThoughTheStatusCallsThemActive) {
  const std::string job =
      std::string(
          "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default}, spec: {parallelism: "
          "1, template: {spec: {") +
      kContainers + "}}}, status: {active: 1, startTime: 2026-01-01T00:00:00Z}}\n";
  EXPECT_EQ(World(node("a") + job).reading->queue.size(), 0U);
  EXPECT_EQ(World(node("a") + job + pod("j-x", "Job", "j", "x: z", "")).reading->queue.size(), 1U);
}

TEST(Claims, AskForTheRestOfAJobInTheDomainWhereItRuns) {
  const std::string job =
      std::string(
          "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: "
          "{kueue.x-k8s.io/queue-name: queue}}, spec: {parallelism: 3, template: {metadata: {annotations: "
          "{kueue.x-k8s.io/podset-required-topology: net/block}}, spec: {") +
      kContainers + "}}}, status: {active: 3}}\n";
  const std::string host =
      "---\n{apiVersion: v1, kind: Node, metadata: {name: h, labels: {pool: tas, net/block: b, net/rack: r}}, status: "
      "{allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 8}}}\n";
  World world(kSetup + host + job + pod("j-v", "Job", "j", "x: z", "h") + pod("j-w", "Job", "j", "x: z", "") +
              pod("j-z", "Job", "j", "x: z", ""));
  ASSERT_TRUE(world.reading) << world.error();
  const Alternative& way = world.job("j").parts.at(0).at(0);
  const PodSet& rest = way.gang.root.pod_sets.at(0);
  EXPECT_EQ(rest.count, 2);
  EXPECT_EQ(rest.min_count, 2);
  EXPECT_EQ(rest.shape.node_selector.size(), 1U) << "the block where it runs";
  EXPECT_EQ(rest.shape.flavor_labels.size(), 1U) << "the pool of the flavor";
  EXPECT_TRUE(way.demand.at(0).empty()) << "the quota of all three is used already";
  EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(1)).used, 3);
}

TEST(Claims, CutOwnersThatGoRoundInACircle) {
  const auto job = [](const std::string& name, const std::string& owner) {
    return "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
           ", namespace: default, ownerReferences: [{kind: Job, name: " + owner +
           ", controller: true}]}, spec: {template: {spec: {" + kContainers + "}}}}\n";
  };
  const World world(node("a") + job("v", "w") + job("w", "v"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->queue.size(), 2U);
  EXPECT_EQ(world.reading->notes.size(), 2U);
}

TEST(LeaderWorkerSet, KeepsSubGroupsApartAlsoWhereOneRuns) {
  const std::string policy =
      ", subGroupPolicy: {subGroupSize: 1}, schedulingPolicy: {exclusiveTopology: {perSubGroup: net/rack}}";
  const World world(node("a") + node("b") + leader_worker_set(2, policy) + member(0));
  const Group& root = world.job("s-0").parts.at(0).at(0).gang.root;
  ASSERT_EQ(root.groups.size(), 1U);
  EXPECT_TRUE(root.groups[0].constraint.exclusive);
}

TEST(LeaderWorkerSet, IsRejectedWhereASubGroupsDomainIsNoSmallerThanItsGroups) {
  for (const char* levels :
       {"perReplica: net/rack, perSubGroup: net/rack", "perReplica: kubernetes.io/hostname, perSubGroup: net/rack"}) {
    const World world(leader_worker_set(2, std::string(", subGroupPolicy: {subGroupSize: 1}, schedulingPolicy: "
                                                       "{exclusiveTopology: {") +
                                               levels + "}}"));
    EXPECT_NE(world.rejection("s-0").find("must be smaller than that of its group"), std::string::npos);
  }
}

TEST(LeaderWorkerSet, SaysWhichOfItsAnnotationsAreNotKnown) {
  const World world(
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: s, annotations: "
      "{leaderworkerset.sigs.k8s.io/exclusive-topolgy: net/rack}}, spec: {leaderWorkerTemplate: "
      "{workerTemplate: {metadata: {annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: "
      "net/rack}}, spec: {containers: []}}}}}\n");
  ASSERT_TRUE(world.reading) << world.error();
  ASSERT_EQ(world.reading->notes.size(), 3U) << "one for the name, one for the pods, one for the missing nodes";
  EXPECT_NE(world.reading->notes[0].find("exclusive-topolgy is not known"), std::string::npos);
  EXPECT_NE(world.reading->notes[1].find("on a pod template has no effect"), std::string::npos);
}

TEST(LeaderWorkerSet, OfTooManyPodsToCountIsRejected) {
  const World world(
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: s, namespace: "
      "default}, spec: {replicas: 2000000000, leaderWorkerTemplate: {size: 2000000000, workerTemplate: "
      "{spec: {containers: []}}}}}\n");
  EXPECT_NE(world.rejection("s-0").find("replicas times leaderWorkerTemplate.size of"), std::string::npos);
}

TEST(Claims, LeaveOutPodsOnTheirWayOutUnlessAllAre) {
  const auto leaving = [](const std::string& name, const std::string& job) {
    std::string text = pod(name, "Job", job, "");
    return text.replace(text.find("labels:"), 0, "deletionTimestamp: \"2026-01-01T00:00:00Z\", ");
  };
  const World world(node("a") + pod("a-0", "Job", "a", "") + leaving("a-1", "a") + pod("a-2", "Job", "a", "") +
                    leaving("b-0", "b"));
  EXPECT_EQ(running(world), "Job/a:2 Job/b:1");
}

}  // namespace
}  // namespace gantree
