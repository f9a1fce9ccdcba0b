// The PodGroup of every kind of owner, and what its pods are told.
#include "small_cluster.h"

namespace gantree::kai {
namespace {

TEST(GrouperOwners, GroupsAJobByItsMinimum) {
  SmallCluster cluster;
  cluster.put(job("a", 3) + job("b", 3, "annotations: {kai.scheduler/batch-min-member: '2'}") +
              job("c", 3, "annotations: {kai.scheduler/topology: t, kai.scheduler/topology-required-placement: rack}"));
  cluster.put(pod("a-1", "batch/v1", "Job/a") + pod("b-1", "batch/v1", "Job/b") + pod("c-1", "batch/v1", "Job/c") +
              pod("a-2", "batch/v1", "Job/a"));
  cluster.settle();
  EXPECT_EQ(cluster.groups(), (std::set<std::string>{"pg-a-uid-a", "pg-b-uid-b", "pg-c-uid-c"}));
  EXPECT_EQ(cluster.spec("pg-a-uid-a"), R"({"minMember":1})");
  EXPECT_EQ(cluster.spec("pg-b-uid-b"), R"({"minMember":2})");
  EXPECT_EQ(cluster.spec("pg-c-uid-c"),
            R"({"minMember":3,"topologyConstraint":{"requiredTopologyLevel":"rack","topology":"t"}})")
      << "pods that have to be close have to come together";
  EXPECT_EQ(cluster.group_of_pod("a-1"), "pg-a-uid-a");
  EXPECT_EQ(cluster.group_of_pod("a-2"), "pg-a-uid-a");
}

TEST(GrouperOwners, GroupsAPodThatNothingMade) {
  SmallCluster cluster;
  cluster.put(pod("lone", "", "", "labels: {kai.scheduler/queue: q}"));
  cluster.settle();
  const Tree& group = cluster.object("PodGroup", "pg-lone-uid-lone");
  EXPECT_EQ(group.str({"metadata", "ownerReferences", "0", "kind"}), "");
  EXPECT_EQ(group.find({"metadata", "ownerReferences"})->items.at(0).str({"kind"}), "Pod");
  EXPECT_EQ(group.str({"spec", "queue"}), "q");
  EXPECT_EQ(cluster.group_of_pod("lone"), "pg-lone-uid-lone");
}

TEST(GrouperOwners, GroupsTheJobOfACronJobWithItsLevels) {
  SmallCluster cluster;
  cluster.put(made("batch/v1", "CronJob", "nightly", "annotations: {kai.scheduler/topology-required-placement: rack}",
                   fmt::format("{{jobTemplate: {{spec: {{parallelism: 2, template: {}}}}}}}", kTemplate)));
  cluster.put(made("batch/v1", "Job", "nightly-1", "", fmt::format("{{parallelism: 2, template: {}}}", kTemplate),
                   "batch/v1", "CronJob/nightly"));
  cluster.put(pod("nightly-1-x", "batch/v1", "Job/nightly-1"));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-nightly-1-uid-nightly-1"),
            R"({"minMember":2,"topologyConstraint":{"requiredTopologyLevel":"rack"}})");
  EXPECT_EQ(cluster.groups().size(), 1U);
}

TEST(GrouperOwners, GroupsEachPodOfADeploymentByItself) {
  SmallCluster cluster;
  cluster.put(made("apps/v1", "Deployment", "d", "labels: {kai.scheduler/queue: q}",
                   fmt::format("{{replicas: 2, template: {}}}", kTemplate)));
  cluster.put(made("apps/v1", "ReplicaSet", "d-1", "", fmt::format("{{replicas: 2, template: {}}}", kTemplate),
                   "apps/v1", "Deployment/d"));
  cluster.put(pod("d-1-a", "apps/v1", "ReplicaSet/d-1") + pod("d-1-b", "apps/v1", "ReplicaSet/d-1"));
  cluster.settle();
  EXPECT_EQ(cluster.groups(), (std::set<std::string>{"pg-d-1-a-uid-d-1-a", "pg-d-1-b-uid-d-1-b"}));
  const Tree& group = cluster.object("PodGroup", "pg-d-1-a-uid-d-1-a");
  EXPECT_EQ(group.str({"spec", "priorityClassName"}), "inference");
  EXPECT_EQ(group.str({"spec", "queue"}), "q");
  EXPECT_EQ(group.find({"metadata", "ownerReferences"})->items.at(0).str({"uid"}), "uid-d-1-a");
}

TEST(GrouperOwners, CountsOnlyPodsThatAStatefulSetMakesAtOnce) {
  SmallCluster cluster;
  const std::string levels = "annotations: {kai.scheduler/topology-required-placement: rack}";
  cluster.put(made("apps/v1", "StatefulSet", "one", levels, fmt::format("{{replicas: 4, template: {}}}", kTemplate)) +
              made("apps/v1", "StatefulSet", "all", levels,
                   fmt::format("{{replicas: 4, podManagementPolicy: Parallel, template: {}}}", kTemplate)) +
              made("apps/v1", "ReplicaSet", "rs", levels, fmt::format("{{replicas: 4, template: {}}}", kTemplate)));
  cluster.put(pod("one-0", "apps/v1", "StatefulSet/one") + pod("all-0", "apps/v1", "StatefulSet/all") +
              pod("rs-0", "apps/v1", "ReplicaSet/rs"));
  cluster.settle();
  EXPECT_EQ(cluster.object("PodGroup", "pg-one-uid-one").num({"spec", "minMember"}, -1), 1)
      << "the second pod comes when the first runs";
  EXPECT_EQ(cluster.object("PodGroup", "pg-all-uid-all").num({"spec", "minMember"}, -1), 4);
  EXPECT_EQ(cluster.object("PodGroup", "pg-rs-uid-rs").num({"spec", "minMember"}, -1), 4);
}

std::string replicated(const std::string& name, int replicas, int parallelism, const std::string& more = "",
                       const std::string& annotations = "") {
  return fmt::format(
      "{{name: {}, replicas: {}, {}template: {{metadata: {{annotations: {{{}}}}}, spec: {{parallelism: {}, "
      "template: {}}}}}}}",
      name, replicas, more, annotations, parallelism, kTemplate);
}

std::string jobs_pod(const std::string& name, const std::string& of, int index) {
  return pod(name, "batch/v1", "Job/set-" + of + "-" + std::to_string(index),
             fmt::format("labels: {{jobset.sigs.k8s.io/replicatedjob-name: {}, jobset.sigs.k8s.io/job-index: '{}'}}",
                         of, index));
}

std::string child(const std::string& of, int index) {
  return made("batch/v1", "Job", "set-" + of + "-" + std::to_string(index), "",
              fmt::format("{{parallelism: 2, template: {}}}", kTemplate), "jobset.x-k8s.io/v1alpha2", "JobSet/set");
}

TEST(GrouperOwners, GroupsAJobSetByReplicatedJobAndReplica) {
  SmallCluster cluster;
  cluster.put(made("jobset.x-k8s.io/v1alpha2", "JobSet", "set", "",
                   "{replicatedJobs: [" + replicated("driver", 1, 1) + "," +
                       replicated("worker", 2, 2, "", "kai.scheduler/topology-required-placement: rack") + "]}"));
  cluster.put(child("driver", 0) + child("worker", 0) + child("worker", 1));
  cluster.put(jobs_pod("d", "driver", 0) + jobs_pod("w0", "worker", 0) + jobs_pod("w1", "worker", 1));
  cluster.settle();
  EXPECT_EQ(
      cluster.spec("pg-set-uid-set"),
      R"({"minSubGroup":2,"subGroups":[{"minSubGroup":1,"name":"driver"},)"
      R"({"minMember":1,"name":"driver-replica-0","parent":"driver"},{"minSubGroup":2,"name":"worker"},)"
      R"({"minMember":2,"name":"worker-replica-0","parent":"worker","topologyConstraint":{"requiredTopologyLevel":"rack"}},)"
      R"({"minMember":2,"name":"worker-replica-1","parent":"worker","topologyConstraint":{"requiredTopologyLevel":"rack"}}]})");
  EXPECT_EQ(cluster.group_of_pod("d"), "pg-set-uid-set/driver-replica-0");
  EXPECT_EQ(cluster.group_of_pod("w1"), "pg-set-uid-set/worker-replica-1");
}

TEST(GrouperOwners, DoesNotWaitForReplicatedJobsThatComeLater) {
  const auto least = [](const std::string& spec) {
    SmallCluster cluster;
    cluster.put(made("jobset.x-k8s.io/v1alpha2", "JobSet", "set", "", spec));
    cluster.put(child("a", 0) + jobs_pod("p", "a", 0));
    cluster.settle();
    return cluster.object("PodGroup", "pg-set-uid-set").num({"spec", "minSubGroup"}, -1);
  };
  const std::string plain = replicated("a", 1, 1) + "," + replicated("b", 1, 1);
  EXPECT_EQ(least("{replicatedJobs: [" + plain + "]}"), 2);
  EXPECT_EQ(least("{startupPolicy: {startupPolicyOrder: InOrder}, replicatedJobs: [" + plain + "]}"), 1);
  EXPECT_EQ(least("{replicatedJobs: [" + plain + "," +
                  replicated("c", 1, 1, "dependsOn: [{name: a, status: Ready}], ") + "]}"),
            2);
}

TEST(GrouperOwners, TakesTooManyReplicasThatAskForNothingTogether) {
  SmallCluster cluster;
  cluster.put(
      made("jobset.x-k8s.io/v1alpha2", "JobSet", "set", "", "{replicatedJobs: [" + replicated("a", 5000, 2) + "]}"));
  cluster.put(child("a", 0) + jobs_pod("p", "a", 0));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-set-uid-set"), R"({"minSubGroup":1,"subGroups":[{"minMember":10000,"name":"a"}]})");
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-set-uid-set/a");
}

TEST(GrouperOwners, GroupsATrainJobByItsJobSet) {
  SmallCluster cluster;
  cluster.put(made("trainer.kubeflow.org/v1alpha1", "TrainJob", "train",
                   "annotations: {kai.scheduler/topology: t, kai.scheduler/topology-preferred-placement: rack}", "{}"));
  cluster.put(made("jobset.x-k8s.io/v1alpha2", "JobSet", "set", "",
                   "{replicatedJobs: [" + replicated("node", 1, 2) + "]}", "trainer.kubeflow.org/v1alpha1",
                   "TrainJob/train"));
  cluster.put(child("node", 0) + jobs_pod("p", "node", 0));
  cluster.settle();
  const Tree& group = cluster.object("PodGroup", "pg-set-uid-set");
  EXPECT_EQ(group.str({"spec", "topologyConstraint", "preferredTopologyLevel"}), "rack");
  EXPECT_EQ(group.find({"metadata", "ownerReferences"})->items.at(0).str({"kind"}), "JobSet");
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-set-uid-set/node-replica-0");
}

std::string roles(std::initializer_list<std::pair<const char*, int>> all, const std::string& annotations = "") {
  std::string text;
  for (const auto& [role, count] : all) {
    text += fmt::format(
        "{}{}: {{replicas: {}, template: {{metadata: {{annotations: {{{}}}}}, spec: {{containers: [{{name: "
        "c}}]}}}}}}",
        text.empty() ? "" : ", ", role, count, std::string(role) == "Worker" ? annotations : "");
  }
  return text;
}

std::string trained(const std::string& name, const std::string& kind, const std::string& role, int index) {
  return pod(
      name, "kubeflow.org/v1", kind + "/t",
      fmt::format("labels: {{training.kubeflow.org/replica-type: {}, training.kubeflow.org/replica-index: '{}'}}", role,
                  index));
}

TEST(GrouperOwners, GroupsAPyTorchJobByRoleAndSegment) {
  SmallCluster cluster;
  cluster.put(
      made("kubeflow.org/v1", "PyTorchJob", "t", "annotations: {kai.scheduler/topology: net}",
           "{elasticPolicy: {minReplicas: 3}, pytorchReplicaSpecs: {" +
               roles({{"Master", 1}, {"Worker", 5}},
                     "kai.scheduler/segment-size: '2', kai.scheduler/segment-topology-required-placement: rack") +
               "}}"));
  cluster.put(trained("m", "PyTorchJob", "master", 0) + trained("w3", "PyTorchJob", "worker", 3) +
              trained("w4", "PyTorchJob", "worker", 4));
  cluster.settle();
  const std::string rack = R"("topologyConstraint":{"requiredTopologyLevel":"rack","topology":"net"}})";
  EXPECT_EQ(cluster.spec("pg-t-uid-t"),
            R"({"minMember":3,"subGroups":[{"minMember":1,"name":"master"},{"minSubGroup":3,"name":"worker"},)"
            R"({"minMember":2,"name":"worker-0","parent":"worker",)" +
                rack + R"(,{"minMember":0,"name":"worker-1","parent":"worker",)" + rack +
                R"(,{"minMember":0,"name":"worker-2","parent":"worker",)" + rack +
                R"(],"topologyConstraint":{"topology":"net"}})");
  EXPECT_EQ(cluster.group_of_pod("m"), "pg-t-uid-t/master");
  EXPECT_EQ(cluster.group_of_pod("w3"), "pg-t-uid-t/worker-1");
  EXPECT_EQ(cluster.group_of_pod("w4"), "pg-t-uid-t/worker-2");
}

TEST(GrouperOwners, GroupsOtherTrainingJobsFlat) {
  const std::tuple<const char*, const char*, std::string> kKinds[] = {
      {"TFJob", "tfReplicaSpecs", roles({{"PS", 1}, {"Worker", 3}})},
      {"XGBoostJob", "xgbReplicaSpecs", roles({{"Master", 1}, {"Worker", 3}})},
      {"JAXJob", "jaxReplicaSpecs", roles({{"Worker", 4}})},
      {"PaddleJob", "paddleReplicaSpecs", roles({{"Worker", 4}})}};
  for (const auto& [kind, field, specs] : kKinds) {
    SmallCluster all;
    all.put(made("kubeflow.org/v1", kind, "t", "", fmt::format("{{{}: {{{}}}}}", field, specs)));
    all.put(trained("w", kind, "worker", 0));
    all.settle();
    EXPECT_EQ(all.spec("pg-t-uid-t"), R"({"minMember":4})") << kind;
    EXPECT_EQ(all.group_of_pod("w"), "pg-t-uid-t") << kind;
    SmallCluster some;
    some.put(made("kubeflow.org/v1", kind, "t", "",
                  fmt::format("{{runPolicy: {{schedulingPolicy: {{minAvailable: 2}}}}, {}: {{{}}}}}", field, specs)));
    some.put(trained("w", kind, "worker", 0));
    some.settle();
    EXPECT_EQ(some.spec("pg-t-uid-t"), R"({"minMember":2})") << kind;
  }
}

TEST(GrouperOwners, CountsALauncherThatComesLaterOnceItIsThere) {
  SmallCluster cluster;
  cluster.put(made("kubeflow.org/v2beta1", "MPIJob", "t", "",
                   "{launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {" +
                       roles({{"Launcher", 1}, {"Worker", 3}}) + "}}"));
  cluster.put(pod("w", "kubeflow.org/v2beta1", "MPIJob/t", "labels: {training.kubeflow.org/job-role: worker}"));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-t-uid-t"), R"({"minMember":3})");
  cluster.put(made("batch/v1", "Job", "t-launcher", "", fmt::format("{{parallelism: 1, template: {}}}", kTemplate),
                   "kubeflow.org/v2beta1", "MPIJob/t"));
  cluster.put(pod("l", "batch/v1", "Job/t-launcher", "labels: {training.kubeflow.org/job-role: launcher}"));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-t-uid-t"), R"({"minMember":4})");
  EXPECT_EQ(cluster.group_of_pod("l"), "pg-t-uid-t") << "the launcher is part of the gang";
}

std::string ray_cluster() {
  return "{headGroupSpec: {template: {spec: {containers: [{name: c}]}}}, workerGroupSpecs: [{groupName: GPU.big, "
         "replicas: 4, minReplicas: 2, numOfHosts: 2, template: {metadata: {annotations: "
         "{kai.scheduler/topology-required-placement: rack}}, spec: {containers: [{name: c}]}}}]}";
}

TEST(GrouperOwners, GroupsRayByHeadAndWorkerGroup) {
  const std::string spec =
      R"({"minMember":5,"subGroups":[{"minMember":1,"name":"headgroup"},)"
      R"({"minMember":4,"name":"gpu-big","topologyConstraint":{"requiredTopologyLevel":"rack"}}]})";
  const auto pods = [](const std::string& cluster) {
    return pod("head", "ray.io/v1", "RayCluster/" + cluster,
               "labels: {ray.io/node-type: head, ray.io/group: headgroup}") +
           pod("worker", "ray.io/v1", "RayCluster/" + cluster,
               "labels: {ray.io/node-type: worker, ray.io/group: GPU.big}");
  };
  SmallCluster alone;
  alone.put(made("ray.io/v1", "RayCluster", "rc", "", ray_cluster()) + pods("rc"));
  alone.settle();
  EXPECT_EQ(alone.spec("pg-rc-uid-rc"), spec);
  EXPECT_EQ(alone.group_of_pod("head"), "pg-rc-uid-rc/headgroup");
  EXPECT_EQ(alone.group_of_pod("worker"), "pg-rc-uid-rc/gpu-big");
  for (const auto& [kind, field] :
       {std::pair("RayJob", "rayClusterSpec"), std::pair("RayService", "rayClusterConfig")}) {
    SmallCluster cluster;
    cluster.put(made("ray.io/v1", kind, "top", "labels: {ray.io/priority-class-name: build}",
                     fmt::format("{{{}: {}}}", field, ray_cluster())));
    cluster.put(made("ray.io/v1", "RayCluster", "rc", "", ray_cluster(), "ray.io/v1", fmt::format("{}/top", kind)) +
                pods("rc"));
    cluster.settle();
    EXPECT_EQ(cluster.spec("pg-top-uid-top"), spec) << kind;
    EXPECT_EQ(cluster.object("PodGroup", "pg-top-uid-top").str({"spec", "priorityClassName"}), "build") << kind;
    EXPECT_EQ(cluster.group_of_pod("worker"), "pg-top-uid-top/gpu-big") << kind;
  }
}

TEST(GrouperOwners, KeepsThePodThatSubmitsARayJobOutOfItsGang) {
  SmallCluster cluster;
  cluster.put(made("ray.io/v1", "RayJob", "top", "", fmt::format("{{rayClusterSpec: {}}}", ray_cluster())));
  cluster.put(made("batch/v1", "Job", "top", "", fmt::format("{{parallelism: 1, template: {}}}", kTemplate),
                   "ray.io/v1", "RayJob/top"));
  cluster.put(pod("submit", "batch/v1", "Job/top"));
  cluster.settle();
  EXPECT_EQ(cluster.spec(cluster.group_of_pod("submit")), R"({"minMember":1})");
}

std::string leader_worker_set(const std::string& more, const std::string& annotations = "") {
  return made(
      "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "s", "",
      fmt::format("{{replicas: 2, {}leaderWorkerTemplate: {{size: 5, {}workerTemplate: {{metadata: {{annotations: "
                  "{{{}}}}}, spec: {{containers: [{{name: c}}]}}}}}}}}",
                  more, annotations.empty() ? "" : "subGroupPolicy: {subGroupSize: 2}, ", annotations));
}

std::string of_set(const std::string& name, int group, int worker, const std::string& spec = "") {
  return pod(
      name, "apps/v1", "StatefulSet/s",
      fmt::format("labels: {{leaderworkerset.sigs.k8s.io/name: s, leaderworkerset.sigs.k8s.io/group-index: '{}', "
                  "leaderworkerset.sigs.k8s.io/worker-index: '{}'}}",
                  group, worker),
      spec);
}

TEST(GrouperOwners, GroupsEachReplicaOfALeaderWorkerSet) {
  SmallCluster cluster;
  cluster.put(leader_worker_set(""));
  cluster.put(of_set("s-0", 0, 0) + of_set("s-0-1", 0, 1) + of_set("s-1", 1, 0));
  cluster.settle();
  EXPECT_EQ(cluster.groups(), (std::set<std::string>{"pg-s-uid-s-group-0", "pg-s-uid-s-group-1"}));
  EXPECT_EQ(cluster.spec("pg-s-uid-s-group-1"),
            R"({"minMember":5,"subGroups":[{"minMember":1,"name":"leader"},{"minMember":4,"name":"workers"}]})");
  EXPECT_EQ(cluster.group_of_pod("s-0-1"), "pg-s-uid-s-group-0/workers");
  EXPECT_EQ(cluster.group_of_pod("s-1"), "pg-s-uid-s-group-1/leader");
}

TEST(GrouperOwners, WaitsForWorkersOnceTheLeaderHasANode) {
  SmallCluster cluster;
  cluster.put(leader_worker_set("startupPolicy: LeaderReady, "));
  cluster.put(of_set("s-0", 0, 0));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-s-uid-s-group-0"),
            R"({"minMember":1,"subGroups":[{"minMember":1,"name":"leader"},{"minMember":0,"name":"workers"}]})");
  cluster.put(of_set("s-0", 0, 0, "nodeName: node-1"));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-s-uid-s-group-0"),
            R"({"minMember":5,"subGroups":[{"minMember":1,"name":"leader"},{"minMember":4,"name":"workers"}]})");
}

TEST(GrouperOwners, CutsALeaderWorkerSetIntoSegments) {
  SmallCluster cluster;
  cluster.put(
      leader_worker_set("", "kai.scheduler/topology: t, kai.scheduler/segment-topology-required-placement: rack"));
  for (int worker = 0; worker < 5; ++worker) {
    cluster.put(of_set(fmt::format("w{}", worker), 0, worker));
  }
  cluster.settle();
  const std::string rack = R"("topologyConstraint":{"requiredTopologyLevel":"rack","topology":"t"}})";
  EXPECT_EQ(cluster.spec("pg-s-uid-s-group-0"), R"({"minMember":5,"subGroups":[{"minMember":2,"name":"segment-1",)" +
                                                    rack + R"(,{"minSubGroup":2,"name":"segment-0",)" + rack +
                                                    R"(,{"minMember":1,"name":"leader","parent":"segment-0"},)"
                                                    R"({"minMember":2,"name":"workers","parent":"segment-0"}]})");
  EXPECT_EQ(cluster.group_of_pod("w0"), "pg-s-uid-s-group-0/leader");
  EXPECT_EQ(cluster.group_of_pod("w2"), "pg-s-uid-s-group-0/workers");
  EXPECT_EQ(cluster.group_of_pod("w3"), "pg-s-uid-s-group-0/segment-1");
}

TEST(GrouperOwners, GroupsAnyOtherOwnerAsOne) {
  SmallCluster cluster;
  cluster.put(made("apps/v1", "StatefulSet", "nb", "annotations: {kai.scheduler/topology-required-placement: rack}",
                   fmt::format("{{replicas: 1, template: {}}}", kTemplate), "kubeflow.org/v1", "Notebook/book"));
  cluster.put(pod("nb-0", "apps/v1", "StatefulSet/nb") + pod("step", "tekton.dev/v1", "TaskRun/run"));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-book-uid-book"),
            R"({"minMember":1,"topologyConstraint":{"requiredTopologyLevel":"rack"}})");
  EXPECT_EQ(cluster.object("PodGroup", "pg-book-uid-book").str({"spec", "priorityClassName"}), "build");
  EXPECT_EQ(cluster.group_of_pod("nb-0"), "pg-book-uid-book");
  EXPECT_EQ(cluster.group_of_pod("step"), "pg-run-uid-run");
  EXPECT_EQ(cluster.object("PodGroup", "pg-run-uid-run").find({"metadata", "ownerReferences"})->items.at(0).to_json(),
            R"({"apiVersion":"tekton.dev/v1","kind":"TaskRun","name":"run","uid":"uid-run"})");
}

TEST(GrouperOwners, FillsSegmentsOfAJobWithoutIndicesOneByOne) {
  SmallCluster cluster;
  cluster.put(made("batch/v1", "Job", "j", "annotations: {kai.scheduler/topology: t}",
                   "{parallelism: 4, template: {metadata: {annotations: {kai.scheduler/segment-size: '2', "
                   "kai.scheduler/segment-topology-required-placement: rack}}, spec: {containers: [{name: c}]}}}"));
  for (const char* name : {"a", "b", "c", "d"}) {
    cluster.put(pod(name, "batch/v1", "Job/j"));
  }
  cluster.settle();
  std::map<std::string, int> held;
  for (const char* name : {"a", "b", "c", "d"}) {
    ++held[cluster.group_of_pod(name)];
  }
  EXPECT_EQ(held, (std::map<std::string, int>{{"pg-j-uid-j/main-0", 2}, {"pg-j-uid-j/main-1", 2}}));
  const auto before = cluster.group_of_pod("d");
  cluster.restart();
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("d"), before) << "pods stay where they are";
}

}  // namespace
}  // namespace gantree::kai
