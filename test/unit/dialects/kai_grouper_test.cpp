// From workloads to gangs, kind by kind.
#include <gtest/gtest.h>

#include "unit/dialects/kai_manifests.h"

namespace gantree {
namespace {

constexpr char kInARack[] =
    "annotations: {kai.scheduler/topology: network, kai.scheduler/topology-required-placement: rack}";

// "name count/min name count/min ..." of all pod sets.
std::string sets(const World& world, const std::string& name) {
  std::string text;
  for (const PodSet* set : pod_sets(root_of(world, name))) {
    text +=
        (text.empty() ? "" : " ") + set->name + " " + std::to_string(set->count) + "/" + std::to_string(set->min_count);
  }
  return text;
}

std::string sets(const std::string& manifests, const std::string& name = "a") {
  const World world(kNetwork + manifests);
  EXPECT_EQ(world.error(), "");
  EXPECT_EQ(world.rejection(name), "");
  return sets(world, name);
}

TEST(KaiJob, IsAGangOfItsParallelismOnlyWhereItMustBeClose) {
  EXPECT_EQ(sets(kai_job("a", 6, "")), "main 6/1");
  EXPECT_EQ(sets(kai_job("a", 6, "kai.scheduler/topology: network, kai.scheduler/topology-preferred-placement: rack")),
            "main 6/6");
  EXPECT_EQ(sets(kai_job("a", 6, "kai.scheduler/batch-min-member: '2'")), "main 6/2");
}

TEST(KaiJob, ThatNeedsMorePodsThanItHasIsRejected) {
  for (const char* min : {"'7'", "'0'", "few"}) {
    const World world(kai_job("a", 6, std::string("kai.scheduler/batch-min-member: ") + min));
    EXPECT_NE(world.rejection("a").find("kai.scheduler/batch-min-member"), std::string::npos) << min;
  }
}

TEST(KaiStatefulSet, AndItsLikeAreGangsWhereTheyMustBeClose) {
  const std::string spec = "{replicas: 3, template: " + pod_template() + "}";
  EXPECT_EQ(sets(object("apps/v1", "StatefulSet", "a", kInARack, spec)), "main 3/3");
  EXPECT_EQ(sets(object("apps/v1", "ReplicaSet", "a", kInARack, spec)), "main 3/3");
  const std::string cron = "{schedule: x, jobTemplate: {spec: {parallelism: 4, template: " + pod_template() + "}}}";
  EXPECT_EQ(sets(object("batch/v1", "CronJob", "a", kInARack, cron)), "main 4/4");
}

TEST(KaiCronJob, IsCloseByTheAnnotationsOfTheJobsItMakes) {
  const World world(kNetwork + object("batch/v1", "CronJob", "a", "",
                                      "{schedule: x, jobTemplate: {metadata: {" + std::string(kInARack) +
                                          "}, spec: {parallelism: 4, template: " + pod_template() + "}}}"));
  EXPECT_EQ(world.constraint("a").required, 1);
}

TEST(KaiDeployment, IsAGangForEachPod) {
  const World world(kNetwork +
                    object("apps/v1", "Deployment", "a", kInARack, "{replicas: 3, template: " + pod_template() + "}"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->queue.size(), 3U);
  EXPECT_EQ(sets(world, "a-2"), "main 1/1");
  EXPECT_EQ(world.job("a-0").priority, 125) << "inference";
}

TEST(KaiOwners, WithoutAnyMarkAreNotPlanned) {
  const World world(object("apps/v1", "Deployment", "a", "", "{replicas: 3, template: " + pod_template() + "}") +
                    object("v1", "Pod", "b", "", "{containers: [{name: c}]}"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_TRUE(world.reading->queue.empty());
}

TEST(KaiPod, IsAGangOfItsOwn) {
  const World world(object("v1", "Pod", "a", "", "{schedulerName: kai-scheduler, containers: [{name: c}]}"));
  EXPECT_EQ(sets(world, "a"), "main 1/1");
  EXPECT_EQ(world.job("a").dialect, "kai");
}

std::string job_set(const std::string& annotations, const std::string& job_annotations) {
  const auto replicated = [&](const std::string& name, int replicas, const std::string& metadata) {
    return "{name: " + name + ", replicas: " + std::to_string(replicas) + ", template: {metadata: {annotations: {" +
           metadata + "}}, spec: {parallelism: 4, template: " + pod_template() + "}}}";
  };
  return object(
      "jobset.x-k8s.io/v1alpha2", "JobSet", "a", "labels: {kai.scheduler/queue: q}, annotations: {" + annotations + "}",
      "{replicatedJobs: [" + replicated("driver", 1, "") + ", " + replicated("workers", 2, job_annotations) + "]}");
}

TEST(KaiJobSet, IsOneGangWithReplicasInOneDomainEach) {
  EXPECT_EQ(sets(job_set("", "")), "driver 4/4 workers 8/8");
  const World world(kNetwork +
                    job_set("kai.scheduler/topology: network, kai.scheduler/topology-required-placement: zone",
                            "kai.scheduler/topology: network, "
                            "kai.scheduler/topology-required-placement: rack"));
  ASSERT_EQ(world.rejection("a"), "");
  EXPECT_EQ(root_of(world, "a").constraint.required, 0);
  EXPECT_EQ(root_of(world, "a").pod_sets.at(1).constraint.slices, (std::vector<Slice>{{.level = 1, .size = 4}}));
}

TEST(KaiJobSet, MayStartWithoutSomeOfItsJobsOrPods) {
  const World some(job_set("kai.scheduler/batch-min-member: '1'", ""));
  EXPECT_EQ(root_of(some, "a").min_groups, 1);
  EXPECT_EQ(sets(job_set("", "kai.scheduler/batch-min-member: '3'")), "driver 4/4 workers-0 4/3 workers-1 4/3");
}

std::string training(const std::string& kind, const std::string& member, const std::string& roles,
                     const std::string& rest = "", const std::string& metadata = "") {
  return object("kubeflow.org/v1", kind, "a", metadata, "{" + rest + member + ": {" + roles + "}}");
}

std::string role(const std::string& name, int replicas, const std::string& metadata = "") {
  return name + ": {replicas: " + std::to_string(replicas) + ", template: " + pod_template(metadata) + "}";
}

TEST(KaiTraining, TakesAllPodsOrTheMinimumThatItStates) {
  const std::string roles = role("Master", 1) + ", " + role("Worker", 4);
  EXPECT_EQ(sets(training("PyTorchJob", "pytorchReplicaSpecs", roles)), "master 1/1 worker 4/4");
  EXPECT_EQ(sets(training("PyTorchJob", "pytorchReplicaSpecs", roles, "elasticPolicy: {minReplicas: 3}, ")),
            "master 1/1 worker 4/2");
  EXPECT_EQ(sets(training("XGBoostJob", "xgbReplicaSpecs", roles)), "master 1/1 worker 4/4");
  const World world(training("TFJob", "tfReplicaSpecs", role("PS", 2) + ", " + role("Worker", 4),
                             "runPolicy: {schedulingPolicy: {minAvailable: 3}}, "));
  EXPECT_EQ(sets(world, "a"), "ps 2/0 worker 4/0");
  EXPECT_EQ(root_of(world, "a").min_pods, 3);
  EXPECT_NE(World(training("JAXJob", "jaxReplicaSpecs", role("Worker", 2),
                           "runPolicy: {schedulingPolicy: {minAvailable: 3}}, "))
                .rejection("a")
                .find("minAvailable is 3, more than the 2 pods"),
            std::string::npos);
}

TEST(KaiTraining, CutsItsWorkersIntoSegmentsInsideTheJobsZone) {
  const World world(kNetwork + training("PyTorchJob", "pytorchReplicaSpecs",
                                        role("Master", 1) + ", " +
                                            role("Worker", 8,
                                                 "annotations: {kai.scheduler/segment-size: '4', "
                                                 "kai.scheduler/segment-topology-required-placement: rack}"),
                                        "elasticPolicy: {minReplicas: 3}, ",
                                        "annotations: {kai.scheduler/topology: network, "
                                        "kai.scheduler/topology-required-placement: zone}"));
  ASSERT_EQ(world.rejection("a"), "");
  EXPECT_EQ(root_of(world, "a").constraint.required, 0);
  EXPECT_EQ(sets(world, "a"), "master 1/1 worker 8/4") << "a segment starts whole";
  EXPECT_EQ(root_of(world, "a").pod_sets.at(1).constraint.slices, (std::vector<Slice>{{.level = 1, .size = 4}}));
}

TEST(KaiRay, IsAHeadWithGroupsOfWorkers) {
  const World world(
      kNetwork +
      object("ray.io/v1", "RayCluster", "a", "",
             "{headGroupSpec: {template: " + pod_template() +
                 "}, workerGroupSpecs: [{groupName: g, replicas: 3, minReplicas: 2, numOfHosts: 2, template: " +
                 pod_template(kInARack) + "}]}"));
  ASSERT_EQ(world.rejection("a"), "");
  EXPECT_EQ(sets(world, "a"), "head 1/1 g 6/4");
  EXPECT_EQ(root_of(world, "a").pod_sets.at(1).constraint.required, 1);
  EXPECT_FALSE(root_of(world, "a").pod_sets.at(0).constraint.required);
}

TEST(KaiLeaderWorkerSet, IsAGangForEachReplicaCutAsItsPolicySays) {
  const auto set = [](int size, const std::string& policy) {
    return kNetwork + object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "a", "",
                             "{replicas: 2, leaderWorkerTemplate: {size: " + std::to_string(size) +
                                 ", subGroupPolicy: {subGroupSize: 2" + policy + "}, workerTemplate: " +
                                 pod_template("annotations: {kai.scheduler/topology: network, "
                                              "kai.scheduler/segment-topology-required-placement: rack}") +
                                 "}}");
  };
  const World even(set(5, ""));
  ASSERT_EQ(even.rejection("a-1"), "");
  EXPECT_EQ(sets(even, "a-1"), "workers-rest 2/2 leader 1/1 workers 2/2") << "the leader is beside the first two";
  EXPECT_EQ(root_of(even, "a-1").groups.at(0).constraint.required, 1);
  const World uneven(set(4, ""));
  EXPECT_EQ(root_of(uneven, "a-0").constraint.slices, (std::vector<Slice>{{.level = 1, .size = 2}}));
  const World excluded(set(5, ", subGroupPolicyType: LeaderExcluded"));
  EXPECT_EQ(root_of(excluded, "a-0").pod_sets.at(1).constraint.slices, (std::vector<Slice>{{.level = 1, .size = 2}}));
  EXPECT_NE(World(set(4, ", subGroupPolicyType: LeaderExcluded")).rejection("a").find("LeaderExcluded needs"),
            std::string::npos);
}

constexpr char kTrainJob[] =
    "{runtimeRef: {name: torch}, trainer: {numNodes: 4, resourcesPerNode: {requests: {nvidia.com/gpu: 8}}}}";

TEST(KaiTrainJob, IsTheJobSetOfItsRuntimeWithNodesOfItsOwn) {
  World world(kNetwork + object("trainer.kubeflow.org/v1alpha1", "TrainJob", "a", kInARack, kTrainJob) +
              object("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", "torch", "",
                     "{mlPolicy: {numNodes: 1}, template: {spec: {replicatedJobs: [{name: fetch, template: {spec: "
                     "{template: " +
                         pod_template() + "}}}, {name: node, template: {metadata: {labels: " +
                         "{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: "
                         "{containers: [{name: side}, {name: node}]}}}}}]}}}"));
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(sets(world, "a"), "fetch 1/1 node 4/4");
  EXPECT_EQ(root_of(world, "a").pod_sets.at(1).shape.requests.get(world.resource("nvidia.com/gpu")), 8);
  EXPECT_EQ(root_of(world, "a").constraint.required, 1);
}

TEST(KaiTrainJob, WithoutItsRuntimeIsItsNodesAlone) {
  World world(object("trainer.kubeflow.org/v1alpha1", "TrainJob", "a", "", kTrainJob));
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(sets(world, "a"), "node 4/4");
  EXPECT_EQ(root_of(world, "a").pod_sets.at(0).shape.requests.get(world.resource("nvidia.com/gpu")), 8);
  EXPECT_EQ(world.reading->notes.at(0),
            "1 TrainJob names a training runtime that is not in the input: only numNodes and resourcesPerNode count");
}

TEST(KaiPriority, ComesFromLabelsThenFromPodsThenFromTheKind) {
  const auto priority = [](const std::string& labels, const std::string& pod_spec, const std::string& classes = "") {
    return World(object("batch/v1", "Job", "a", "labels: {kai.scheduler/queue: q" + labels + "}",
                        "{template: {spec: {" + pod_spec + "containers: [{name: c}]}}}") +
                 classes)
        .job("a")
        .priority;
  };
  EXPECT_EQ(priority("", ""), 50);
  EXPECT_EQ(priority(", priorityClassName: build", ""), 100);
  EXPECT_EQ(priority("", "priorityClassName: inference, "), 125);
  EXPECT_EQ(priority(", priorityClassName: nothing", ""), 50);
  EXPECT_EQ(priority(", priorityClassName: train", "",
                     "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: train}\nvalue: 7\n"),
            7);
}

TEST(KaiGrouper, RefusesMoreGangsThanAnyClusterStarts) {
  const std::string queued = "labels: {kai.scheduler/queue: q}";
  const World pods(
      object("apps/v1", "Deployment", "d", queued, "{replicas: 200000, template: " + pod_template() + "}"));
  EXPECT_EQ(pods.rejection("d"), "test.yaml:5: spec.replicas asks for 200000 gangs; at most 100000 are planned");
  const World groups(
      object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "l", queued,
             "{replicas: 400000, leaderWorkerTemplate: {size: 2, workerTemplate: " + pod_template() + "}}"));
  EXPECT_EQ(groups.rejection("l"), "test.yaml:5: spec.replicas asks for 400000 gangs; at most 100000 are planned");
  const World jobs(object("jobset.x-k8s.io/v1alpha2", "JobSet", "j", queued,
                          "{replicatedJobs: [{name: w, replicas: 400000, template: {metadata: {annotations: "
                          "{kai.scheduler/batch-min-member: \"1\"}}, spec: {parallelism: 2, template: " +
                              pod_template() + "}}}]}"));
  EXPECT_EQ(jobs.rejection("j"), "test.yaml:5: replicas of \"w\" is 400000; at most 100000 are planned");
}

TEST(KaiTrainingJob, IsRejectedWhereARoleIsUnknown) {
  const World world(object("kubeflow.org/v1", "PyTorchJob", "a", "",
                           "{pytorchReplicaSpecs: {worker: {replicas: 2, template: " + pod_template() +
                               "}, Foo: {replicas: 1, template: " + pod_template() + "}}}"));
  EXPECT_EQ(world.rejection("a"), "test.yaml:5: spec.pytorchReplicaSpecs.Foo: a PyTorchJob has no such role");
}

}  // namespace
}  // namespace gantree
