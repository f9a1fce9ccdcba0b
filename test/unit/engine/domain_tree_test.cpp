#include "engine/domain_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

TEST(DomainTree, TellsEqualNamesUnderDifferentParentsApart) {
  SmallCluster c({"block", "rack", "kubernetes.io/hostname"});
  c.host("block-1/rack-1/node-1", 1);
  c.host("block-1/rack-2/node-2", 1);
  c.host("block-2/rack-1/node-3", 1);
  c.host("block-2/rack-3/node-4", 1);
  const DomainTree& tree = c.engine().tree(c.topology());
  EXPECT_EQ(tree.size(0), 2U);
  EXPECT_EQ(tree.size(1), 4U);
  EXPECT_EQ(tree.path({1, 0}), (std::vector<std::string>{"block-1", "rack-1"}));
  EXPECT_EQ(tree.path({1, 2}), (std::vector<std::string>{"block-2", "rack-1"}));
}

TEST(DomainTree, LeavesOutNodesThatLackALabel) {
  SmallCluster c({"block", "rack", "kubernetes.io/hostname"});
  c.host("b1/r1/n1", 1);
  Node bare;
  bare.name = "bare";
  const NodeId id = c.inventory().upsert(bare);
  const DomainTree& tree = c.engine().tree(c.topology());
  EXPECT_EQ(tree.size(tree.host_level()), 1U);
  EXPECT_EQ(tree.host_of(id), DomainTree::kNowhere);
}

TEST(DomainTree, AddsAHostLevelWhereTheTopologyEndsAtTheRack) {
  SmallCluster c({"block", "rack"});
  c.host("b1/r1/n1", 1);
  c.host("b1/r1/n2", 1);
  const DomainTree& tree = c.engine().tree(c.topology());
  EXPECT_EQ(tree.levels(), 3);
  EXPECT_EQ(tree.topology_levels(), 2);
  EXPECT_EQ(tree.hosts({1, 0}).size(), 2U);
  EXPECT_EQ(tree.path({2, 1}), (std::vector<std::string>{"b1", "r1"}));
  EXPECT_EQ(tree.name({2, 1}), "n2");
}

TEST(DomainTree, KeepsNodesThatShareAHostnameLabelApart) {
  SmallCluster c({"kubernetes.io/hostname"});
  Node twin = c.make_node("same", 1);
  twin.name = "a";
  c.inventory().upsert(twin);
  twin.name = "b";
  c.inventory().upsert(twin);
  const DomainTree& tree = c.engine().tree(c.topology());
  EXPECT_EQ(tree.size(0), 1U);
  EXPECT_EQ(tree.size(tree.host_level()), 2U);
}

TEST(DomainTree, KeepsTheDomainsBelowADomainContiguous) {
  SmallCluster c({"zone", "block", "rack", "kubernetes.io/hostname"});
  c.host("z1/b1/r1/n1", 1);
  c.host("z1/b1/r2/n2", 1);
  c.host("z1/b2/r1/n3", 1);
  c.host("z2/b1/r1/n4", 1);
  const DomainTree& tree = c.engine().tree(c.topology());
  EXPECT_EQ(tree.below({0, 0}, 2).size(), 3U);
  EXPECT_EQ(tree.below(kWholeTree, 3).size(), 4U);
  EXPECT_EQ(tree.ancestor(3, 2, 1), 1U);
}

TEST(DomainTree, OfNoNodesHasNoDomains) {
  SmallCluster c({"block", "rack"});
  const DomainTree& tree = c.engine().tree(c.topology());
  EXPECT_EQ(tree.size(0), 0U);
  EXPECT_EQ(tree.hosts(kWholeTree).size(), 0U);
}

TEST(DomainTree, OfSixteenLevelsIsAsGoodAsAny) {
  std::vector<std::string> levels;
  std::string path;
  for (int i = 0; i < 15; ++i) {
    levels.push_back("level-" + std::to_string(i));
    path += "d/";
  }
  levels.emplace_back("kubernetes.io/hostname");
  SmallCluster c(levels);
  c.host(path + "n1", 2);
  c.host(path + "n2", 2);
  EXPECT_EQ(c.where(c.gang({c.set("main", 4, 1, required(14))})), "n1:2 n2:2");
}

// Nodes by labels, in a topology of block and rack.
class LabelledTree {
 public:
  explicit LabelledTree(Topology topology)
      : engine_(inventory_), topology_(engine_.add_topology(std::move(topology))) {}

  NodeId node(const std::string& name, const std::vector<std::pair<std::string, std::string>>& labels) {
    Node node;
    node.name = name;
    for (const auto& [key, value] : labels) {
      node.labels.push_back({inventory_.strings().intern(key), inventory_.strings().intern(value)});
    }
    std::sort(node.labels.begin(), node.labels.end());
    return inventory_.upsert(node);
  }
  // "b1/r1", or "" where the node is outside.
  std::string path(NodeId node) {
    const DomainTree& tree = engine_.tree(topology_);
    const std::uint32_t host = tree.host_of(node);
    std::string out;
    if (host != DomainTree::kNowhere) {
      for (const std::string& value : tree.path({tree.host_level(), host})) {
        out += (out.empty() ? "" : "/") + value;
      }
    }
    return out;
  }
  const DomainTree& tree() { return engine_.tree(topology_); }

 private:
  Inventory inventory_;
  Engine engine_;
  TopologyId topology_;
};

TEST(DomainTree, TakesTheFirstLabelOfALevelThatIsNotEmpty) {
  LabelledTree t({"t", {"block", "rack"}, {{"spine"}, {"rack.old", "rack.oldest"}}});
  EXPECT_EQ(t.path(t.node("n1", {{"block", "b1"}, {"spine", "s1"}, {"rack", "r1"}})), "b1/r1");
  EXPECT_EQ(t.path(t.node("n2", {{"spine", "b1"}, {"rack", ""}, {"rack.oldest", "r2"}})), "b1/r2");
  EXPECT_EQ(t.path(t.node("n3", {{"block", ""}, {"rack", "r1"}})), "");
  EXPECT_EQ(t.tree().size(0), 1U);
}

TEST(DomainTree, LetsANodeThatLacksTheLowestLabelStandAloneWhereAllowed) {
  Topology topology{"t", {"block", "accelerator"}};
  topology.lone_nodes = true;
  LabelledTree t(topology);
  const NodeId lone = t.node("n1", {{"block", "b1"}});
  const NodeId bare = t.node("n2", {{"block", "b1"}, {"accelerator", ""}});
  // A domain that has the name of a lone node by chance is another one.
  const NodeId namesake = t.node("n3", {{"block", "b1"}, {"accelerator", "n1"}});
  const NodeId outside = t.node("n4", {{"accelerator", "a1"}});
  EXPECT_EQ(t.path(lone), "b1/n1");
  EXPECT_EQ(t.path(bare), "b1/n2");
  EXPECT_EQ(t.path(namesake), "b1/n1");
  EXPECT_EQ(t.path(outside), "");
  EXPECT_EQ(t.tree().size(0), 1U);
  EXPECT_EQ(t.tree().size(1), 3U);
}

TEST(DomainTree, LetsNodesStandAloneAboveTheHostsToo) {
  Topology topology{"t", {"block", "accelerator", "kubernetes.io/hostname"}};
  topology.lone_nodes = true;
  LabelledTree t(topology);
  const NodeId lone = t.node("m", {{"block", "b1"}, {"kubernetes.io/hostname", "m"}});
  const NodeId first = t.node("a", {{"block", "b1"}, {"accelerator", "m"}, {"kubernetes.io/hostname", "a"}});
  const NodeId last = t.node("z", {{"block", "b1"}, {"accelerator", "m"}, {"kubernetes.io/hostname", "z"}});
  EXPECT_EQ(t.path(lone), "b1/m/m");
  EXPECT_EQ(t.path(first), "b1/m/a");
  EXPECT_EQ(t.path(last), "b1/m/z");
  EXPECT_EQ(t.tree().size(1), 2U);
  EXPECT_EQ(t.tree().hosts({1, 0}).size(), 2U);
  EXPECT_EQ(t.path(t.node("nameless", {{"block", "b1"}, {"accelerator", "m"}})), "");
}

TEST(DomainTree, KeepsANodeOutsideThatLacksTheLowestLabelByDefault) {
  LabelledTree t({"t", {"block", "rack"}});
  EXPECT_EQ(t.path(t.node("n1", {{"block", "b1"}})), "");
  EXPECT_EQ(t.path(t.node("n2", {{"block", ""}, {"rack", "r1"}})), "r1");  // an empty value is a value
}

}  // namespace
}  // namespace gantree
