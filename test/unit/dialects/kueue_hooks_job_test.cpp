#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "hooks.h"

namespace gantree {
namespace {

constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name: q";

// `labels` and `more` (metadata) and `spec` and `annotations` (of the template) are flow YAML without braces.
std::string job(std::string_view labels, std::string_view spec = "", std::string_view annotations = "",
                std::string_view more = "") {
  return fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: train, labels: {{{}}}, {}}}
spec: {{template: {{metadata: {{annotations: {{{}}}}}, spec: {{containers: [{{name: c}}]}}}}, {}}}
)",
                     labels, more, annotations, spec);
}

std::string job_set(std::string_view labels, std::string_view leader, std::string_view workers) {
  return fmt::format(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train, labels: {{{}}}}}
spec:
  replicatedJobs:
  - name: leader
    template: {{spec: {{template: {{metadata: {{annotations: {{{}}}}}, spec: {{containers: [{{name: c}}]}}}}}}}}
  - name: workers
    template: {{spec: {{parallelism: 4, template: {{metadata: {{annotations: {{{}}}}}, spec: {{containers: [{{name: c}}]}}}}}}}}
)",
                     labels, leader, workers);
}

TEST(JobHook, SuspendsJobsThatNameAQueue) {
  EXPECT_EQ(changes(job(kQueue)), "/spec/suspend = true\n");
  EXPECT_EQ(changes(job(kQueue, "suspend: false")), "/spec/suspend = true\n");
  EXPECT_EQ(changes(job_set(kQueue, "", "")), "/spec/suspend = true\n");
}

TEST(JobHook, LeavesOthersAlone) {
  EXPECT_EQ(changes(job("")), "");
  EXPECT_EQ(changes(job("kueue.x-k8s.io/queue-name: ''")), "");
  EXPECT_EQ(changes(job(kQueue, "suspend: true")), "");
  EXPECT_EQ(changes(job_set("a: b", "", "")), "");
}

TEST(JobHook, NeverSuspendsAJobThatIsThereAlready) {
  EXPECT_EQ(changes_on_update(job(kQueue), job("")), "");
  EXPECT_EQ(changes_on_update(job(kQueue), job(kQueue)), "");
}

TEST(JobHook, LeavesTheJobsOfAJobSetToTheJobSet) {
  const std::string_view owner =
      "ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: s, uid: u, controller: true}]";
  EXPECT_EQ(changes(job(kQueue, "", "", owner)), "");
  const std::string_view other =
      "ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: s, uid: u, controller: true}]";
  EXPECT_EQ(changes(job(kQueue, "", "", other)), "/spec/suspend = true\n");
}

TEST(JobHook, SaysThatAPrebuiltWorkloadIsNotWaitedFor) {
  const Mutation mutation =
      mutated(Sent(job("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/prebuilt-workload-name: mine")));
  EXPECT_TRUE(mutation.patch.empty());
  ASSERT_EQ(mutation.warnings.size(), 1U);
  EXPECT_NE(mutation.warnings.front().find("\"mine\": prebuilt workloads are not supported"), std::string::npos);
}

TEST(JobHook, RefusesAtOnceWhatContradictsItself) {
  const std::pair<std::string, std::string> kWrong[] = {
      {job("kueue.x-k8s.io/queue-name: Not_A_Name"), "is no name of a LocalQueue"},
      {job("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: '0'"), "at least 1"},
      {job(kQueue, "",
           "kueue.x-k8s.io/podset-required-topology: r, kueue.x-k8s.io/podset-unconstrained-topology: 'true'"),
       "contradicts"},
      {job(kQueue, "", "kueue.x-k8s.io/podset-required-topology: not a label!"), "\"not a label!\" is no node label"},
      {job(kQueue, "", "kueue.x-k8s.io/podset-slice-size: '2'"), "needs kueue.x-k8s.io/podset-slice-required-topology"},
      {job(kQueue, "", "kueue.x-k8s.io/podset-slice-required-topology: r, kueue.x-k8s.io/podset-slice-size: none"),
       "whole number"},
      {job(kQueue, "", "kueue.x-k8s.io/podset-slice-required-topology-constraints: '{}'"), "must be a JSON list"},
      {job(kQueue, "", "kueue.x-k8s.io/podset-group-name: ''"), "must not be empty"},
      {job(kQueue, "parallelism: 2", "", "annotations: {kueue.x-k8s.io/job-min-parallelism: '3'}"),
       "from 1 to the parallelism of 2"},
      {job_set(kQueue, "kueue.x-k8s.io/podset-group-name: g, kueue.x-k8s.io/podset-required-topology: r", ""),
       "a group has at least two"},
  };
  for (const auto& [object, message] : kWrong) {
    const std::string said = refusal(object);
    EXPECT_NE(said.find(message), std::string::npos) << said << "\n" << object;
    EXPECT_EQ(said.find("request:"), std::string::npos) << said;
  }
}

TEST(JobHook, LetsPassWhatIsFoundLater) {
  EXPECT_EQ(refusal(job(kQueue, "", "kueue.x-k8s.io/podset-required-topology: there-is-no-such-level")), "");
  EXPECT_EQ(refusal(job_set(kQueue, "kueue.x-k8s.io/podset-required-topology: r", "")), "");
  // Not ours.
  EXPECT_EQ(refusal(job("", "", "kueue.x-k8s.io/podset-slice-size: none")), "");
}

TEST(JobHook, LetsStayWhatWasWrongBefore) {
  const std::string wrong = job(kQueue, "suspend: true", "kueue.x-k8s.io/podset-slice-size: none");
  EXPECT_EQ(refusal_on_update(wrong, wrong), "");
  EXPECT_NE(refusal_on_update(wrong, job(kQueue, "suspend: true")), "");
}

TEST(JobHook, KeepsTheQueueOfAJobThatRuns) {
  const std::string other = job("kueue.x-k8s.io/queue-name: other");
  EXPECT_EQ(refusal_on_update(other, job(kQueue)),
            "kueue.x-k8s.io/queue-name cannot change from \"q\" to \"other\" while the Job runs");
  EXPECT_EQ(refusal_on_update(job(""), job(kQueue)),
            "kueue.x-k8s.io/queue-name cannot change from \"q\" to none while the Job runs");
  EXPECT_NE(refusal_on_update(job(kQueue), job("")), "");
  EXPECT_EQ(refusal_on_update(job("kueue.x-k8s.io/queue-name: other", "suspend: true"), job(kQueue, "suspend: true")),
            "");
  EXPECT_EQ(refusal_on_update(job(kQueue), job(kQueue, "suspend: true")), "");
}

TEST(JobHook, KeepsThePriorityClass) {
  const std::string with = "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high";
  EXPECT_NE(refusal_on_update(job(kQueue), job(with)).find("cannot be taken away"), std::string::npos);
  EXPECT_NE(refusal_on_update(job(with), job(kQueue)).find("cannot be added"), std::string::npos);
  EXPECT_EQ(refusal_on_update(job(with, "suspend: true"), job(kQueue, "suspend: true")), "");
  EXPECT_EQ(refusal_on_update(job("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: low"), job(with)), "");
}

TEST(JobHook, KeepsTheParallelismOfAJobThatStartedInPart) {
  const std::string_view partial = "annotations: {kueue.x-k8s.io/job-min-parallelism: '2'}";
  EXPECT_NE(refusal_on_update(job(kQueue, "parallelism: 5", "", partial), job(kQueue, "parallelism: 4", "", partial)),
            "");
  EXPECT_EQ(refusal_on_update(job(kQueue, "parallelism: 5, suspend: true", "", partial),
                              job(kQueue, "parallelism: 4", "", partial)),
            "");
  EXPECT_EQ(refusal_on_update(job(kQueue, "parallelism: 5"), job(kQueue, "parallelism: 4")), "");
}

TEST(JobHook, HoldsUpNothingThatIsGoing) {
  EXPECT_EQ(refusal_on_update(job("", "", "", "deletionTimestamp: 2026-01-01T00:00:00Z"), job(kQueue)), "");
}

TEST(JobHook, LetsNobodyStartAJobThatWaitsInItsQueue) {
  EXPECT_EQ(reserved_on_update(job(kQueue, "suspend: false"), job(kQueue, "suspend: true")),
            "spec.suspend cannot be set to false: Job \"train\" waits in queue \"q\", which starts it when it is "
            "admitted. To start it outside the queue, remove its label kueue.x-k8s.io/queue-name first");
  EXPECT_NE(reserved_on_update(job(kQueue), job(kQueue, "suspend: true")), "") << "without the field it is false";
  EXPECT_NE(reserved_on_update(job(kQueue, "suspend: null"), job(kQueue, "suspend: true")), "");
  const std::string waits =
      "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
      "metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {suspend: ";
  EXPECT_NE(reserved_on_update(waits + "false}", waits + "true}"), "");
}

TEST(JobHook, LetsAllOtherChangesOfJobsPass) {
  EXPECT_EQ(reserved_on_update(job(kQueue, "suspend: true"), job(kQueue, "suspend: true")), "");
  EXPECT_EQ(reserved_on_update(job(kQueue, "suspend: false"), job(kQueue, "suspend: false")), "") << "it runs";
  EXPECT_EQ(reserved_on_update(job(kQueue, "suspend: true"), job(kQueue, "suspend: false")), "") << "it is stopped";
  EXPECT_EQ(reserved_on_update(job("", "suspend: false"), job("", "suspend: true")), "") << "it is in no queue";
  const std::string_view owner =
      "ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: s, uid: u, controller: true}]";
  EXPECT_EQ(reserved_on_update(job(kQueue, "suspend: false", "", owner), job(kQueue, "suspend: true", "", owner)), "")
      << "JobSet starts the Jobs that it makes";
}

TEST(JobHook, HeedsThatAUserSuspendsAJobAndWantsItBack) {
  EXPECT_EQ(heeded_on_update(job(kQueue, "suspend: true"), job(kQueue)),
            "/metadata/annotations = {}\n/metadata/annotations/gantree.dev~1suspension = \"suspended\"\n");
  const std::string_view marked = "annotations: {gantree.dev/suspension: suspended}";
  EXPECT_EQ(heeded_on_update(job(kQueue, "suspend: false", "", marked), job(kQueue, "suspend: true", "", marked)),
            "/spec/suspend = true\n/metadata/annotations/gantree.dev~1suspension = \"resumed\"\n");
  EXPECT_EQ(heeded_on_update(job(kQueue, "suspend: false"), job(kQueue, "suspend: true")), "") << "that is refused";
  EXPECT_EQ(heeded_on_update(job("", "suspend: true"), job("")), "");
  EXPECT_EQ(heeded_on_update(job(kQueue, "parallelism: 2"), job(kQueue)), "");
}

}  // namespace
}  // namespace gantree
