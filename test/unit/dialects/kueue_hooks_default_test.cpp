// New objects that do not carry the label of a queue.
#include <gmock/gmock.h>

#include "hooks.h"

namespace gantree {
namespace {

using testing::HasSubstr;

const char* const kJob = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec: {containers: [{name: c}]}
)";

std::string enqueued(const std::string& yaml, bool has_default = true) {
  const Sent sent(yaml);
  return changes(enqueue(sent.mutator(), sent.named(), JobDefaults{.queue = has_default}));
}

// The same object with the metadata of a manifest like the one above.
std::string with_metadata(std::string yaml, const std::string& metadata) {
  const std::size_t at = yaml.find("{name: ");
  return yaml.replace(at, yaml.find('}', at) + 1 - at, metadata);
}

std::string made_by(const std::string& yaml, const std::string& api, const std::string& kind) {
  return with_metadata(yaml, "{name: made, ownerReferences: [{apiVersion: " + api + ", kind: " + kind +
                                 ", name: maker, uid: u, controller: true}]}");
}

TEST(DefaultQueue, TakesAJobThatNamesNoneAndHoldsItBackInTheSameAnswer) {
  EXPECT_EQ(enqueued(kJob),
            "/metadata/labels = {}\n"
            "/metadata/labels/kueue.x-k8s.io~1queue-name = \"default\"\n"
            "/spec/suspend = true\n");
}

TEST(DefaultQueue, IsNotMissedWhereTheNamespaceHasNone) {
  EXPECT_EQ(enqueued(kJob, false), "");
}

TEST(DefaultQueue, KeepsTheLabelsThatAreThere) {
  EXPECT_EQ(enqueued(with_metadata(kJob, "{name: train, labels: {team: a}}")),
            "/metadata/labels/kueue.x-k8s.io~1queue-name = \"default\"\n"
            "/spec/suspend = true\n");
}

TEST(DefaultQueue, IsNotForThoseThatNameTheirQueueByAnAnnotation) {
  const std::string job = with_metadata(kJob, "{name: train, annotations: {kueue.x-k8s.io/queue-name: mine}}");
  for (const bool has_default : {true, false}) {
    EXPECT_EQ(enqueued(job, has_default),
              "/metadata/labels = {}\n"
              "/metadata/labels/kueue.x-k8s.io~1queue-name = \"mine\"\n"
              "/spec/suspend = true\n");
  }
}

TEST(DefaultQueue, ALabelCountsBeforeIt) {
  EXPECT_EQ(enqueued(with_metadata(kJob, "{name: train, labels: {kueue.x-k8s.io/queue-name: mine}}")), "");
}

TEST(DefaultQueue, WhatMakesNoSenseIsRefusedAsInAnyOther) {
  const Sent sent(with_metadata(kJob, "{name: train, annotations: {kueue.x-k8s.io/queue-name: No Name}}"));
  EXPECT_THAT(enqueue(sent.mutator(), sent.named(), JobDefaults{}).refusal.value_or(""),
              HasSubstr("is no name of a LocalQueue"));
}

TEST(DefaultQueue, JobsOfACronJobWaitForThemselves) {
  EXPECT_THAT(enqueued(made_by(kJob, "batch/v1", "CronJob")), HasSubstr("\"default\""));
}

TEST(DefaultQueue, WhatAWorkloadMakesWaitsWithItOrNotAtAll) {
  for (const auto& [api, kind] : {std::pair{"jobset.x-k8s.io/v1alpha2", "JobSet"},
                                  {"kubeflow.org/v2beta1", "MPIJob"},
                                  {"ray.io/v1", "RayJob"},
                                  {"trainer.kubeflow.org/v1alpha1", "TrainJob"}}) {
    EXPECT_EQ(enqueued(made_by(kJob, api, kind)), "") << kind;
  }
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";
  for (const auto& [api, kind] : {std::pair{"batch/v1", "Job"},
                                  {"apps/v1", "ReplicaSet"},
                                  {"apps/v1", "StatefulSet"},
                                  {"apps/v1", "DaemonSet"},
                                  {"v1", "Node"},
                                  {"kubeflow.org/v1", "PyTorchJob"},
                                  {"ray.io/v1", "RayCluster"}}) {
    EXPECT_EQ(enqueued(made_by(pod, api, kind)), "") << kind;
  }
  EXPECT_THAT(enqueued(made_by(pod, "argoproj.io/v1alpha1", "Workflow")), HasSubstr("\"default\""));
}

TEST(DefaultQueue, APodIsGatedAndThoseWithANodeAreLeftAlone) {
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";
  const std::string gated = enqueued(pod);
  EXPECT_THAT(gated, HasSubstr("/metadata/labels/kueue.x-k8s.io~1queue-name = \"default\"\n"));
  EXPECT_THAT(gated, HasSubstr("/metadata/labels/kueue.x-k8s.io~1managed = \"true\"\n"));
  EXPECT_THAT(gated, HasSubstr("kueue.x-k8s.io/admission"));
  const std::string bound =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: host-1, containers: [{name: c}]}\n";
  EXPECT_EQ(enqueued(bound), "");
}

TEST(DefaultQueue, ServingWorkloadsPassItOnToTheirPods) {
  const std::string set =
      "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {replicas: 2, template: {spec: {containers: "
      "[{name: c}]}}}\n";
  EXPECT_THAT(enqueued(set), HasSubstr("/spec/template/metadata/labels/kueue.x-k8s.io~1queue-name = \"default\"\n"));
}

TEST(DefaultQueue, APrebuiltWorkloadIsLeftAlone) {
  EXPECT_EQ(enqueued(with_metadata(kJob, "{name: train, labels: {kueue.x-k8s.io/prebuilt-workload-name: w}}")), "");
}

}  // namespace
}  // namespace gantree
