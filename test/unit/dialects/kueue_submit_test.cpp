// Queues, flavors, priorities: in which ways a workload may start.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

constexpr char kKueue[] = "---\napiVersion: kueue.x-k8s.io/v1beta1\n";

std::string flavor(const std::string& name, const std::string& spec) {
  return kKueue + ("kind: ResourceFlavor\nmetadata: {name: " + name + "}\nspec: " + spec + "\n");
}

// A queue with one group that covers gpus, of which every flavor has 8.
std::string cluster_queue(const std::vector<std::string>& flavors, const std::string& spec = "",
                          const std::string& resource = "nvidia.com/gpu") {
  std::string text = kKueue + ("kind: ClusterQueue\nmetadata: {name: cq}\nspec:\n" + spec +
                               "  resourceGroups:\n  - coveredResources: [" + resource + "]\n    flavors:\n");
  for (const std::string& name : flavors) {
    text += "    - {name: " + name + ", resources: [{name: " + resource + ", nominalQuota: 8}]}\n";
  }
  return text;
}

std::string local_queue(const std::string& name = "queue", const std::string& spec = "") {
  return kKueue + ("kind: LocalQueue\nmetadata: {name: " + name + ", namespace: default}\nspec: {clusterQueue: cq" +
                   (spec.empty() ? "" : ", " + spec) + "}\n");
}

std::string topology(const std::string& name, const std::string& levels) {
  return kKueue + ("kind: Topology\nmetadata: {name: " + name + "}\nspec: {levels: [" + levels + "]}\n");
}

constexpr char kRacks[] = "{nodeLabel: net/block}, {nodeLabel: net/rack}";

std::string plain_job(const std::string& annotations = "", const std::string& pod = "") {
  return job("a", 4, annotations, pod, "", "");
}

TEST(KueueFlavors, AreTriedInTheOrderOfTheQueue) {
  const World world(flavor("b", "{}") + flavor("a", "{}") + cluster_queue({"b", "a"}) + local_queue() + job("a", 4));
  EXPECT_EQ(world.flavors("a"), "b | a");
}

TEST(KueueFlavors, LendTheirLabelsAndTolerationsToThePods) {
  World world(kSetup + job("a", 4, "", "nodeSelector: {zone: z1}"));
  const PodShape& shape = world.job("a").parts.at(0).at(0).gang.root.pod_sets.at(0).shape;
  Interner& strings = world.cluster.inventory().strings();
  EXPECT_EQ(*label_value(shape.flavor_labels, strings.intern("pool")), strings.intern("tas"));
  EXPECT_EQ(*label_value(shape.node_selector, strings.intern("zone")), strings.intern("z1"));
  EXPECT_TRUE(tolerates(shape.tolerations, {.key = strings.intern("gpu"), .value = strings.intern("")}));
}

TEST(KueueFlavors, ThatContradictTheNodeSelectorAreSkipped) {
  const std::string setup = flavor("x", "{nodeLabels: {zone: zx}}") + flavor("z", "{nodeLabels: {zone: zz}}") +
                            cluster_queue({"x", "z"}) + local_queue();
  EXPECT_EQ(World(setup + job("a", 4, "", "nodeSelector: {zone: zz}")).flavors("a"), "z");
  EXPECT_EQ(World(setup + job("a", 4, "", "nodeSelector: {other: label}")).flavors("a"), "x | z");
  EXPECT_NE(
      World(setup + job("a", 4, "", "nodeSelector: {zone: none}"))
          .rejection("a")
          .find("no flavor of ClusterQueue \"cq\" suits pod set \"main\": flavor \"x\": its nodes have zone=zx, but "
                "the nodeSelector of pod set \"main\" wants none; flavor \"z\": "),
      std::string::npos);
}

TEST(KueueFlavors, WhoseTaintsAreNotToleratedAreSkipped) {
  const std::string taint = "nodeTaints: [{key: spot, value: 'yes', effect: NoSchedule}]";
  const std::string setup = flavor("spot", "{" + taint + "}") +
                            flavor("kind", "{" + taint + ", tolerations: [{key: spot, operator: Exists}]}") +
                            flavor("soft", "{nodeTaints: [{key: old, effect: PreferNoSchedule}]}") +
                            cluster_queue({"spot", "kind", "soft"}) + local_queue();
  EXPECT_EQ(World(setup + job("a", 4)).flavors("a"), "kind | soft");
  EXPECT_EQ(World(setup + job("a", 4, "", "tolerations: [{key: spot, operator: Exists}]")).flavors("a"),
            "spot | kind | soft");
}

TEST(KueueFlavors, WithoutATopologyAreSkippedWhereOneIsAskedFor) {
  const std::string setup = topology("t", kRacks) + flavor("plain", "{}") +
                            flavor("tas", "{nodeLabels: {a: b}, topologyName: t}") + cluster_queue({"plain", "tas"}) +
                            local_queue();
  EXPECT_EQ(World(setup + job("a", 4, required("net/rack"))).flavors("a"), "tas");
  EXPECT_EQ(World(setup + job("a", 4)).flavors("a"), "plain | tas");
  const std::string only_plain = flavor("plain", "{}") + cluster_queue({"plain"}) + local_queue();
  EXPECT_NE(World(only_plain + job("a", 4, required("net/rack"))).rejection("a").find("it has no topologyName"),
            std::string::npos);
  EXPECT_EQ(World(only_plain + job("a", 4, required("net/rack")), {"net/block", "net/rack"}).flavors("a"), "plain");
}

TEST(KueueFlavors, WhoseTopologyLacksTheLevelAreSkipped) {
  const std::string setup = topology("t", kRacks) + topology("u", "{nodeLabel: net/row}") +
                            flavor("rows", "{nodeLabels: {a: b}, topologyName: u}") +
                            flavor("racks", "{nodeLabels: {a: b}, topologyName: t}") +
                            cluster_queue({"rows", "racks"}) + local_queue();
  EXPECT_EQ(World(setup + job("a", 4, required("net/rack"))).flavors("a"), "racks");
}

constexpr char kTwoGroups[] = R"(---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - {name: c1, resources: [{name: cpu, nominalQuota: 100}]}
    - {name: c2, resources: [{name: cpu, nominalQuota: 100}]}
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: g1, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
    - {name: g2, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
)";

std::string job_of_cpu_and_gpu() {
  std::string text = job("a", 4);
  const std::string gpu = "nvidia.com/gpu: 1";
  return text.replace(text.find(gpu), gpu.size(), "nvidia.com/gpu: 1, cpu: 2");
}

TEST(KueueFlavors, AreChosenForEveryResourceGroup) {
  const std::string flavors = flavor("c1", "{}") + flavor("c2", "{}") + flavor("g1", "{}") + flavor("g2", "{}");
  const World world(flavors + kTwoGroups + local_queue() + job_of_cpu_and_gpu());
  EXPECT_EQ(world.flavors("a"), "c1,g1 | c1,g2 | c2,g1 | c2,g2");
  EXPECT_EQ(World(flavors + kTwoGroups + local_queue() + job("a", 4)).flavors("a"), "g1 | g2");
}

TEST(KueueFlavors, ThatContradictEachOtherAreNotCombined) {
  const World world(flavor("c1", "{nodeLabels: {k: a}}") + flavor("c2", "{nodeLabels: {k: b}}") +
                    flavor("g1", "{nodeLabels: {k: b}}") + flavor("g2", "{}") + kTwoGroups + local_queue() +
                    job_of_cpu_and_gpu());
  EXPECT_EQ(world.flavors("a"), "c1,g2 | c2,g1 | c2,g2");
}

TEST(KueueFlavors, AreListedForEveryPodSetByItself) {
  std::string replicated;
  for (int i = 0; i < 8; ++i) {
    replicated += "  - {name: r" + std::to_string(i) +
                  ", template: {spec: {template: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: "
                  "1}}}]}}}}}\n";
  }
  const World world(flavor("x", "{}") + flavor("z", "{}") + cluster_queue({"x", "z"}) + local_queue() +
                    "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a, labels: "
                    "{kueue.x-k8s.io/queue-name: queue}}\nspec:\n  replicatedJobs:\n" +
                    replicated);
  const Submission& submission = world.job("a");
  ASSERT_EQ(submission.parts.size(), 8U) << "so that every combination can be found, of which there are 256";
  EXPECT_EQ(ways_to_start(submission), 256U);
  for (const std::vector<Alternative>& ways : submission.parts) {
    ASSERT_EQ(ways.size(), 2U);
    EXPECT_EQ(ways[0].flavors, std::vector<std::string>{"x"});
    EXPECT_EQ(ways[1].flavors, std::vector<std::string>{"z"});
  }
}

TEST(KueueQuota, CountsPodsWhereTheyAreCovered) {
  const World world(flavor("x", "{}") + cluster_queue({"x"}, "", "pods") + local_queue() +
                    "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a, labels: {kueue.x-k8s.io/queue-name: "
                    "queue}}\nspec: {parallelism: 4, template: {spec: {containers: []}}}\n");
  ASSERT_EQ(world.rejection("a"), "");
  EXPECT_EQ(world.job("a").parts.at(0).at(0).demand.at(0), (QuotaDemand{{make_id<QuotaTag>(0), 1}}));
}

TEST(KueueQuota, CountsCpuInMilli) {
  World world(kSetup + job("a", 4, "", "overhead: {cpu: 1500m}"));
  EXPECT_EQ(world.job("a").parts.at(0).at(0).demand.at(0),
            (QuotaDemand{{make_id<QuotaTag>(0), 1500}, {make_id<QuotaTag>(1), 1}}));
  EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(0)).nominal, 100000);
  EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(0)).queue, "ClusterQueue \"cq\"");
}

TEST(KueueQuota, MustCoverEveryResource) {
  const World world(kSetup + job("a", 4, "", "overhead: {memory: 1Gi}"));
  EXPECT_EQ(world.rejection("a"),
            "test.yaml:36: pod set \"main\" requests memory, which no resource group of ClusterQueue \"cq\" covers");
}

TEST(KueueQuota, OfRunningJobsIsThatOfTheFlavorTheirNodeSelectorNames) {
  const World world(flavor("x", "{nodeLabels: {zone: zx}}") + flavor("z", "{nodeLabels: {zone: zz}}") +
                    cluster_queue({"x", "z"}) + local_queue() + job("a", 4, "", "nodeSelector: {zone: zz}") +
                    "status: {active: 4}\n" + job("b", 3) + "status: {active: 3}\n");
  EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(0)).used, 3) << "the first flavor where nothing tells";
  EXPECT_EQ(world.quota.cell(make_id<QuotaTag>(1)).used, 4);
}

TEST(KueueQueue, ThatIsNotThereRejects) {
  const World world(kSetup + job("a", 4, "", "", "", "kueue.x-k8s.io/queue-name: other"));
  EXPECT_EQ(world.rejection("a"),
            "test.yaml:34: kueue.x-k8s.io/queue-name: there is no LocalQueue \"other\" in namespace \"default\"");
}

TEST(KueueQueue, IsDoneWithoutWhereTheInputHasNoQueuesAtAll) {
  const World world(job("a", 4));
  EXPECT_EQ(world.rejection("a"), "");
  EXPECT_EQ(world.reading->notes.at(0),
            "1 job names a queue, but no LocalQueue or ClusterQueue is in the input: planned without quota");
}

TEST(KueueQueue, MayBeNamedByAnAnnotation) {
  EXPECT_EQ(World(kSetup + job("a", 4, "", "", "annotations: {kueue.x-k8s.io/queue-name: queue}", "")).flavors("a"),
            "tas");
}

TEST(KueueQueue, IsTheDefaultOneWhereNoneIsNamed) {
  EXPECT_EQ(World(kSetup + plain_job()).flavors("a"), "");
  EXPECT_EQ(World(std::string(kSetup) + local_queue("default") + plain_job()).flavors("a"), "tas");
}

TEST(KueueQueue, ThatIsStoppedMakesItsJobsWait) {
  for (const std::string& setup :
       {flavor("x", "{}") + cluster_queue({"x"}, "  stopPolicy: Hold\n") + local_queue(),
        flavor("x", "{}") + cluster_queue({"x"}) + local_queue("queue", "stopPolicy: HoldAndDrain")}) {
    const World world(setup + job("a", 4));
    ASSERT_TRUE(world.job("a").rejection);
    EXPECT_TRUE(world.job("a").rejection->waits);
    EXPECT_EQ(world.job("a").rejection->reason, Reason::kQueueStopped);
  }
}

TEST(KueueQueue, WithoutASelectorIsPlannedAsIfItHadOneForAllAndTheUserIsTold) {
  const World world(flavor("x", "{}") + cluster_queue({"x"}) + local_queue() + job("a", 4));
  EXPECT_EQ(world.rejection("a"), "");
  const std::vector<std::string>& notes = world.reading->notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note ==
           "ClusterQueue \"cq\" has no namespaceSelector: on a cluster no namespace may use it ({} is for all); "
           "planned "
           "as if every one might";
  }));
}

TEST(KueueQueue, AdmitsTheNamespacesItSelects) {
  const auto rejection = [](const std::string& selector, const std::string& ns = "") {
    return World(flavor("x", "{}") +
                 cluster_queue({"x"}, selector.empty() ? "" : "  namespaceSelector: " + selector + "\n") +
                 local_queue() + job("a", 4) + ns)
        .rejection("a");
  };
  const std::string ns = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {team: a}}\n";
  EXPECT_EQ(rejection(""), "");
  EXPECT_EQ(rejection("{}"), "");
  EXPECT_EQ(rejection("{matchLabels: {team: a}}", ns), "");
  EXPECT_NE(rejection("{matchLabels: {team: b}}", ns), "");
  EXPECT_EQ(rejection("{matchLabels: {team: b}}"), "") << "nothing is known of the namespace's labels";
  EXPECT_EQ(rejection("{matchLabels: {kubernetes.io/metadata.name: default}}"), "");
  EXPECT_NE(rejection("{matchLabels: {kubernetes.io/metadata.name: other}}"), "") << "but its name is known";
  EXPECT_NE(rejection("{matchExpressions: [{key: team, operator: NotIn, values: [a]}]}", ns), "");
  EXPECT_EQ(rejection("{matchExpressions: [{key: team, operator: Exists}]}", ns), "");
}

std::int64_t priority(const std::string& objects, const std::string& pod, const std::string& labels = "") {
  const World world(objects + job("a", 4, "", pod, "", labels));
  EXPECT_EQ(world.rejection("a"), "");
  return world.job("a").priority;
}

constexpr char kClasses[] = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: usual}
value: 7
globalDefault: true
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: WorkloadPriorityClass
metadata: {name: research}
value: 50
)";

TEST(KueuePriority, IsThatOfTheWorkloadFirstThenOfThePodThenTheDefault) {
  EXPECT_EQ(priority(kClasses, "priorityClassName: high", "kueue.x-k8s.io/priority-class: research"), 50);
  EXPECT_EQ(priority(kClasses, "priorityClassName: high"), 1000);
  EXPECT_EQ(priority(kClasses, "priorityClassName: system-node-critical"), 2000001000);
  EXPECT_EQ(priority(kClasses, "priority: 3"), 3);
  EXPECT_EQ(priority(kClasses, ""), 7);
  EXPECT_EQ(priority("", ""), 0);
}

TEST(KueuePriority, OfJobsThatNameNoClassIsThatOfTheOneNamedDefault) {
  const std::string classes =
      std::string(kClasses) +
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: default}\nvalue: 20\n";
  EXPECT_EQ(priority(classes, ""), 20);
  EXPECT_EQ(priority(classes, "priorityClassName: high"), 20);
  EXPECT_EQ(priority(classes, "", "kueue.x-k8s.io/priority-class: research"), 50);
}

TEST(KueuePriority, OfAClassThatIsNotThereRejects) {
  EXPECT_EQ(World(kClasses + job("a", 4, "", "priorityClassName: low", "", "")).rejection("a"),
            "test.yaml:26: priorityClassName: there is no PriorityClass \"low\"");
  EXPECT_EQ(World(kClasses + job("a", 4, "", "", "", "kueue.x-k8s.io/priority-class: low")).rejection("a"),
            "test.yaml:20: kueue.x-k8s.io/priority-class: there is no WorkloadPriorityClass \"low\"");
}

TEST(KueuePriority, DoesNotCountWhereTheInputHasNoClassesAtAll) {
  const World world(job("a", 4, "", "priorityClassName: low", "", "kueue.x-k8s.io/priority-class: low"));
  EXPECT_EQ(world.rejection("a"), "");
  ASSERT_GE(world.reading->notes.size(), 2U);
}

std::string topology_of(const World& world) {
  World& open = const_cast<World&>(world);
  return open.cluster.engine().topology(world.job("a").parts.at(0).at(0).gang.topology).name;
}

TEST(WithoutAQueue, TheOnlyTopologyIsMeant) {
  EXPECT_EQ(topology_of(World(topology("t", kRacks) + plain_job())), "t");
  EXPECT_EQ(topology_of(World(topology("t", kRacks) + plain_job(required("net/rack")))), "t");
}

TEST(WithoutAQueue, HostsAreTheDomainsWhereThereIsNoTopologyOrMoreThanOne) {
  EXPECT_EQ(topology_of(World(plain_job())), "kubernetes.io/hostname");
  EXPECT_EQ(topology_of(World(plain_job(required("kubernetes.io/hostname")))), "kubernetes.io/hostname");
  EXPECT_EQ(topology_of(World(plain_job(required("auto")))), "kubernetes.io/hostname");
  EXPECT_EQ(topology_of(World(topology("t", kRacks) + topology("u", "{nodeLabel: net/row}") + plain_job())),
            "kubernetes.io/hostname");
}

TEST(WithoutAQueue, TheLevelAskedForTellsTheTopology) {
  const std::string two = topology("t", kRacks) + topology("u", "{nodeLabel: net/row}, {nodeLabel: net/rack}");
  EXPECT_EQ(topology_of(World(two + plain_job(required("net/row")))), "u");
  EXPECT_NE(World(two + plain_job(required("net/rack"))).rejection("a").find("2 Topologies in the input have net/rack"),
            std::string::npos);
  EXPECT_NE(World(plain_job(required("net/rack"))).rejection("a").find("--levels"), std::string::npos);
}

TEST(WithoutAQueue, TheLevelsOfTheCommandLineAreMeant) {
  EXPECT_EQ(topology_of(World(plain_job(required("net/rack")), {"net/block", "net/rack"})), "levels");
  EXPECT_EQ(topology_of(World(topology("t", "{nodeLabel: net/row}") + plain_job(required("net/row")), {"net/rack"})),
            "t");
}

TEST(WithoutAQueue, JobsThatDoNotAskMayGoToNodesOutsideTheTopology) {
  const std::string node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
  EXPECT_EQ(World(topology("t", kRacks) + node + plain_job()).job("a").parts.at(0).size(), 2U);
  EXPECT_EQ(World(topology("t", kRacks) + node + plain_job(required("net/rack"))).job("a").parts.at(0).size(), 1U);
}

}  // namespace
}  // namespace gantree
