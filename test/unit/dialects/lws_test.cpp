// LeaderWorkerSets and JobSets that want domains to themselves: which gangs they become, and what is refused.
#include <gtest/gtest.h>

#include "cycle/cycle.h"
#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

constexpr char kPod[] = "{containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}";

// `group` and `metadata` are flow maps without their braces.
std::string set(const std::string& group, const std::string& metadata = "", int replicas = 1) {
  return "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: s, namespace: default" +
         (metadata.empty() ? "" : ", " + metadata) + "}\nspec: {replicas: " + std::to_string(replicas) +
         ", leaderWorkerTemplate: {" + group + ", workerTemplate: {spec: " + kPod + "}}}\n";
}

std::string node(const std::string& name, const std::string& rack, int gpus, const std::string& more = "") {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {net/rack: " + rack + more +
         "}}, status: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: " + std::to_string(gpus) + "}}}\n";
}

std::string bound(const std::string& name, int group, int worker, const std::string& host) {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         ", namespace: default, labels: {leaderworkerset.sigs.k8s.io/name: s, "
         "leaderworkerset.sigs.k8s.io/group-index: '" +
         std::to_string(group) + "', leaderworkerset.sigs.k8s.io/worker-index: '" + std::to_string(worker) +
         "'}, ownerReferences: [{kind: LeaderWorkerSet, name: s, controller: true}]}, spec: {nodeName: " + host +
         ", containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}}\n";
}

// "leader:1 workers:3" of the first alternative; groups in brackets.
std::string shape_of(const Group& group) {
  std::string text;
  for (const PodSet& pods : group.pod_sets) {
    text += (text.empty() ? "" : " ") + pods.name + ":" + std::to_string(pods.count);
  }
  for (const Group& nested : group.groups) {
    text += (text.empty() ? "[" : " [") + shape_of(nested) + "]";
  }
  return text;
}

std::string shape(const std::string& group) {
  const World world(set(group));
  return shape_of(world.job("s-0").parts.at(0).at(0).gang.root);
}

TEST(LeaderWorkerSet, IsOneGangAReplica) {
  const World world(set("size: 4", "", 3));
  ASSERT_TRUE(world.reading) << world.error();
  ASSERT_EQ(world.reading->queue.size(), 3U);
  EXPECT_EQ(world.reading->queue[2].key, (GangKey{"default", "s-2", "LeaderWorkerSet"}));
  EXPECT_EQ(world.reading->queue[2].dialect, "lws");
  EXPECT_EQ(shape("size: 4"), "leader:1 workers:3");
  EXPECT_EQ(shape("size: 1"), "leader:1");
}

TEST(LeaderWorkerSet, NestsItsSubGroups) {
  EXPECT_EQ(shape("size: 5, subGroupPolicy: {subGroupSize: 2}"), "[leader:1 workers-0:2] [workers-1:2]");
  EXPECT_EQ(shape("size: 4, subGroupPolicy: {subGroupSize: 2}"), "[leader:1 workers-0:1] [workers-1:2]");
  EXPECT_EQ(shape("size: 5, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: LeaderExcluded}"),
            "leader:1 [workers-0:2] [workers-1:2]");
}

TEST(LeaderWorkerSet, WantsADomainToItselfByFieldOrByAnnotation) {
  for (const auto& [group, metadata] :
       {std::pair("size: 2, schedulingPolicy: {exclusiveTopology: {perReplica: net/rack}}", ""),
        std::pair("size: 2",
                  "annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: "
                  "net/rack}")}) {
    World world(node("a", "r1", 4) + set(group, metadata));
    const Gang& gang = world.job("s-0").parts.at(0).at(0).gang;
    EXPECT_EQ(gang.root.constraint.required, 0);
    EXPECT_EQ(gang.root.constraint.exclusive, 0);
    EXPECT_EQ(world.cluster.engine().topology(gang.topology).levels.at(0), "net/rack");
  }
}

TEST(LeaderWorkerSet, UsesATopologyThatHasItsLabels) {
  const World world(kSetup + set("size: 2, schedulingPolicy: {exclusiveTopology: {perReplica: net/rack}}"));
  EXPECT_EQ(world.job("s-0").parts.at(0).at(0).gang.root.constraint.required, 1) << "the rack of block, rack, host";
}

TEST(LeaderWorkerSet, GivesLeaderAndWorkersTheLeadersNameAsSelectorAndToleration) {
  World world(
      set("size: 2, schedulingPolicy: {uniqueNodeGroup: {replicaUniqueNodeSelector: pool, "
          "replicaUniqueToleration: {key: own, effect: NoExecute}}}",
          "", 2));
  Interner& strings = world.cluster.inventory().strings();
  for (const PodSet& pods : world.job("s-1").parts.at(0).at(0).gang.root.pod_sets) {
    ASSERT_EQ(pods.shape.node_selector.size(), 1U);
    EXPECT_EQ(strings.text(pods.shape.node_selector[0].key), "pool");
    EXPECT_EQ(strings.text(pods.shape.node_selector[0].value), "s-1");
    ASSERT_EQ(pods.shape.tolerations.size(), 1U);
    EXPECT_EQ(strings.text(pods.shape.tolerations[0].value), "s-1");
    EXPECT_EQ(pods.shape.tolerations[0].effect, TaintEffect::kNoExecute);
  }
}

TEST(LeaderWorkerSet, IsRejectedByTheNameOfTheFieldThatIsWrong) {
  const std::string policy = "spec.leaderWorkerTemplate.schedulingPolicy.";
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {"size: 2, schedulingPolicy: {uniqueNodeGroup: {replicaUniqueToleration: {key: a, effect: Sometimes}}}",
       policy + "uniqueNodeGroup.replicaUniqueToleration.effect must be NoSchedule, PreferNoSchedule or NoExecute, not "
                "\"Sometimes\""},
      {"size: 2, schedulingPolicy: {uniqueNodeGroup: {replicaUniqueToleration: {effect: NoSchedule}}}",
       policy + "uniqueNodeGroup.replicaUniqueToleration needs a key"},
      {"size: 2, schedulingPolicy: {uniqueNodeGroup: {replicaUniqueToleration: {key: a}}}",
       policy + "uniqueNodeGroup.replicaUniqueToleration needs an effect"},
      {"size: 2, schedulingPolicy: {uniqueNodeGroup: {replicaUniqueNodeSelector: 'not a key'}}",
       policy + "uniqueNodeGroup.replicaUniqueNodeSelector must be a label key, not \"not a key\""},
      {"size: 2, schedulingPolicy: {exclusiveTopology: {perReplica: '-/x'}}",
       policy + "exclusiveTopology.perReplica must be a label key, not \"-/x\""},
      {"size: 2, schedulingPolicy: {exclusiveTopology: {perSubGroup: net/rack}}",
       policy + "exclusiveTopology.perSubGroup needs a subGroupPolicy: this LeaderWorkerSet has no subgroups"},
      {"size: 6, subGroupPolicy: {subGroupSize: 4}",
       "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize is 4, which divides neither the size 6 nor the 5 "
       "workers"},
      {"size: 4098, subGroupPolicy: {subGroupSize: 2}",
       "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize is 2, which makes 2049 subgroups; at most 2048 are "
       "placed "
       "together"},
      {"size: 4, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: Random}",
       "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType must be LeaderWorker or LeaderExcluded, not "
       "\"Random\""},
      {"size: 0", "leaderWorkerTemplate.size must be at least 1"},
  };
  for (const auto& [group, wanted] : kCases) {
    const World world(set(group, "", 3));
    ASSERT_TRUE(world.reading) << group << ": " << world.error();
    EXPECT_EQ(world.reading->queue.size(), 1U) << "once, not once a replica: " << group;
    EXPECT_EQ(world.rejection("s-0"), "test.yaml:5: " + wanted);
  }
}

TEST(LeaderWorkerSet, MayNotSayOneThingInAFieldAndAnotherInAnAnnotation) {
  const World world(set("size: 2, schedulingPolicy: {exclusiveTopology: {perReplica: net/rack}}",
                        "annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: net/block}"));
  EXPECT_NE(world.rejection("s-0").find("perReplica is \"net/rack\", but the annotation "), std::string::npos);
}

TEST(LeaderWorkerSet, WithMoreReplicasThanAnyClusterHoldsIsRejected) {
  EXPECT_NE(World(set("size: 1", "", 1'000'000'000)).rejection("s-0").find("at most"), std::string::npos);
}

TEST(LeaderWorkerSet, WhoseLeaderRunsAsksForItsWorkersInTheLeadersDomain) {
  World world(node("a", "r1", 2) + node("b", "r2", 4) + bound("s-0", 0, 0, "b") +
              set("size: 2, schedulingPolicy: {exclusiveTopology: {perReplica: net/rack}}", "", 2));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(shape_of(world.job("s-0").parts.at(0).at(0).gang.root), "workers:1");
  EXPECT_EQ(shape_of(world.job("s-1").parts.at(0).at(0).gang.root), "leader:1 workers:1");
  ASSERT_EQ(world.cluster.running().size(), 1U);
  EXPECT_EQ(world.cluster.running()[0].key, (GangKey{"default", "s-0", "LeaderWorkerSet"}));
  EXPECT_EQ(world.cluster.running()[0].exclusives.size(), 1U);
}

TEST(LeaderWorkerSet, WhoseGroupsRunAsksForNothingMore) {
  const World world(node("a", "r1", 4) + bound("s-0", 0, 0, "a") + bound("s-0-1", 0, 1, "a") + set("size: 2"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_TRUE(world.reading->queue.empty());
}

std::string job_set(const std::string& annotations, const std::string& job_annotations = "", int replicas = 2) {
  return "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j, namespace: default, "
         "annotations: {" +
         annotations + "}}\nspec: {replicatedJobs: [{name: w, replicas: " + std::to_string(replicas) +
         ", template: {metadata: {annotations: {" + job_annotations +
         "}}, spec: {parallelism: 3, template: {spec: " + kPod + "}}}}]}\n";
}

constexpr char kOwnRack[] = "alpha.jobset.sigs.k8s.io/exclusive-topology: net/rack";

TEST(JobSet, GivesEveryChildJobADomainToItself) {
  for (const World& world : {World(job_set(kOwnRack)), World(job_set("", kOwnRack))}) {
    const Gang& gang = world.job("j").parts.at(0).at(0).gang;
    EXPECT_EQ(gang.dialect, "lws");
    EXPECT_EQ(shape_of(gang.root), "[w-0:3] [w-1:3]");
    EXPECT_EQ(gang.root.groups.at(1).constraint.exclusive, 0);
  }
}

TEST(JobSet, ThatAsksForNothingIsOfTheDefaultFamily) {
  EXPECT_EQ(World(job_set("")).job("j").dialect, "kueue");
}

TEST(JobSet, IsRejectedWhereTheLabelOfTheDomainIsNone) {
  EXPECT_NE(
      World(job_set("alpha.jobset.sigs.k8s.io/exclusive-topology: 'a b'")).rejection("j").find("must be a label key"),
      std::string::npos);
}

TEST(JobSet, WithMoreJobsThanArePlacedTogetherIsRejected) {
  EXPECT_EQ(World(job_set(kOwnRack, "", 2048)).rejection("j"), "");
  EXPECT_EQ(World(job_set(kOwnRack, "", 2049)).rejection("j"),
            "test.yaml:5: replicas of \"w\" makes 2049 Jobs; at most 2048 are placed together");
}

TEST(JobSet, MayUseNodesThatAnAdministratorLabelledForItsJobs) {
  World world(job_set(std::string(kOwnRack) + ", alpha.jobset.sigs.k8s.io/node-selector: 'true'"));
  const PodShape& shape = world.job("j").parts.at(0).at(0).gang.root.groups.at(1).pod_sets.at(0).shape;
  ASSERT_EQ(shape.node_selector.size(), 1U);
  EXPECT_EQ(world.cluster.inventory().strings().text(shape.node_selector[0].value), "default_j-w-1");
  EXPECT_EQ(shape.tolerations.size(), 1U);
}

}  // namespace
}  // namespace gantree
