#include <gtest/gtest.h>

#include "dialects/koordinator/topology_status.h"
#include "unit/dialects/koordinator_manifests.h"

namespace gantree {

namespace {

const std::string kSpine = "{topologyLayer: SpineLayer, labelKey: [net/spine]}";
const std::string kBlock = "{topologyLayer: BlockLayer, parentTopologyLayer: SpineLayer, labelKey: [net/block]}";

std::string error_of(const std::string& layers) {
  return World(network_topology(layers)).error();
}

}  // namespace

TEST(KoordinatorTopology, BecomesATopologyOfItsLabelsDownToTheHost) {
  World world(koordinator_nodes() + network_topology(kSpineAndBlock));
  ASSERT_EQ(world.error(), "");
  ASSERT_EQ(world.cluster.engine().topologies(), 1U);
  EXPECT_EQ(world.cluster.engine().topology(make_id<TopologyTag>(0)).levels,
            (std::vector<std::string>{"net/spine", "net/block", "kubernetes.io/hostname"}));
}

TEST(KoordinatorTopology, LayersMayBeListedInAnyOrderAndLeaveOutTheNodes) {
  World world(koordinator_nodes() + network_topology(kBlock + ", " + kSpine));
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(world.cluster.engine().topology(make_id<TopologyTag>(0)).levels.front(), "net/spine");
}

TEST(KoordinatorTopology, TheFirstLabelThatANodeHasTellsItsDomain) {
  const auto node = [](const std::string& name, const std::string& labels) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {" + labels + "}}\n";
  };
  World world(network_topology("{topologyLayer: Spine, labelKey: [net/new, net/old]}, "
                               "{topologyLayer: Block, labelKey: [net/block], parentTopologyLayer: Spine}") +
              node("a", "net/new: s1, net/old: x, net/block: b") +
              node("b", "net/new: \"\", net/old: s1, net/block: b") + node("c", "net/old: s1") +
              node("d", "net/block: b"));
  const auto object = koordinator::cluster_network_topology(world.manifests.documents(), world.cluster);
  ASSERT_TRUE(object);
  // c lacks the label of the lowest layer only, so it stands there alone; d is outside.
  EXPECT_NE(object->to_yaml().find("    childTopologyNames:\n    - b\n    - c\n    nodeNum: 3\n"), std::string::npos)
      << object->to_yaml();
}

TEST(KoordinatorTopology, OnlyTheOneNamedDefaultIsUsed) {
  World world(network_topology("{topologyLayer: broken}", "other"));
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(world.cluster.engine().topologies(), 0U);
  ASSERT_EQ(world.reading->notes.size(), 1U);
  EXPECT_EQ(world.reading->notes.front(),
            "ClusterNetworkTopology \"other\" is not used: only the one named \"default\" is");
}

TEST(KoordinatorTopology, MustBeOneChain) {
  const std::string second_root = "{topologyLayer: RackLayer, labelKey: [net/rack]}";
  EXPECT_EQ(error_of(kSpine + ", " + second_root),
            "test.yaml:6: ClusterNetworkTopology \"default\": spec.networkTopologySpec[1]: \"SpineLayer\" and "
            "\"RackLayer\" both have no parent, but one layer is the root");
  const std::string fork = "{topologyLayer: RackLayer, parentTopologyLayer: spinelayer, labelKey: [net/rack]}";
  EXPECT_NE(error_of(kSpine + ", " + kBlock + ", " + fork).find("are both children of \"spinelayer\""),
            std::string::npos);
  const std::string loop =
      "{topologyLayer: A, parentTopologyLayer: B, labelKey: [a]}, {topologyLayer: B, parentTopologyLayer: A, labelKey: "
      "[b]}";
  EXPECT_NE(error_of(kSpine + ", " + loop).find("the parents of \"A\" go round in a circle"), std::string::npos);
  EXPECT_NE(error_of(loop).find("has no root: every layer has a parent"), std::string::npos);
}

TEST(KoordinatorTopology, ParentsMustBeListed) {
  EXPECT_NE(error_of(kBlock).find("spec.networkTopologySpec[0].parentTopologyLayer: the layer \"SpineLayer\" is not "
                                  "listed"),
            std::string::npos);
  EXPECT_NE(error_of(kSpine + ", {topologyLayer: NodeTopologyLayer, parentTopologyLayer: BlockLayer}")
                .find("the layer \"BlockLayer\" is not listed"),
            std::string::npos);
}

TEST(KoordinatorTopology, NodesAreTheLowestLayer) {
  EXPECT_NE(error_of(kSpine + ", " + kBlock + ", {topologyLayer: NodeTopologyLayer, parentTopologyLayer: SpineLayer}")
                .find("the parent of NodeTopologyLayer is \"SpineLayer\", but the lowest layer is \"BlockLayer\""),
            std::string::npos);
  EXPECT_NE(error_of("{topologyLayer: NodeTopologyLayer, parentTopologyLayer: ClusterTopologyLayer}, "
                     "{topologyLayer: X, parentTopologyLayer: NodeTopologyLayer, labelKey: [x]}")
                .find("nothing may lie below NodeTopologyLayer"),
            std::string::npos);
}

TEST(KoordinatorTopology, LayersNeedNamesThatDifferAndLabelKeys) {
  EXPECT_NE(error_of(kSpine + ", {topologyLayer: spineLayer, parentTopologyLayer: SpineLayer, labelKey: [x]}")
                .find("the layer \"spineLayer\" is listed twice"),
            std::string::npos);
  EXPECT_NE(error_of("{topologyLayer: SpineLayer}").find("the layer \"SpineLayer\" needs at least one label key"),
            std::string::npos);
  EXPECT_NE(error_of("{topologyLayer: SpineLayer, labelKey: [\"not a key\"]}")
                .find("spec.networkTopologySpec[0].labelKey[0]: \"not a key\" is not a label key"),
            std::string::npos);
  EXPECT_NE(error_of("{labelKey: [a]}").find("topologyLayer"), std::string::npos);
  EXPECT_NE(error_of("{topologyLayer: ClusterTopologyLayer, labelKey: [a]}").find("may not be listed"),
            std::string::npos);
  EXPECT_NE(error_of("").find("lists no layer but the nodes"), std::string::npos);
}

TEST(KoordinatorTopology, StatusTellsDomainsOfEqualNamesApartByTheirParents) {
  World world(network_topology(kSpineAndBlock) +
              "---\napiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {net/spine: s1, net/block: b}}\n" +
              "---\napiVersion: v1\nkind: Node\nmetadata: {name: b, labels: {net/spine: s2, net/block: b}}\n");
  const auto object = koordinator::cluster_network_topology(world.manifests.documents(), world.cluster);
  ASSERT_TRUE(object);
  const std::string yaml = object->to_yaml();
  const std::string of_second = "    parentTopologyInfo:\n      topologyLayer: SpineLayer\n      topologyName: s2\n";
  EXPECT_NE(yaml.find(of_second + "    topologyInfo:\n      topologyLayer: BlockLayer\n      topologyName: b\n"),
            std::string::npos)
      << yaml;
}

TEST(KoordinatorTopology, StatusOfAnEmptyClusterIsThatOfTheClusterAlone) {
  World world(network_topology(kSpineAndBlock));
  const auto object = koordinator::cluster_network_topology(world.manifests.documents(), world.cluster);
  ASSERT_TRUE(object);
  EXPECT_NE(object->to_yaml().find("  detailStatus:\n  - nodeNum: 0\n    topologyInfo:\n      topologyLayer: "
                                   "ClusterTopologyLayer\n      topologyName: \"\"\n"),
            std::string::npos)
      << object->to_yaml();
}

TEST(KoordinatorTopology, IsMadeOfOtherTopologiesWhereThereIsNone) {
  World world(koordinator_nodes(), {"net/spine", "net/block"});
  const auto object = koordinator::cluster_network_topology(world.manifests.documents(), world.cluster);
  ASSERT_TRUE(object);
  EXPECT_NE(object->to_yaml().find("  - labelKey:\n    - net/block\n    parentTopologyLayer: SpineLayer\n    "
                                   "topologyLayer: BlockLayer\n"),
            std::string::npos)
      << object->to_yaml();
  World none(koordinator_nodes());
  EXPECT_FALSE(koordinator::cluster_network_topology(none.manifests.documents(), none.cluster));
}

}  // namespace gantree
