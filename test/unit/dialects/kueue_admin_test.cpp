// What administrators may get wrong: it ends the plan, with file and line.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

std::string topology(const std::string& levels, const std::string& version = "v1beta2") {
  return "apiVersion: kueue.x-k8s.io/" + version + "\nkind: Topology\nmetadata: {name: t}\nspec:\n  levels:\n" + levels;
}

std::string flavor(const std::string& spec) {
  return "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\nspec: " + spec + "\n---\n";
}

std::string cluster_queue(const std::string& groups) {
  return "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  resourceGroups:\n" +
         groups;
}

TEST(KueueTopology, IsReadInAllItsVersions) {
  for (const char* version : {"v1alpha1", "v1beta1", "v1beta2"}) {
    World world(topology("  - nodeLabel: net/block\n  - nodeLabel: net/rack\n", version));
    ASSERT_EQ(world.error(), "") << version;
    const auto id = world.cluster.engine().find_topology("t");
    ASSERT_TRUE(id);
    EXPECT_EQ(world.cluster.engine().topology(*id).levels, (std::vector<std::string>{"net/block", "net/rack"}));
  }
}

TEST(KueueTopology, IsRefusedWhereItsLevelsAreWrong) {
  std::string many;
  for (int i = 0; i < 17; ++i) {
    many += "  - nodeLabel: net/l" + std::to_string(i) + "\n";
  }
  for (const std::string& levels : {std::string("    []\n"), many, std::string("  - nodeLabel: a\n  - nodeLabel: a\n"),
                                    std::string("  - nodeLabel: kubernetes.io/hostname\n  - nodeLabel: a\n"),
                                    std::string("  - nodeLabel: not a label\n"), std::string("  - label: a\n")}) {
    const std::string error = World(topology(levels)).error();
    EXPECT_TRUE(error.starts_with("test.yaml:")) << error;
    EXPECT_NE(error.find("opology \"t\""), std::string::npos) << error;
  }
}

TEST(KueueFlavor, WithATopologyNeedsANodeLabel) {
  EXPECT_EQ(World(topology("  - nodeLabel: a\n") + "---\n" + flavor("{topologyName: t}")).error(),
            "test.yaml:11: ResourceFlavor \"f\": spec.topologyName needs at least one of nodeLabels");
}

// The only note of a world that can be read.
std::string note_of(const std::string& yaml) {
  const World world(yaml);
  EXPECT_EQ(world.error(), "");
  // What is not said of its namespaces is no matter here.
  std::vector<std::string> notes = world.reading->notes;
  std::erase_if(notes, [](const std::string& note) { return note.find("namespaceSelector") != std::string::npos; });
  EXPECT_EQ(notes.size(), 1U);
  return notes.empty() ? "" : notes.front();
}

constexpr char kQuotaOfF[] =
    "  - coveredResources: [cpu]\n    flavors:\n    - {name: f, resources: [{name: cpu, nominalQuota: 1}]}\n";

TEST(KueueFlavor, NeedsTheTopologyItNames) {
  EXPECT_EQ(note_of(flavor("{nodeLabels: {a: b}, topologyName: t}") + cluster_queue(kQuotaOfF)),
            "test.yaml:4: ResourceFlavor \"f\": there is no Topology \"t\": the jobs of ClusterQueue \"cq\" wait");
}

TEST(KueueFlavor, MayHaveNoSpecAtAll) {
  EXPECT_EQ(World("{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: f}}").error(), "");
}

TEST(KueueClusterQueue, NeedsItsFlavors) {
  EXPECT_EQ(note_of(cluster_queue(kQuotaOfF)),
            "test.yaml:8: ClusterQueue \"cq\": there is no ResourceFlavor \"f\": the jobs of ClusterQueue \"cq\" wait");
}

TEST(KueueClusterQueue, WithoutItsFlavorsKeepsItsJobsWaiting) {
  const World world(cluster_queue(kQuotaOfF) +
                    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: queue, namespace: "
                    "default}\nspec: {clusterQueue: cq}\n" +
                    job("a", 1));
  ASSERT_TRUE(world.job("a").rejection);
  EXPECT_TRUE(world.job("a").rejection->waits);
  EXPECT_EQ(world.job("a").rejection->reason, Reason::kQueueStopped);
  EXPECT_EQ(world.rejection("a"),
            "its queue is not active: test.yaml:8: ClusterQueue \"cq\": there is no ResourceFlavor \"f\"");
}

TEST(KueueClusterQueue, TakesNoNamespaceSelectorThatMakesNoSense) {
  const std::string queue = flavor("{}") + cluster_queue(kQuotaOfF) + "  namespaceSelector: ";
  EXPECT_EQ(World(queue + "{matchExpressions: [{key: k, operator: In, values: [x]}]}\n").error(), "");
  EXPECT_NE(World(queue + "{matchExpressions: [{key: k, operator: In}]}\n")
                .error()
                .find("spec.namespaceSelector.matchExpressions[0].values must not be empty with operator In"),
            std::string::npos);
}

TEST(KueueClusterQueue, NeedsQuotaForWhatItCoversAndNothingElse) {
  const auto error = [](const std::string& resources) {
    return World(flavor("{}") + cluster_queue("  - coveredResources: [cpu, memory]\n    flavors:\n    - {name: f, "
                                              "resources: " +
                                              resources + "}\n"))
        .error();
  };
  EXPECT_EQ(error("[{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 1Gi}]"), "");
  EXPECT_EQ(error("[{name: cpu, nominalQuota: 1}]"),
            "test.yaml:13: ClusterQueue \"cq\": spec.resourceGroups[0].flavors[0]: flavor \"f\" has no quota for "
            "memory, which is in coveredResources");
  EXPECT_EQ(error("[{name: cpu, nominalQuota: 1}, {name: gpu, nominalQuota: 1}]"),
            "test.yaml:13: ClusterQueue \"cq\": spec.resourceGroups[0].flavors[0].resources[1]: flavor \"f\" has quota "
            "for gpu, which is not in coveredResources");
  EXPECT_EQ(error("[{name: cpu, nominalQuota: -1}]"),
            "test.yaml:13: ClusterQueue \"cq\": spec.resourceGroups[0].flavors[0].resources[0].nominalQuota must be at "
            "least 0, not -1");
  EXPECT_NE(error("[{name: cpu}]").find("nominalQuota of cpu is missing"), std::string::npos);
}

TEST(KueueClusterQueue, CoversAResourceOnce) {
  const std::string group =
      "  - coveredResources: [cpu]\n    flavors:\n    - {name: f, resources: [{name: cpu, "
      "nominalQuota: 1}]}\n";
  EXPECT_NE(World(flavor("{}") + cluster_queue(group + group)).error().find("cpu is covered twice"), std::string::npos);
}

TEST(KueueClusterQueue, KnowsItsStopPolicies) {
  EXPECT_NE(World("{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: cq}, spec: "
                  "{stopPolicy: Sometimes}}")
                .error()
                .find("is not None, Hold or HoldAndDrain"),
            std::string::npos);
}

TEST(KueueLocalQueue, NeedsItsClusterQueue) {
  EXPECT_EQ(note_of("apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: q, namespace: ns}\nspec:\n"
                    "  clusterQueue: nowhere\n"),
            "test.yaml:5: LocalQueue \"ns/q\": there is no ClusterQueue \"nowhere\": its jobs wait");
}

TEST(Levels, MakeATopologyOfTheirOwn) {
  World world("", {"net/block", "net/rack"});
  ASSERT_EQ(world.error(), "");
  EXPECT_TRUE(world.cluster.engine().find_topology("levels"));
  EXPECT_NE(World("", {"not a label"}).error(), "");
  EXPECT_NE(World("", {"a", "a"}).error(), "");
}

}  // namespace
}  // namespace gantree
