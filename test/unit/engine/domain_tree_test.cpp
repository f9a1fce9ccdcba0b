#include "engine/domain_tree.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gantree
