// Which kinds a queue takes, and what it admits of each: the whole, a replica, a pod, a group of pods.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

constexpr char kPod[] = "{containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}";

std::string object(const std::string& api, const std::string& kind, const std::string& spec) {
  return "---\napiVersion: " + api + "\nkind: " + kind +
         "\nmetadata: {name: w, namespace: default, labels: {kueue.x-k8s.io/queue-name: queue}}\nspec: " + spec + "\n";
}

std::string replica(int replicas, const std::string& more = "") {
  return "{replicas: " + std::to_string(replicas) + ", template: {spec: " + kPod + "}" + more + "}";
}

// Every submission as "name: set:count set:count", one a line.
std::string asks(const std::string& manifests) {
  const World world(kSetup + manifests);
  EXPECT_EQ(world.error(), "");
  std::string text;
  for (const Submission& submission : world.reading->queue) {
    EXPECT_EQ(submission.dialect, "kueue");
    text += submission.key.name + ":";
    for (const auto& [name, count] : submission.pod_sets) {
      text += " " + name + ":" + std::to_string(count);
    }
    text += submission.rejection ? " (" + submission.rejection->message + ")\n" : "\n";
  }
  return text;
}

TEST(Queue, TakesTrainingJobsWhole) {
  EXPECT_EQ(asks(object("kubeflow.org/v1", "PyTorchJob",
                        "{pytorchReplicaSpecs: {Worker: " + replica(3) + ", Master: " + replica(1) + "}}")),
            "w: master:1 worker:3\n");
  EXPECT_EQ(asks(object("kubeflow.org/v2beta1", "MPIJob",
                        "{mpiReplicaSpecs: {Launcher: " + replica(1) + ", Worker: " + replica(2) + "}}")),
            "w: launcher:1 worker:2\n");
  EXPECT_EQ(asks(object("kubeflow.org/v1", "TFJob",
                        "{tfReplicaSpecs: {PS: " + replica(1) + ", worker: " + replica(2) + "}}")),
            "w: ps:1 worker:2\n");
}

TEST(Queue, TakesRayClustersWhole) {
  const std::string cluster =
      std::string("{headGroupSpec: {template: {spec: ") + kPod +
      "}}, workerGroupSpecs: [{groupName: small, numOfHosts: 2, replicas: 3, template: {spec: " + kPod + "}}]}";
  EXPECT_EQ(asks(object("ray.io/v1", "RayCluster", cluster)), "w: head:1 small:6\n");
  EXPECT_EQ(asks(object("ray.io/v1", "RayJob", "{rayClusterSpec: " + cluster + "}")), "w: head:1 small:6\n");
}

TEST(Queue, TakesStatefulSetsWholeAndDeploymentsPodByPod) {
  EXPECT_EQ(asks(object("apps/v1", "StatefulSet", replica(3))), "w: main:3\n");
  EXPECT_EQ(asks(object("apps/v1", "Deployment", replica(2))), "w-0: main:1\nw-1: main:1\n");
}

TEST(Queue, TakesLeaderWorkerSetsReplicaByReplica) {
  EXPECT_EQ(
      asks(object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
                  std::string("{replicas: 2, leaderWorkerTemplate: {size: 4, workerTemplate: {spec: ") + kPod + "}}}")),
      "w-0: leader:1 workers:3\nw-1: leader:1 workers:3\n");
}

std::string member(const std::string& name, const std::string& labels, const std::string& total = "'3'") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: queue, kueue.x-k8s.io/pod-group-name: g" + labels +
         "}, annotations: {kueue.x-k8s.io/pod-group-total-count: " + total + "}}, spec: " + kPod + "}\n";
}

TEST(Queue, TakesPodsThatNameAGroupTogetherInOrderOfTheirIndex) {
  const World world(kSetup + member("a", ", kueue.x-k8s.io/pod-group-pod-index: '10'") +
                    member("b", ", kueue.x-k8s.io/pod-group-pod-index: '9'") +
                    member("c", ", kueue.x-k8s.io/pod-group-pod-index: '0'"));
  const PodSet& pods = world.job("g").parts.at(0).at(0).gang.root.pod_sets.at(0);
  EXPECT_EQ(pods.count, 3);
  EXPECT_EQ(pods.pods, (std::vector<std::string>{"c", "b", "a"}));
}

TEST(Queue, WaitsUntilAGroupOfPodsIsComplete) {
  const World world(kSetup + member("a", "") + member("b", ""));
  ASSERT_TRUE(world.job("g").rejection);
  EXPECT_EQ(world.job("g").rejection->reason, Reason::kGangIncomplete);
  EXPECT_TRUE(world.job("g").rejection->waits);
  EXPECT_EQ(world.rejection("g"), "2 of 3 pods of group \"g\" are there");
}

TEST(Queue, RejectsAGroupOfPodsThatDoesNotSayHowLargeItIs) {
  EXPECT_NE(World(kSetup + member("a", "", "many")).rejection("g").find("pod-group-total-count must be the number"),
            std::string::npos);
}

TEST(Queue, TakesASinglePod) {
  EXPECT_EQ(asks("---\n{apiVersion: v1, kind: Pod, metadata: {name: w, namespace: default, labels: "
                 "{kueue.x-k8s.io/queue-name: queue}}, spec: " +
                 std::string(kPod) + "}\n"),
            "w: main:1\n");
}

TEST(Queue, TakesTheJobsOfACronJob) {
  EXPECT_EQ(asks(std::string("---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: w, namespace: default}\nspec: "
                             "{schedule: '* * * * *', jobTemplate: {metadata: {labels: {kueue.x-k8s.io/queue-name: "
                             "queue}}, spec: {parallelism: 2, template: {spec: ") +
                 kPod + "}}}}\n"),
            "w: main:2\n");
}

TEST(Queue, DoesNotPassOverInSilenceWhatItCannotRead) {
  const World world(object("example.com/v1", "Unheard", "{}"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->notes,
            std::vector<std::string>{"1 Unheard carries kueue.x-k8s.io/queue-name, but objects of "
                                     "this kind are not read"});
}

TEST(Queue, LeavesPodsOfOtherSchedulersAlone) {
  const World world(kSetup + std::string("---\n{apiVersion: v1, kind: Pod, metadata: {name: w}, spec: ") + kPod +
                    "}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: " + replica(2) + "\n");
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_TRUE(world.reading->queue.empty());
  EXPECT_EQ(world.reading->ignored.size(), 2U);
}

TEST(Queue, CountsTheQuotaOfPlainPodsThatRunAloneAndInGroups) {
  const auto runs = [](std::string manifest) {
    manifest.replace(manifest.find("containers"), 0, "nodeName: h, ");
    return manifest;
  };
  const std::string alone = object("v1", "Pod", kPod) + "status: {phase: Running}\n";
  const World world(kSetup + runs(member("a", "")) + runs(member("b", "")) + runs(member("c", "")) + runs(alone));
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(1)).used, 4);
  EXPECT_TRUE(world.reading->queue.empty());
}

}  // namespace
}  // namespace gantree
