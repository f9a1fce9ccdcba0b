// PodGroups of KAI: what they may say, who joins, and what is missing of those that run.
#include <gtest/gtest.h>

#include "unit/dialects/kai_manifests.h"

namespace gantree {
namespace {

std::string rejection(const std::string& spec) {
  const World world(pod_group("g", spec) + member("p", "g", "a"));
  EXPECT_EQ(world.error(), "");
  return world.rejection("g");
}

TEST(KaiPodGroup, IsRejectedWhereItsSubgroupsAreNoTree) {
  EXPECT_NE(rejection("{subGroups: [{name: a, minMember: 1}, {name: a, minMember: 1}]}").find("the name \"a\" twice"),
            std::string::npos);
  EXPECT_NE(rejection("{subGroups: [{name: a, minMember: 1, parent: b}]}").find("there is no subgroup \"b\""),
            std::string::npos);
  EXPECT_NE(rejection("{subGroups: [{name: a, parent: b}, {name: b, parent: a}]}").find("is above itself"),
            std::string::npos);
}

TEST(KaiPodGroup, IsRejectedWhereItsMinimaAreInTheWrongPlace) {
  EXPECT_NE(rejection("{minMember: 1, minSubGroup: 1}").find("exclude each other"), std::string::npos);
  EXPECT_NE(rejection("{subGroups: [{name: a}]}").find("subgroup \"a\" needs minMember"), std::string::npos);
  EXPECT_NE(rejection("{subGroups: [{name: a, minSubGroup: 1}]}").find("no subgroups"), std::string::npos);
  EXPECT_NE(rejection("{subGroups: [{name: b, minMember: 1}, {name: a, minMember: 1, parent: b}]}")
                .find("minSubGroup is meant"),
            std::string::npos);
  EXPECT_NE(rejection("{minMember: -1}").find("must not be negative"), std::string::npos);
  EXPECT_NE(rejection("{preemptibility: maybe}").find("preemptibility \"maybe\""), std::string::npos);
}

TEST(KaiPodGroup, ThatIsMalformedEndsThePlan) {
  EXPECT_EQ(World(pod_group("g", "{minMember: two}")).error(),
            "test.yaml:5: PodGroup \"default/g\": spec.minMember must be a number, not a string");
}

TEST(KaiPodGroup, MakesOneSetOfEqualPodsInTheOrderOfTheirNumbers) {
  const World world(pod_group("g", "{minMember: 2}") + member("p-10", "g") + member("p-9", "g") + member("p-0", "g"));
  ASSERT_EQ(world.rejection("g"), "");
  const PodSet& set = root_of(world, "g").pod_sets.at(0);
  EXPECT_EQ(set.name, "main");
  EXPECT_EQ(set.count, 3);
  EXPECT_EQ(set.min_count, 2);
  EXPECT_EQ(set.pods, (std::vector<std::string>{"p-0", "p-9", "p-10"}));
}

TEST(KaiPodGroup, WaitsForPodsThatAreNotThere) {
  const World world(pod_group("g", "{minMember: 3}") + member("p-0", "g"));
  ASSERT_TRUE(world.job("g").rejection);
  EXPECT_TRUE(world.job("g").rejection->waits);
  EXPECT_EQ(world.job("g").rejection->reason, Reason::kGangIncomplete);
  EXPECT_EQ(world.rejection("g"), "the PodGroup has 1 of the 3 pods that it needs");
}

TEST(KaiPodGroup, LeavesOutSubgroupsThatItCanDoWithout) {
  const World world(pod_group("g",
                              "{minSubGroup: 1, subGroups: [{name: a, minMember: 1}, {name: b, minMember: 2}, "
                              "{name: c, minMember: 1}]}") +
                    member("p", "g", "a") + member("q", "g", "b") + member("r", "g", "c"));
  ASSERT_EQ(world.rejection("g"), "");
  ASSERT_EQ(root_of(world, "g").groups.size(), 2U);
  EXPECT_EQ(root_of(world, "g").min_groups, 1);
}

TEST(KaiPodGroup, TakesTheTemplatesOfWorkloadsThatJoinIt) {
  const auto joining = [](const std::string& name) {
    return object("batch/v1", "Job", name, "annotations: {kai.scheduler/skip-podgrouper: 'true'}",
                  "{parallelism: 2, template: " + pod_template("annotations: {pod-group-name: g}") + "}");
  };
  const World world(pod_group("g", "{minMember: 4}") + joining("left") + joining("right"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->queue.size(), 1U);
  EXPECT_EQ(world.job("g").pod_sets, (std::vector<std::pair<std::string, int>>{{"left", 2}, {"right", 2}}));
  EXPECT_EQ(root_of(world, "g").min_pods, 4);
}

TEST(KaiPodGroup, ThatIsNotThereKeepsItsPodsWaiting) {
  const World world(pod_group("other", "{minMember: 1}") + member("o", "other") + member("p", "g"));
  EXPECT_NE(world.rejection("g").find("there is no PodGroup \"g\""), std::string::npos);
  const World none(member("p", "g") + member("q", "g"));
  EXPECT_EQ(none.rejection("g"), "");
  EXPECT_EQ(root_of(none, "g").pod_sets.at(0).min_count, 2) << "the input has no PodGroups at all";
}

TEST(KaiPodGroup, ThatThePodGrouperMadeLeavesTheAskingToTheWorkload) {
  const World world(
      "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: pg-a-1, ownerReferences: [{kind: Job, "
      "name: a, controller: true}]}\nspec: {minMember: 1}\n" +
      kai_job("a", 2, ""));
  ASSERT_TRUE(world.reading) << world.error();
  ASSERT_EQ(world.reading->queue.size(), 1U);
  EXPECT_EQ(world.reading->queue.at(0).key.name, "a");
}

TEST(KaiPodGroup, SettingsOfNoEffectAreRemarkedOnce) {
  const World world(pod_group("g", "{minMember: 1, schedulingBackoff: 1}") +
                    pod_group("h", "{minMember: 1, schedulingBackoff: 1}") +
                    pod_group("i", "{minMember: 1, schedulingBackoff: 1}"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->notes.at(0),
            "PodGroup default/g and 2 more of KAI: spec.schedulingBackoff has no effect in a plan");
}

TEST(KaiRunning, APodThatIsMissingGoesToTheRackOfTheOthers) {
  const std::string nodes = kai_node("n1", "z", "r1") + kai_node("n2", "z", "r1") + kai_node("n3", "z", "r2");
  const World world(kNetwork + nodes +
                    pod_group("g",
                              "{minMember: 2, topologyConstraint: {topology: network, requiredTopologyLevel: "
                              "rack}}") +
                    member("p-0", "g", "", "n1") + member("p-1", "g"));
  ASSERT_EQ(world.rejection("g"), "");
  const PodSet& set = root_of(world, "g").pod_sets.at(0);
  EXPECT_EQ(set.count, 1);
  EXPECT_EQ(set.shape.node_selector.size(), 2U) << "zone and rack of the pod that runs";
}

TEST(KaiRunning, APreferredRackIsTriedFirstAndThenAnyOther) {
  const std::string nodes = kai_node("n1", "z", "r1") + kai_node("n2", "z", "r1") + kai_node("n3", "z", "r2");
  const std::string bound = object("v1", "Pod", "a-0", "ownerReferences: [{kind: Job, name: a, controller: true}]",
                                   "{nodeName: n1, containers: [{name: c}]}");
  const World world(
      kNetwork + nodes +
      kai_job("a", 2, "kai.scheduler/topology: network, kai.scheduler/topology-preferred-placement: rack") + bound);
  const auto& alternatives = world.job("a").parts.at(0);
  ASSERT_EQ(alternatives.size(), 2U);
  EXPECT_EQ(alternatives[0].gang.root.pod_sets.at(0).shape.node_selector.size(), 2U);
  EXPECT_TRUE(alternatives[1].gang.root.pod_sets.at(0).shape.node_selector.empty());
}

TEST(KaiRunning, AJobWhosePodsPendAsksWhateverItsStatusSays) {
  const std::string pending = object("v1", "Pod", "a-0", "ownerReferences: [{kind: Job, name: a, controller: true}]",
                                     "{containers: [{name: c}]}");
  const World world(kai_job("a", 1, "") + "status: {active: 1}\n" + pending);
  EXPECT_EQ(world.job("a").pod_sets.at(0).second, 1);
}

TEST(KaiRunning, GangsOfHighPriorityAreNotEvicted) {
  const auto runs = [](const std::string& labels) {
    return object("v1", "Pod", "p", "labels: {kai.scheduler/queue: q" + labels + "}",
                  "{schedulerName: kai-scheduler, nodeName: n1, containers: [{name: c}]}");
  };
  const auto evictable = [&](const std::string& labels) {
    const World world(kai_node("n1", "z", "r") + runs(labels));
    EXPECT_EQ(world.error(), "");
    return world.cluster.running().at(0).evictable;
  };
  EXPECT_TRUE(evictable(""));
  EXPECT_FALSE(evictable(", priorityClassName: build"));
  EXPECT_TRUE(evictable(", priorityClassName: build, kai.scheduler/preemptibility: preemptible"));
  EXPECT_FALSE(evictable(", kai.scheduler/preemptibility: non-preemptible"));
}

TEST(KaiPodGroup, IsRejectedWhereAFieldIsMisspelt) {
  EXPECT_EQ(
      World(pod_group("g", "{minMember: 1, topologyConstraint: {topology: network, requiredTopologylevel: rack}}") +
            member("p", "g"))
          .rejection("g"),
      "test.yaml:5: topologyConstraint.requiredTopologylevel: there is no such field");
  EXPECT_EQ(World(pod_group("g", "{subGroups: [{name: s, minMembers: 1}]}") + member("p", "g", "s")).rejection("g"),
            "test.yaml:5: subGroups.minMembers: there is no such field");
}

TEST(KaiPodGroup, LeavesOutPodsOfNoSubgroupAndSaysWhose) {
  const World world(pod_group("g", "{subGroups: [{name: s, minMember: 1}]}") + member("p", "g", "s") +
                    member("q", "g", "t") + member("r", "g", "t"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->notes.at(0),
            "PodGroup default/g of KAI: there is no subgroup \"t\" that holds pods: its pods are left out");
}

TEST(KaiPodGroup, WithMoreSubgroupsThanArePlacedTogetherIsRejected) {
  const auto rejected = [](int number) {
    std::string subgroups = "{name: a, minMember: 1}";
    for (int i = 1; i < number; ++i) {
      subgroups += ", {name: s" + std::to_string(i) + ", minMember: 1}";
    }
    return rejection("{subGroups: [" + subgroups + "]}");
  };
  EXPECT_EQ(rejected(2049), "test.yaml:5: subGroups has 2049 entries; at most 2048 are placed together");
  EXPECT_EQ(rejected(2048).find("placed together"), std::string::npos);
}

TEST(KaiPodGroup, OfMorePodsThatAllDifferThanArePlacedTogetherIsRejected) {
  std::string yaml = pod_group("g", "{minMember: 1}");
  for (int i = 1; i <= 2049; ++i) {
    yaml += object("v1", "Pod", "p" + std::to_string(i), "annotations: {pod-group-name: g}",
                   "{schedulerName: kai-scheduler, containers: [{name: c, resources: {requests: {nvidia.com/gpu: " +
                       std::to_string(i) + "}}}]}");
  }
  EXPECT_EQ(World(yaml).rejection("g"),
            "its pods are 2049 groups and sets of different pods; at most 2048 are placed together");
}

TEST(KaiPodGroup, IsRejectedWhereItsTreeIsTooDeep) {
  const auto rejection = [](int length) {
    std::string subgroups = "{name: s0}";
    for (int i = 1; i < length; ++i) {
      subgroups += ", {name: s" + std::to_string(i) + ", parent: s" + std::to_string(i - 1) +
                   (i + 1 < length ? "}" : ", minMember: 1}");
    }
    return World(pod_group("g", "{subGroups: [" + subgroups + "]}") +
                 member("p", "g", "s" + std::to_string(length - 1)))
        .rejection("g");
  };
  EXPECT_EQ(rejection(64), "");
  EXPECT_EQ(rejection(65), "test.yaml:5: parent: subgroup \"s64\" makes the tree deeper than 64 subgroups");
  EXPECT_NE(rejection(20'000), "");
}

}  // namespace
}  // namespace gantree
