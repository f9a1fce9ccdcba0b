#include <gtest/gtest.h>

#include "cycle/cycle.h"
#include "dialects/koordinator/roster.h"
#include "unit/dialects/koordinator_manifests.h"

namespace gantree {

namespace {

const std::string kPrefix = "gang.scheduling.koordinator.sh/";

// The pods of the only pod set, in rank order.
std::vector<std::string> pods_of(const World& world, const std::string& gang) {
  return world.job(gang).parts.at(0).at(0).gang.root.pod_sets.at(0).pods;
}

int min_of(const World& world, const std::string& gang) {
  return world.job(gang).parts.at(0).at(0).gang.root.pod_sets.at(0).min_count;
}

std::string bound(const std::string& name, const std::string& gang, const std::string& node) {
  return koord_pod(name, in_group(gang), 1, "nodeName: " + node);
}

TEST(KoordinatorGang, OfMorePodsThatAllDifferThanArePlacedTogetherIsRejected) {
  std::string yaml = pod_group("g", 1);
  for (int i = 1; i <= 2049; ++i) {
    yaml += koord_pod("p" + std::to_string(i), in_group("g"), i);
  }
  EXPECT_NE(World(yaml).rejection("g").find("its pods have 2049 different specs; at most 2048 are placed together"),
            std::string::npos);
}

}  // namespace

TEST(KoordinatorGang, PodsJoinByLabelByOlderLabelOrByAnnotation) {
  World world(koordinator_nodes() + pod_group("new", 1) + koord_pod("a", in_group("new")) +
              koord_pod("b",
                        "labels: {pod-group.scheduling.sigs.k8s.io/name: old, "
                        "pod-group.scheduling.sigs.k8s.io/min-available: \"1\"}") +
              koord_pod("c", "annotations: {" + kPrefix + "name: bare, " + kPrefix + "min-available: \"1\"}"));
  EXPECT_EQ(pods_of(world, "new"), (std::vector<std::string>{"a"}));
  EXPECT_EQ(pods_of(world, "old"), (std::vector<std::string>{"b"}));
  EXPECT_EQ(pods_of(world, "bare"), (std::vector<std::string>{"c"}));
  EXPECT_EQ(world.job("bare").key.kind, "PodGroup");
}

TEST(KoordinatorGang, TemplatesOfAnyWorkloadJoinToo) {
  World world(koordinator_nodes() + pod_group("gang", 5) + R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  template:
    metadata: {labels: {pod-group.scheduling.sigs.k8s.io: gang}}
    spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: default}
spec:
  parallelism: 2
  template:
    metadata: {labels: {pod-group.scheduling.sigs.k8s.io: gang}}
    spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 2}}}]}
)");
  const Submission& gang = world.job("gang");
  EXPECT_EQ(gang.dialect, "koordinator");
  EXPECT_EQ(gang.pod_sets, (std::vector<std::pair<std::string, int>>{{"gang/web", 3}, {"gang/job", 2}}));
  EXPECT_EQ(world.reading->queue.size(), 1U);
}

TEST(KoordinatorGang, PodsAndTheWorkloadThatMadeThemAreCountedOnce) {
  const auto pod = [](const std::string& name, const std::string& spec) {
    return koord_pod(name,
                     in_group("gang") +
                         ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: job, "
                         "controller: true}]",
                     1, spec);
  };
  World world(koordinator_nodes() + pod_group("gang", 4, kPrefix + "match-policy: waiting-and-running") + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: default}
spec:
  parallelism: 4
  template:
    metadata: {labels: {pod-group.scheduling.sigs.k8s.io: gang}}
    spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}
)" + pod("job-10", "") +
              pod("job-9", "") + pod("job-1", "nodeName: node-0"));
  const Submission& gang = world.job("gang");
  ASSERT_EQ(gang.pod_sets.size(), 1U);
  EXPECT_EQ(gang.pod_sets.front().second, 3);
  EXPECT_EQ(min_of(world, "gang"), 3);
  ASSERT_EQ(world.cluster.running().size(), 1U);
  EXPECT_EQ(world.cluster.running().front().key.name, "gang");
}

TEST(KoordinatorGang, PodsThatControllersMarkedAreMembersWhateverTheirTemplateSays) {
  const auto pod = [](const std::string& name) {
    return koord_pod(name, "annotations: {" + kPrefix + "name: ray, " + kPrefix +
                               "min-available: \"2\"}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: job, "
                               "controller: true}]");
  };
  World world(koordinator_nodes() + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: default}
spec:
  parallelism: 2
  template: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}}
)" + pod("job-b") +
              pod("job-a"));
  EXPECT_EQ(pods_of(world, "ray"), (std::vector<std::string>{"job-a", "job-b"}));
  EXPECT_EQ(world.reading->queue.size(), 1U);
}

TEST(KoordinatorGang, APodGroupWhoseMembersSpeakAnotherDialectIsNotWaitedFor) {
  World world(koordinator_nodes() + pod_group("gang", 2) + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: default, labels: {kueue.x-k8s.io/queue-name: queue}}
spec:
  parallelism: 2
  template:
    metadata: {labels: {pod-group.scheduling.sigs.k8s.io: gang}}
    spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}
)");
  ASSERT_EQ(world.reading->queue.size(), 1U);
  EXPECT_EQ(world.reading->queue.front().dialect, "kueue");
}

TEST(KoordinatorGang, RanksFollowTheIndexAsANumberThenTheNameInNaturalOrder) {
  std::string yaml = koordinator_nodes() + pod_group("gang", 6);
  for (const auto& [name, index] : std::vector<std::pair<std::string, std::string>>{
           {"xx", "10"}, {"yy", "9"}, {"zz", "2"}, {"w-10", ""}, {"w-2", ""}, {"w-1", ""}}) {
    yaml += koord_pod(
        name, in_group("gang") +
                  (index.empty() ? "" : ", annotations: {" + kPrefix + "network-topology-index: \"" + index + "\"}"));
  }
  EXPECT_EQ(pods_of(World(yaml), "gang"), (std::vector<std::string>{"zz", "yy", "xx", "w-1", "w-2", "w-10"}));
}

TEST(KoordinatorGang, AnIndexThatIsNoNumberIsRejected) {
  World world(koordinator_nodes() + pod_group("gang", 1) +
              koord_pod("a", in_group("gang") + ", annotations: {" + kPrefix + "network-topology-index: first}"));
  EXPECT_NE(world.rejection("gang").find("network-topology-index must be a whole number from 0, not \"first\""),
            std::string::npos);
}

TEST(KoordinatorGang, NaturalOrderComparesDigitsAsNumbers) {
  EXPECT_TRUE(koordinator::natural_less("w-2", "w-10"));
  EXPECT_FALSE(koordinator::natural_less("w-10", "w-2"));
  EXPECT_TRUE(koordinator::natural_less("w", "w-0"));
  EXPECT_TRUE(koordinator::natural_less("a2b3", "a2b20"));
  EXPECT_FALSE(koordinator::natural_less("w-1", "w-1"));
  EXPECT_NE(koordinator::natural_less("w-01", "w-1"), koordinator::natural_less("w-1", "w-01"));
  EXPECT_TRUE(koordinator::natural_less("9", "123456789012345678901234567890"));
}

TEST(KoordinatorGang, TooFewPodsWaitForTheRest) {
  World world(koordinator_nodes() + pod_group("gang", 3) + koord_pod("a", in_group("gang")));
  const Submission& gang = world.job("gang");
  ASSERT_TRUE(gang.rejection);
  EXPECT_EQ(gang.rejection->reason, Reason::kGangIncomplete);
  EXPECT_TRUE(gang.rejection->waits);
  EXPECT_EQ(gang.rejection->message, "PodGroup \"default/gang\" has 1 of the 3 pods that it needs (minMember)");
}

TEST(KoordinatorGang, APodGroupThatIsNotInTheInputIsWaitedFor) {
  World world(koordinator_nodes() + koord_pod("a", in_group("gang")));
  EXPECT_EQ(world.job("gang").rejection->reason, Reason::kGangIncomplete);
  EXPECT_NE(world.rejection("gang").find("\"default/gang\" is not in the input"), std::string::npos);
}

TEST(KoordinatorGang, GroupsCrossNamespacesAndKeepTheirOwnMinima) {
  const std::string both = groups("\"b/workers\", \"a/master\"");
  World world(koordinator_nodes() + pod_group("master", 1, both, "a") + pod_group("workers", 2, both, "b") +
              koord_pod("m", in_group("master"), 1, "", "a") + koord_pod("w-0", in_group("workers"), 2, "", "b") +
              koord_pod("w-1", in_group("workers"), 2, "", "b") + koord_pod("w-2", in_group("workers"), 2, "", "b"));
  const Submission& gang = world.job("master");
  EXPECT_EQ(gang.key, (GangKey{"a", "master", "PodGroup"}));
  const Group& root = gang.parts.at(0).at(0).gang.root;
  ASSERT_EQ(root.groups.size(), 2U);
  EXPECT_EQ(root.groups[1].name, "workers");
  EXPECT_EQ(root.groups[1].pod_sets.at(0).count, 3);
  EXPECT_EQ(root.groups[1].pod_sets.at(0).min_count, 2);
  EXPECT_EQ(world.reading->queue.size(), 1U);
}

TEST(KoordinatorGang, PodsOfDifferentSizesShareTheMinimumOfTheirPodGroup) {
  std::string yaml = koordinator_nodes() + pod_group("gang", 3) + koord_pod("big", in_group("gang"), 9);
  for (const char* name : {"small-0", "small-1", "small-2"}) {
    yaml += koord_pod(name, in_group("gang"));
  }
  World world(yaml);
  const Group& root = world.job("gang").parts.at(0).at(0).gang.root;
  EXPECT_EQ(root.min_pods, 3);
  const auto decisions = run_cycle(world.cluster, world.quota, world.reading->queue).decisions;
  ASSERT_EQ(decisions.at(0).state, GangState::kPlaced) << decisions.at(0).message;
  EXPECT_EQ(decisions[0].pod_sets.at(0).count, 0);
  EXPECT_EQ(decisions[0].pod_sets.at(1).count, 3);
}

TEST(KoordinatorGang, ListsThatContradictEachOtherAreRejectedNamingBoth) {
  World world(koordinator_nodes() + pod_group("a", 1, groups("\"default/a\", \"default/b\"")) +
              pod_group("b", 1, groups("\"default/b\", \"default/c\"")) + pod_group("c", 1) +
              koord_pod("p", in_group("a")));
  EXPECT_NE(world.rejection("a").find(
                "PodGroup \"default/a\" and PodGroup \"default/b\" contradict each other: the first lists [default/a, "
                "default/b], the second [default/b, default/c]"),
            std::string::npos);
  EXPECT_EQ(world.reading->queue.size(), 1U);
  World selfless(koordinator_nodes() + pod_group("a", 1, groups("\"default/b\"")) + pod_group("b", 1) +
                 koord_pod("p", in_group("a")));
  EXPECT_NE(selfless.rejection("a").find("does not list default/a itself"), std::string::npos);
}

TEST(KoordinatorGang, AListOfMoreThanAHundredGangsIsRejected) {
  for (const int listed : {100, 101, 3000}) {
    std::string names = "\"default/a\"";
    for (int i = 1; i < listed; ++i) {
      names += ", \"default/other-" + std::to_string(i) + "\"";
    }
    World world(koordinator_nodes() + pod_group("a", 1, groups(names)) + koord_pod("p", in_group("a")));
    EXPECT_EQ(world.rejection("a").find(listed == 100   ? "is not in the input"
                                        : listed == 101 ? "it lists 101 gangs, but at most 100 may be listed"
                                                        : "at most 100 gangs may be listed") != std::string::npos,
              true)
        << world.rejection("a");
    EXPECT_LT(world.rejection("a").size(), 1000U);
  }
}

TEST(KoordinatorGang, GroupsMustBeAStringThatHoldsAJsonList) {
  const std::string list =
      "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nmetadata:\n  name: a\n  "
      "annotations:\n    gang.scheduling.koordinator.sh/groups: [\"default/a\"]\nspec: {}\n";
  EXPECT_EQ(
      World(list).error(),
      "test.yaml:7: PodGroup \"default/a\": annotation gang.scheduling.koordinator.sh/groups must be a string: put "
      "the list in quotes, as in '[\"default/a\", \"default/b\"]'");
  for (const char* wrong : {"'default/a'", "'{}'", "'[1]'", "'[\"a\"]'", "'[\"a/b/c\"]'", "'['"}) {
    World world(pod_group("a", 1, kPrefix + "groups: " + wrong) + koord_pod("p", in_group("a")));
    EXPECT_NE(world.rejection("a").find("groups must hold a JSON list of \"namespace/name\""), std::string::npos)
        << wrong;
  }
}

TEST(KoordinatorGang, UnknownModesAndPoliciesAreRejected) {
  World mode(pod_group("a", 1, kPrefix + "mode: Loose") + koord_pod("p", in_group("a")));
  EXPECT_NE(mode.rejection("a").find("mode must be Strict or NonStrict, not \"Loose\""), std::string::npos);
  World policy(pod_group("a", 1, kPrefix + "match-policy: never") + koord_pod("p", in_group("a")));
  EXPECT_NE(policy.rejection("a").find("match-policy must be only-waiting"), std::string::npos);
}

TEST(KoordinatorGang, PodsThatHaveEndedWellHadTheirPlace) {
  const auto world = [](const std::string& status, const std::string& policy = "once-satisfied") {
    return World(koordinator_nodes() + pod_group("gang", 3, kPrefix + "match-policy: " + policy) + status +
                 koord_pod("p-0", in_group("gang")) + koord_pod("p-1", in_group("gang")));
  };
  ASSERT_TRUE(world("").job("gang").rejection);
  // One was bound, ran and ended before the others were bound: they are not to wait for a third for ever.
  EXPECT_EQ(min_of(world("status: {succeeded: 1}\n"), "gang"), 2);
  EXPECT_EQ(min_of(world("status: {succeeded: 1}\n", "waiting-and-running"), "gang"), 2);
  EXPECT_EQ(min_of(world("status: {succeeded: 2}\n"), "gang"), 1);
  EXPECT_TRUE(world("status: {succeeded: 1}\n", "only-waiting").job("gang").rejection);
}

TEST(KoordinatorGang, PodsThatRunCountAsTheMatchPolicySays) {
  const auto world = [](const std::string& policy, const std::string& status = "") {
    return World(koordinator_nodes() + pod_group("gang", 3, kPrefix + "match-policy: " + policy) + status +
                 bound("r-0", "gang", "node-0") + bound("r-1", "gang", "node-1") + koord_pod("p-0", in_group("gang")) +
                 koord_pod("p-1", in_group("gang")));
  };
  EXPECT_EQ(min_of(world("waiting-and-running"), "gang"), 1);
  EXPECT_EQ(min_of(world("once-satisfied", "status: {phase: Running}\n"), "gang"), 0);
  EXPECT_EQ(min_of(world("once-satisfied", "status: {scheduled: 3}\n"), "gang"), 0);
  // Nothing says that it ever had its minimum: its scheduler may have died while it bound the pods.
  EXPECT_EQ(min_of(world("once-satisfied"), "gang"), 1);
  const World only = world("only-waiting");
  ASSERT_TRUE(only.job("gang").rejection);
  EXPECT_EQ(only.job("gang").rejection->reason, Reason::kGangIncomplete);
  EXPECT_NE(only.rejection("gang").find("has 2 pods that wait and 2 that run, but needs 3"), std::string::npos);
}

TEST(KoordinatorGang, AGangWhosePodsAllRunAsksForNothing) {
  World world(koordinator_nodes() + pod_group("gang", 1) + bound("r-0", "gang", "node-0") + pod_group("unused", 0));
  EXPECT_EQ(world.error(), "");
  EXPECT_EQ(world.reading->queue.size(), 0U);
}

TEST(KoordinatorGang, MembersThatRunHoldTheOthersToTheirRequiredDomain) {
  World world(koordinator_nodes() + network_topology(kSpineAndBlock) +
              pod_group("gang", 2, gather(gather_rule("SpineLayer", "MustGather"))) + bound("r", "gang", "node-5") +
              koord_pod("p", in_group("gang")));
  ASSERT_EQ(world.job("gang").parts.at(0).size(), 1U);
  const auto decisions = run_cycle(world.cluster, world.quota, world.reading->queue).decisions;
  ASSERT_EQ(decisions.size(), 1U);
  ASSERT_EQ(decisions[0].state, GangState::kPlaced);
  const NodeId node = decisions[0].pod_sets.at(0).hosts.at(0).node;
  EXPECT_EQ(world.cluster.inventory().node(node).name, "node-5");
}

TEST(KoordinatorGang, PodsOfNoGangAreGangsOfOneEach) {
  World world(koordinator_nodes() + koord_pod("a", "") + koord_pod("b", "") + R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  template:
    spec: {schedulerName: koord-scheduler, containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}
)");
  EXPECT_EQ(world.job("a").key.kind, "Pod");
  EXPECT_EQ(world.job("b").pod_sets, (std::vector<std::pair<std::string, int>>{{"main", 1}}));
  EXPECT_EQ(world.job("web").pod_sets.at(0).second, 3);
  EXPECT_EQ(min_of(world, "web"), 0);
}

TEST(KoordinatorGang, RunningMembersOfAGroupAreOneGangThatProtectedPodsShield) {
  const std::string both = groups("\"default/a\", \"default/b\"");
  World world(
      koordinator_nodes() + pod_group("a", 1, both) + pod_group("b", 1, both) + bound("a-0", "a", "node-0") +
      koord_pod("b-0",
                "labels: {pod-group.scheduling.sigs.k8s.io: b, "
                "scheduling.koordinator.sh/disable-preemptible: \"true\"}",
                1, "nodeName: node-1") +
      koord_pod("c", "labels: {quota.scheduling.koordinator.sh/preemptible: \"false\"}", 1, "nodeName: node-2") +
      koord_pod("d", "", 1, "nodeName: node-2, priorityClassName: koord-batch"));
  const auto& running = world.cluster.running();
  ASSERT_EQ(running.size(), 3U);
  EXPECT_EQ(running[0].key, (GangKey{"default", "a", "PodGroup"}));
  EXPECT_EQ(running[0].pods(), 2);
  EXPECT_FALSE(running[0].evictable);
  EXPECT_FALSE(running[1].evictable);
  EXPECT_TRUE(running[2].evictable);
  EXPECT_EQ(running[2].priority, 5000);
}

TEST(KoordinatorGang, SettingsWithoutEffectInAPlanAreNoted) {
  World world(koordinator_nodes() +
              pod_group("a", 1, kPrefix + "mode: NonStrict, " + kPrefix + "total-number: \"4\", " + kPrefix + "odd: x",
                        "default", "scheduleTimeoutSeconds: 10, minResources: {cpu: 1}") +
              koord_pod("p",
                        "labels: {pod-group.scheduling.sigs.k8s.io: a, quota.scheduling.koordinator.sh/name: q}, "
                        "annotations: {scheduling.koordinator.sh/network-topology-selector: app}"));
  EXPECT_EQ(world.rejection("a"), "");
  EXPECT_EQ(world.reading->notes.size(), 7U);
}

TEST(KoordinatorGang, HasTheHighestPriorityOfItsPodsAndEvictsNobodyIfOneMayNot) {
  World world(koordinator_nodes() + pod_group("a", 2) + koord_pod("a-0", in_group("a"), 1, "priority: 3") +
              koord_pod("a-1", in_group("a"), 1, "priority: 7, preemptionPolicy: Never") + pod_group("b", 1) +
              koord_pod("b-0", in_group("b"), 1, "priorityClassName: koord-prod"));
  EXPECT_EQ(world.job("a").priority, 7);
  EXPECT_FALSE(world.job("a").may_evict);
  EXPECT_EQ(world.job("b").priority, 9000);
  EXPECT_TRUE(world.job("b").may_evict);
}

TEST(KoordinatorGang, ALabelOverridesThePreemptionPolicyOfAPod) {
  const auto with_policy = [](const std::string& gang, const std::string& policy) {
    return "labels: {pod-group.scheduling.sigs.k8s.io: " + gang +
           ", scheduling.koordinator.sh/preemption-policy: " + policy + "}";
  };
  World world(koordinator_nodes() + pod_group("a", 1) + koord_pod("a-0", with_policy("a", "Never"), 1) +
              pod_group("b", 1) +
              koord_pod("b-0", with_policy("b", "PreemptLowerPriority"), 1, "preemptionPolicy: Never") +
              pod_group("c", 1) + koord_pod("c-0", with_policy("c", "Often"), 1, "preemptionPolicy: Never"));
  EXPECT_FALSE(world.job("a").may_evict);
  EXPECT_TRUE(world.job("b").may_evict);
  EXPECT_FALSE(world.job("c").may_evict);
}

TEST(KoordinatorGang, LabelsAndAnnotationsThatAreNullAreNone) {
  World world(koordinator_nodes() + koord_pod("a", "labels: null, annotations: null") + R"(---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: default}
spec:
  schedule: "0 0 * * *"
  jobTemplate:
    metadata: {labels: null, annotations: null}
    spec:
      template:
        metadata: {labels: null, annotations: null}
        spec: {schedulerName: koord-scheduler, containers: [{name: c}]}
)");
  EXPECT_EQ(world.job("a").pod_sets.size(), 1U);
  EXPECT_EQ(world.job("nightly").dialect, "koordinator");
}

TEST(KoordinatorGang, PodsThatContradictEachOtherAboutTheirGangAreRejected) {
  const auto pod = [](const std::string& name, const std::string& min) {
    return koord_pod(name, "annotations: {" + kPrefix + "name: g, " + kPrefix + "min-available: \"" + min + "\"}");
  };
  EXPECT_NE(World(pod("a", "1") + pod("b", "2")).rejection("g").find("the pods of gang \"default/g\" contradict"),
            std::string::npos);
  EXPECT_NE(World(pod("a", "one")).rejection("g").find("min-available must be a whole number from 0"),
            std::string::npos);
}

}  // namespace gantree
