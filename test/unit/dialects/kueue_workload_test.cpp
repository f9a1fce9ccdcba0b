// Jobs and JobSets: which of them ask, for how many pods, in which groups.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

// A replicated job of a JobSet; `annotations` is a flow map without braces.
std::string replicated(const std::string& name, int replicas, int parallelism, const std::string& annotations = "",
                       const std::string& gpus = "1") {
  return "  - name: " + name + "\n    replicas: " + std::to_string(replicas) +
         "\n    template:\n      spec:\n        parallelism: " + std::to_string(parallelism) +
         "\n        template:\n          metadata: {annotations: {" + annotations +
         "}}\n          spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: " + gpus + "}}}]}\n";
}

std::string jobset(const std::string& replicated_jobs, const std::string& rest = "") {
  return "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
         "metadata: {name: set, namespace: default, labels: {kueue.x-k8s.io/queue-name: queue}}\n" +
         rest + "spec:\n  replicatedJobs:\n" + replicated_jobs;
}

// A Job with a spec and a status of one's own.
std::string bare_job(const std::string& spec, const std::string& rest = "", const std::string& metadata = "") {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: default, labels: "
         "{kueue.x-k8s.io/queue-name: queue}" +
         (metadata.empty() ? "" : ", " + metadata) + "}\nspec:\n" + spec +
         "  template: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}}\n" + rest;
}

int pods_of(const std::string& manifests) {
  const World world(kSetup + manifests);
  return world.job("a").pod_sets.at(0).second;
}

std::size_t asking(const std::string& manifests) {
  const World world(kSetup + manifests);
  EXPECT_EQ(world.error(), "");
  return world.reading ? world.reading->queue.size() : 0;
}

TEST(Job, HasOnePodSetOfItsParallelism) {
  EXPECT_EQ(pods_of(bare_job("  parallelism: 6\n")), 6);
  EXPECT_EQ(pods_of(bare_job("")), 1);
  EXPECT_EQ(pods_of(bare_job("  parallelism: 6\n  completions: 4\n")), 4);
  EXPECT_EQ(pods_of(bare_job("  parallelism: 6\n  completions: 40\n")), 6);
}

TEST(Job, IsRejectedWhereItsParallelismIsNegative) {
  const World world(kSetup + bare_job("  parallelism: -3\n"));
  EXPECT_EQ(world.rejection("a"), "test.yaml:36: parallelism is -3, but must not be negative");
}

TEST(Job, OfNoPodsHasNothingToPlace) {
  const World world(kSetup + bare_job("  parallelism: 0\n"));
  EXPECT_EQ(world.rejection("a"), "");
  ASSERT_EQ(world.job("a").parts.at(0).size(), 1U);
  EXPECT_TRUE(pod_sets(world.job("a").parts[0][0].gang.root).empty());
}

TEST(Job, MayStartWithFewerPodsWhereItSaysSo) {
  const World world(kSetup +
                    bare_job("  parallelism: 6\n", "", "annotations: {kueue.x-k8s.io/job-min-parallelism: '2'}"));
  EXPECT_EQ(world.job("a").parts.at(0).at(0).gang.root.pod_sets.at(0).min_count, 2);
  for (const char* bad : {"'0'", "'7'", "some", "'-1'"}) {
    const World refused(kSetup +
                        bare_job("  parallelism: 6\n", "",
                                 std::string("annotations: {kueue.x-k8s.io/job-min-parallelism: ") + bad + "}"));
    EXPECT_NE(refused.rejection("a").find("job-min-parallelism must be a whole number from 1 to"), std::string::npos);
  }
}

TEST(Job, DoesNotAskWhenItIsOver) {
  EXPECT_EQ(asking(bare_job("", "status: {conditions: [{type: Complete, status: 'True'}]}\n")), 0U);
  EXPECT_EQ(asking(bare_job("", "status: {conditions: [{type: Failed, status: 'True'}]}\n")), 0U);
  EXPECT_EQ(asking(bare_job("", "status: {conditions: [{type: Failed, status: 'False'}]}\n")), 1U);
  EXPECT_EQ(asking(bare_job("", "", "deletionTimestamp: 2026-01-01T00:00:00Z")), 0U);
}

TEST(Job, DoesNotAskWhenItRunsButUsesItsQuota) {
  for (const char* status : {"status: {active: 3}\n", "status: {startTime: 2026-01-01T00:00:00Z}\n"}) {
    World world(kSetup + bare_job("  parallelism: 3\n", status));
    ASSERT_TRUE(world.reading) << world.error();
    EXPECT_TRUE(world.reading->queue.empty());
    EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(1)).resource, "nvidia.com/gpu");
    EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(1)).used, 3);
  }
}

TEST(Job, AsksWhenItIsSuspendedWhateverItsStatus) {
  EXPECT_EQ(asking(bare_job("  suspend: true\n", "status: {startTime: 2026-01-01T00:00:00Z}\n")), 1U);
  EXPECT_EQ(asking(bare_job("  suspend: true\n", "status: {active: 3}\n")), 1U);
}

TEST(Job, OfAJobSetThatIsPlannedDoesNotAskForItself) {
  const std::string owned = bare_job("", "", "ownerReferences: [{kind: JobSet, name: set, controller: true}]");
  EXPECT_EQ(asking(owned + jobset(replicated("w", 1, 1))), 1U);
  EXPECT_EQ(asking(owned), 1U) << "its owner is not in the input";
}

TEST(Job, KeepsItsCreationTime) {
  const World world(kSetup + bare_job("", "", "creationTimestamp: 1970-01-02T00:00:00Z"));
  EXPECT_EQ(world.job("a").created_seconds, 86400);
  EXPECT_EQ(World(kSetup + bare_job("", "", "creationTimestamp: null")).job("a").created_seconds, 0);
}

TEST(JobSet, HasAPodSetForEveryReplicatedJob) {
  const World world(kSetup + jobset(replicated("leader", 1, 1) + replicated("workers", 2, 4)));
  EXPECT_EQ(world.job("set").pod_sets, (std::vector<std::pair<std::string, int>>{{"leader", 1}, {"workers", 8}}));
  EXPECT_EQ(world.job("set").key.kind, "JobSet");
}

TEST(JobSet, SlicesByItsParallelismWhereNoSizeIsGiven) {
  const World world(kSetup +
                    jobset(replicated("workers", 2, 4, "kueue.x-k8s.io/podset-slice-required-topology: net/rack")));
  EXPECT_EQ(world.constraint("set").slices, (std::vector<Slice>{{.level = 1, .size = 4}}));
}

TEST(JobSet, OfTooManyPodsIsRejected) {
  const World world(kSetup + jobset(replicated("workers", 2000000000, 2000000000)));
  EXPECT_NE(world.rejection("set").find("replicas times parallelism of \"workers\" would be 4000000000000000000 pods"),
            std::string::npos);
}

TEST(JobSet, LeavesOutReplicatedJobsOfNoPods) {
  const World world(kSetup + jobset(replicated("none", 0, 4) + replicated("workers", 2, 4)));
  ASSERT_EQ(world.job("set").parts.at(0).size(), 1U);
  EXPECT_EQ(pod_sets(world.job("set").parts[0][0].gang.root).size(), 1U);
  EXPECT_EQ(world.job("set").pod_sets.at(0), (std::pair<std::string, int>("none", 0)));
}

TEST(JobSet, IsOverOrRunsByItsStatus) {
  EXPECT_EQ(asking(jobset(replicated("w", 1, 1), "status: {conditions: [{type: Completed, status: 'True'}]}\n")), 0U);
  EXPECT_EQ(asking(jobset(replicated("w", 1, 1), "status: {replicatedJobsStatus: [{name: w, active: 1}]}\n")), 0U);
  EXPECT_EQ(asking(jobset(replicated("w", 1, 1), "status: {replicatedJobsStatus: [{name: w, active: 0}]}\n")), 1U);
}

TEST(JobSet, MustAskForATopologyInEveryTemplateOrInNone) {
  const World world(kSetup + jobset(replicated("leader", 1, 1) + replicated("workers", 2, 4, required("net/rack"))));
  EXPECT_EQ(
      world.rejection("set"),
      "test.yaml:51: pod set \"workers\" has kueue.x-k8s.io/podset-required-topology, but pod set \"leader\" asks "
      "for no topology: every template of a job must have such an annotation, or none");
  const World unconstrained(kSetup +
                            jobset(replicated("leader", 1, 1, "kueue.x-k8s.io/podset-unconstrained-topology: 'true'") +
                                   replicated("workers", 2, 4, required("net/rack"))));
  EXPECT_EQ(unconstrained.rejection("set"), "");
}

TEST(JobSet, MayNotHaveOneNameTwice) {
  const World world(kSetup + jobset(replicated("w", 1, 1) + replicated("w", 1, 1)));
  EXPECT_NE(world.rejection("set").find("has the name \"w\" twice"), std::string::npos);
}

std::string grouped(const std::string& level, const std::string& group = "g") {
  return required(level) + ", kueue.x-k8s.io/podset-group-name: " + group;
}

TEST(PodSetGroup, CarriesTheRequestOfItsSets) {
  const World world(
      kSetup +
      jobset(replicated("launcher", 1, 1, grouped("net/rack")) + replicated("other", 1, 1, required("net/block")) +
             replicated("workers", 2, 4, grouped("net/rack")) + replicated("more", 1, 2, grouped("net/rack"))));
  ASSERT_EQ(world.rejection("set"), "");
  const auto& parts = world.job("set").parts;
  const Alternative alternative = together(std::vector{&parts.at(0).at(0), &parts.at(1).at(0)});
  const Group& root = alternative.gang.root;
  ASSERT_EQ(root.groups.size(), 1U);
  EXPECT_EQ(root.groups[0].name, "g");
  EXPECT_EQ(root.groups[0].constraint.required, 1);
  ASSERT_EQ(root.groups[0].pod_sets.size(), 3U) << "any number of pod sets, not only leader and workers";
  EXPECT_FALSE(root.groups[0].pod_sets[0].constraint.required);
  EXPECT_EQ(root.groups[0].pod_sets[0].constraint.packing, Packing::kPack);
  ASSERT_EQ(root.pod_sets.size(), 1U);
  EXPECT_EQ(root.pod_sets[0].name, "other");
  ASSERT_EQ(alternative.demand.size(), 4U);
  EXPECT_EQ(world.job("set").pod_sets.at(0).first, "launcher") << "reports keep the order of the manifest";
}

TEST(PodSetGroup, TakesTheCoarsestRequiredLevelAndLeavesAFinerOneToItsSet) {
  const World world(kSetup + jobset(replicated("loaders", 1, 2, grouped("net/block")) +
                                    replicated("workers", 1, 4, grouped("net/rack"))));
  ASSERT_EQ(world.rejection("set"), "");
  const Group& group = world.job("set").parts.at(0).at(0).gang.root.groups.at(0);
  EXPECT_EQ(group.constraint.required, 0);
  EXPECT_FALSE(group.pod_sets.at(0).constraint.required);
  EXPECT_EQ(group.pod_sets.at(1).constraint.required, 1);
}

TEST(PodSetGroup, IsRefusedWhereItsSetsDoNotAgree) {
  struct Case {
    std::string first;
    std::string second;
    const char* says;
  };
  const std::string group = "kueue.x-k8s.io/podset-group-name: g";
  for (const Case& one :
       {Case{grouped("net/rack"), preferred("net/rack") + ", " + group, "ask for different topologies"},
        Case{grouped("net/rack"), required("net/rack"), "a group has at least two"},
        Case{grouped("net/rack"), grouped("net/rack", "h"), "a group has at least two"},
        Case{group + ", kueue.x-k8s.io/podset-unconstrained-topology: 'true'",
             group + ", kueue.x-k8s.io/podset-unconstrained-topology: 'true'",
             "podset-group-name needs kueue.x-k8s.io/podset-required-topology"},
        Case{grouped("net/block") + ", kueue.x-k8s.io/podset-slice-required-topology: net/rack", grouped("net/block"),
             "podset-group-name excludes kueue.x-k8s.io/podset-slice-required-topology"}}) {
    const World world(kSetup + jobset(replicated("x", 1, 1, one.first) + replicated("z", 1, 4, one.second)));
    EXPECT_NE(world.rejection("set").find(one.says), std::string::npos) << world.rejection("set");
  }
}

}  // namespace
}  // namespace gantree
