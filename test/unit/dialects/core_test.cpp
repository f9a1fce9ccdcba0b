// Nodes, pods and lists through the front door.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

const Node& node_of(World& world, std::string_view name) {
  EXPECT_EQ(world.error(), "");
  const auto id = world.cluster.inventory().find(name);
  EXPECT_TRUE(id) << name;
  return world.cluster.inventory().node(*id);
}

std::string label(World& world, const Node& node, std::string_view key) {
  const StringId* value = label_value(node.labels, world.cluster.inventory().strings().intern(key));
  return value == nullptr ? "(none)" : std::string(world.cluster.inventory().strings().text(*value));
}

std::string node(const std::string& rest) {
  return "apiVersion: v1\nkind: Node\n" + rest;
}

TEST(Node, HasLabelsTaintsAndRoundedDownCapacity) {
  World world(
      node("metadata: {name: n1, labels: {rack: r1, kubernetes.io/hostname: host-n1}}\n"
           "spec: {taints: [{key: gpu, value: h100, effect: NoSchedule}, {key: old, effect: NoExecute}]}\n"
           "status: {allocatable: {cpu: 1999.5m, memory: 1.9}, capacity: {cpu: 64}}\n"));
  const Node& read = node_of(world, "n1");
  EXPECT_EQ(label(world, read, "rack"), "r1");
  EXPECT_EQ(label(world, read, "kubernetes.io/hostname"), "host-n1");
  ASSERT_EQ(read.taints.size(), 2U);
  EXPECT_EQ(read.taints[1].effect, TaintEffect::kNoExecute);
  EXPECT_EQ(read.allocatable.get(ResourceNames::kCpu), 1999);
  EXPECT_EQ(read.allocatable.get(ResourceNames::kMemory), 1);
  EXPECT_TRUE(read.ready);
  EXPECT_FALSE(read.unschedulable);
}

TEST(Node, IsItsOwnHostnameWhereTheLabelIsMissing) {
  World world(node("metadata: {name: n1}"));
  EXPECT_EQ(label(world, node_of(world, "n1"), "kubernetes.io/hostname"), "n1");
}

TEST(Node, FallsBackToCapacity) {
  World world(node("metadata: {name: n1}\nstatus: {capacity: {cpu: 4}}"));
  EXPECT_EQ(node_of(world, "n1").allocatable.get(ResourceNames::kCpu), 4000);
}

TEST(Node, IsNotReadyOnlyWhereItSaysSo) {
  for (const auto& [status, ready] : {std::pair("status: {}", true),
                                      {"status: {conditions: [{type: DiskPressure, status: 'False'}]}", true},
                                      {"status: {conditions: [{type: Ready, status: 'True'}]}", true},
                                      {"status: {conditions: [{type: Ready, status: 'False'}]}", false},
                                      {"status: {conditions: [{type: Ready, status: Unknown}]}", false}}) {
    World world(node(std::string("metadata: {name: n1}\n") + status));
    EXPECT_EQ(node_of(world, "n1").ready, ready) << status;
  }
}

TEST(Node, MayBeCordoned) {
  World world(node("metadata: {name: n1}\nspec: {unschedulable: true}"));
  EXPECT_TRUE(node_of(world, "n1").unschedulable);
}

// What is free of the node `n1`, which has 8 gpus, beside a pod.
std::int64_t free_beside(const std::string& pod) {
  World world(
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {nvidia.com/gpu: 8}}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\n" +
      pod);
  EXPECT_EQ(world.error(), "");
  return world.cluster.inventory().free(*world.cluster.inventory().find("n1"), world.resource("nvidia.com/gpu"));
}

constexpr char kBound[] = "spec: {nodeName: n1, containers: [{resources: {requests: {nvidia.com/gpu: 3}}}]}\n";

TEST(Pod, TakesRoomOnItsNode) {
  EXPECT_EQ(free_beside(kBound), 5);
  EXPECT_EQ(free_beside(std::string(kBound) + "status: {phase: Running}"), 5);
  EXPECT_EQ(free_beside(std::string(kBound) + "status: {phase: Pending}"), 5);
}

TEST(Pod, TakesNothingWhenItHasEnded) {
  EXPECT_EQ(free_beside(std::string(kBound) + "status: {phase: Succeeded}"), 8);
  EXPECT_EQ(free_beside(std::string(kBound) + "status: {phase: Failed}"), 8);
}

TEST(Pod, TakesNothingUntilItIsBound) {
  EXPECT_EQ(free_beside("spec: {containers: [{resources: {requests: {nvidia.com/gpu: 3}}}]}"), 8);
  EXPECT_EQ(free_beside("spec: {nodeName: '', containers: [{resources: {requests: {nvidia.com/gpu: 3}}}]}"), 8);
}

TEST(Pod, MayComeBeforeItsNodeOrBeOnANodeThatIsNotThere) {
  World world(std::string("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n") + kBound +
              "---\napiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: {nodeName: gone}\n---\n"
              "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {nvidia.com/gpu: 8}}\n");
  EXPECT_EQ(world.error(), "");
  EXPECT_EQ(world.cluster.inventory().free(*world.cluster.inventory().find("n1"), world.resource("nvidia.com/gpu")), 5);
}

TEST(Lists, AreTakenApart) {
  World world(
      "apiVersion: v1\nkind: List\nitems:\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: a}}\n"
      "- apiVersion: v1\n  kind: NodeList\n  items: [{metadata: {name: b}}]\n");
  EXPECT_EQ(world.error(), "");
  EXPECT_TRUE(world.cluster.inventory().find("a"));
  EXPECT_TRUE(world.cluster.inventory().find("b"));
}

TEST(Lists, MayBeEmpty) {
  EXPECT_EQ(World("apiVersion: v1\nkind: PodList\nitems: null\n").error(), "");
}

TEST(Lists, NeedTheKindOfTheirItems) {
  EXPECT_EQ(World("apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n").error(),
            "test.yaml:4: this object has no kind");
}

TEST(Objects, NeedKindAndApiVersion) {
  EXPECT_EQ(World("a: 1\n").error(), "test.yaml:1: this object has no kind");
  EXPECT_EQ(World("---\nkind: Node\nmetadata: {name: a}\n").error(), "test.yaml:2: this object has no apiVersion");
  EXPECT_EQ(World("- 1\n").error(), "test.yaml:1: an API object must stand here, not a list");
}

TEST(Objects, OfOtherKindsAreCountedAndIgnored) {
  World world(
      "{apiVersion: v1, kind: Service}\n---\n{apiVersion: v1, kind: Service, spec: 5}\n---\n"
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job}\n");
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_EQ(world.reading->ignored, (std::map<std::string, int>{{"Job", 1}, {"Service", 2}}));
}

TEST(Objects, OfAnUnknownVersionAreNotIgnored) {
  EXPECT_EQ(World("{apiVersion: batch/v2, kind: Job, metadata: {name: a}}").error(),
            "test.yaml:1: version v2 of Job is not supported; v1 is");
}

TEST(Objects, MayNotComeTwice) {
  EXPECT_EQ(World(node("metadata: {name: a}\n---\n") + node("metadata: {name: a}\n")).error(),
            "test.yaml:5: Node \"a\" is given twice (first at test.yaml:1)");
  EXPECT_EQ(World("{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n"
                  "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}}\n")
                .error(),
            "test.yaml:3: Pod \"default/a\" is given twice (first at test.yaml:1)");
}

TEST(Objects, OfOneNameInTwoNamespacesAreTwo) {
  EXPECT_EQ(World("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x}}\n---\n"
                  "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: z}}\n")
                .error(),
            "");
}

TEST(Objects, WithAGeneratedNameAreNumbered) {
  const std::string job =
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {generateName: train-}\n"
      "spec: {template: {spec: {containers: []}}}\n";
  World world(job + job);
  ASSERT_TRUE(world.reading) << world.error();
  ASSERT_EQ(world.reading->queue.size(), 2U);
  EXPECT_EQ(world.reading->queue[0].key.name, "train-1");
  EXPECT_EQ(world.reading->queue[1].key.name, "train-2");
}

TEST(Objects, NeedAName) {
  EXPECT_EQ(World("{apiVersion: v1, kind: Node, metadata: {}}").error(), "test.yaml:1: Node: metadata.name is missing");
  EXPECT_NE(World("{apiVersion: v1, kind: Node}").error(), "");
}

}  // namespace
}  // namespace gantree
