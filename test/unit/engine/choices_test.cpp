// What the engine prefers, one preference a test.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

const std::vector<std::string> kBlockRackHost{"block", "rack", "kubernetes.io/hostname"};

TEST(Choices, TakeTheRacksThatGiveTheFewestHosts) {
  SmallCluster c(kBlockRackHost);
  // Two racks are needed either way; 8+4 on two hosts beats 6 ones and 6 ones.
  for (const char* host : {"a1", "a2", "a3", "a4", "a5", "a6"}) {
    c.host(std::string("b1/ra/") + host, 1);
  }
  for (const char* host : {"c1", "c2", "c3", "c4", "c5", "c6"}) {
    c.host(std::string("b1/rc/") + host, 1);
  }
  c.host("b1/rd/d1", 6);
  c.host("b1/re/e1", 6);
  EXPECT_EQ(c.where(c.gang({c.set("main", 12, 1, required(0))})), "d1:6 e1:6");
}

TEST(Choices, LookBeyondTheLargestBlocksForFewerRacks) {
  SmallCluster c(kBlockRackHost);
  // No block holds 12. The two largest need four racks, b3 and b4 only two.
  c.host("b1/r1/a1", 4);
  c.host("b1/r2/a2", 4);
  c.host("b2/r1/a3", 4);
  c.host("b2/r2/a4", 3);
  c.host("b3/r1/a5", 6);
  c.host("b4/r1/a6", 6);
  EXPECT_EQ(c.where(c.gang({c.set("main", 12, 1, preferred(1))})), "a5:6 a6:6");
}

TEST(Choices, BreakTiesByPreferredNodeAffinity) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  Node warm = c.make_node("b1/r2/n2", 8);
  const Label label{c.inventory().strings().intern("warm"), c.inventory().strings().intern("yes")};
  warm.labels.push_back(label);
  std::sort(warm.labels.begin(), warm.labels.end());
  c.inventory().upsert(warm);
  PodSet set = c.set("main", 8, 1, required(1));
  EXPECT_EQ(c.where(c.gang({set})), "n1:8");
  set.shape.preferred = {{10, {{{label.key, SelectorOperator::kIn, {label.value}, 0}}, {}}}};
  EXPECT_EQ(c.where(c.gang({set})), "n2:8");
}

TEST(Choices, BreakTiesByPreferredNodeAffinityWhereNoTopologyIsAskedFor) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 1);
  c.host("b1/r1/n2", 1);
  Node warm = c.make_node("b1/r2/n4", 1);
  const Label label{c.inventory().strings().intern("warm"), c.inventory().strings().intern("yes")};
  warm.labels.push_back(label);
  std::sort(warm.labels.begin(), warm.labels.end());
  c.host("b1/r2/n3", 1);
  c.inventory().upsert(warm);
  PodSet set = c.set("main", 1, 1);
  EXPECT_EQ(c.where(c.gang({set})), "n1:1");
  set.shape.preferred = {{10, {{{label.key, SelectorOperator::kIn, {label.value}, 0}}, {}}}};
  EXPECT_EQ(c.where(c.gang({set})), "n4:1");
  set.count = set.min_count = 3;
  EXPECT_EQ(c.where(c.gang({set})), "n1:1 n3:1 n4:1") << "its rack is filled first";
}

TEST(Choices, KeepOffPreferNoScheduleTaintsWhereTheRestIsEqual) {
  SmallCluster c(kBlockRackHost);
  Node soft = c.make_node("b1/r1/n1", 8);
  soft.taints = {{c.inventory().strings().intern("slow"), StringId{0}, TaintEffect::kPreferNoSchedule}};
  c.inventory().upsert(soft);
  c.host("b1/r2/n2", 8);
  EXPECT_EQ(c.where(c.gang({c.set("main", 8, 1, required(1))})), "n2:8");
}

TEST(Choices, TakeTheRackWhoseBlockHasLessRoomWhereRacksAreEqual) {
  SmallCluster c(kBlockRackHost);
  for (const char* host : {"b1/r1/n1", "b1/r1/n2", "b1/r2/n3", "b1/r2/n4", "b2/r1/n5", "b2/r1/n6"}) {
    c.host(host, 4);
  }
  EXPECT_EQ(c.where(c.gang({c.set("main", 8, 1, required(1))})), "n5:4 n6:4");
}

TEST(Choices, BalanceInTheBlockThatAllowsTheMostEqualShares) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 16);
  c.host("b1/r2/n2", 24);
  c.host("b2/r1/n3", 7);
  c.host("b2/r2/n4", 24);
  Constraint balanced = preferred(1);
  balanced.packing = Packing::kBalanced;
  balanced.balance = 1;
  EXPECT_EQ(c.where(c.gang({c.set("main", 30, 1, balanced)})), "n1:15 n2:15");
}

TEST(Choices, PackAPreferredGroupOfOnePlainSet) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 1);
  c.host("b1/r1/n2", 2);
  EXPECT_EQ(c.where(c.gang({c.set("main", 2, 1)}, preferred(0))), "n2:2");
}

TEST(Choices, RefuseInTheWordsOfThePodSetsOwnTopology) {
  SmallCluster c({"block"});
  const TopologyId other = c.engine().add_topology({"other", {"block", "rack", "kubernetes.io/hostname"}});
  Node node = c.make_node("b1", 1);
  node.labels = {{c.inventory().strings().intern("block"), c.inventory().strings().intern("b1")},
                 {c.inventory().strings().intern("rack"), c.inventory().strings().intern("r1")},
                 {c.inventory().strings().intern("kubernetes.io/hostname"), c.inventory().strings().intern("n1")}};
  std::sort(node.labels.begin(), node.labels.end());
  c.inventory().upsert(node);
  Constraint host = required(2);
  host.topology = other;
  EXPECT_TRUE(c.where(c.gang({c.set("main", 2, 1, host)})).starts_with("refused: no host can hold all 2 pods"));
}

TEST(Choices, KeepARequiredBlockAndAPreferredRackTogether) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  c.host("b1/r2/n2", 4);
  c.host("b2/r1/n3", 4);
  Constraint both = required(0);
  both.preferred = 1;
  EXPECT_EQ(c.where(c.gang({c.set("main", 4, 1, both)})), "n1:4");
  EXPECT_EQ(c.where(c.gang({c.set("main", 8, 1, both)})), "n1:4 n2:4");
  EXPECT_FALSE(c.place(c.gang({c.set("main", 12, 1, both)})).placement);
}

TEST(Choices, HoldAGroupOfThreeRolesInOneRack) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  c.host("b1/r1/n2", 4);
  c.host("b1/r2/n3", 8);
  c.host("b1/r2/n4", 2);
  const Gang gang = c.gang({c.set("master", 1, 2), c.set("worker", 2, 3), c.set("evaluator", 1, 1)}, required(1));
  // 2 + 3 + 3 + 1 = 9 of 10 in r2, on two hosts; r1 has 8.
  const Outcome outcome = c.place(gang);
  ASSERT_TRUE(outcome.placement);
  for (std::size_t set = 0; set < 3; ++set) {
    for (const HostShare& share : outcome.placement->pod_sets[set]) {
      EXPECT_GE(c.inventory().node(share.node).name, "n3");
    }
  }
}

TEST(Choices, FillARackExactlyWithSiblingsOfUnequalSize) {
  SmallCluster c(kBlockRackHost);
  // Subgroups of 2, 3 and 4 pods, each in one rack, on racks with 4 and 5 slots.
  c.host("b1/r1/n1", 4);
  c.host("b1/r2/n2", 5);
  Gang gang = c.gang({});
  for (const int size : {2, 3, 4}) {
    Group group;
    group.name = "subgroup";
    group.constraint = required(1);
    group.pod_sets = {c.set("pods", size, 1)};
    gang.root.groups.push_back(group);
  }
  const Outcome outcome = c.place(gang);
  ASSERT_TRUE(outcome.placement);
  EXPECT_EQ(c.text(*outcome.placement, 2), "n1:4");
}

TEST(Choices, CutAGroupOfTwoSetsIntoSlicesByRank) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  c.host("b1/r2/n2", 4);
  // Ranks: the leader and three workers, then four workers.
  const Gang gang = c.gang({c.set("leader", 1, 1), c.set("workers", 7, 1)}, slices({{1, 4}}));
  EXPECT_EQ(c.where(gang, 1).size(), std::string("n1:4 n2:3").size());
  const Gang nine = c.gang({c.set("leader", 2, 1), c.set("workers", 7, 1)}, slices({{1, 4}}));
  EXPECT_FALSE(c.place(nine).placement);
}

TEST(Choices, PutConsecutiveRanksIntoOneRack) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r2/n1", 2);
  c.host("b1/r1/n2", 2);
  c.host("b1/r2/n3", 2);
  c.host("b1/r1/n4", 2);
  EXPECT_EQ(c.where(c.gang({c.set("main", 8, 1, required(0))})), "n2:2 n4:2 n1:2 n3:2");
}

TEST(Choices, UseTwoTopologiesOverTheSameNodes) {
  SmallCluster c(kBlockRackHost);
  const TopologyId racks = c.engine().add_topology({"racks", {"rack"}});
  c.host("b1/r1/n1", 4);
  c.host("b2/r1/n2", 4);
  Gang gang = c.gang({c.set("main", 8, 1, required(0))});
  EXPECT_FALSE(c.place(gang).placement) << "two blocks";
  gang.topology = racks;
  EXPECT_EQ(c.where(gang), "n1:4 n2:4") << "one rack name, where racks are the top level";
}

TEST(Choices, FindTheLargeGangsPlaceByBacktracking) {
  SmallCluster c(kBlockRackHost);
  // Enough pods that the exact tables are too large: part by part it is.
  for (int r = 0; r < 40; ++r) {
    for (int h = 0; h < 10; ++h) {
      c.host("b" + std::to_string(r / 10) + "/r" + std::to_string(10 + r) + "/n" + std::to_string(1000 + r * 10 + h),
             8);
    }
  }
  const Gang gang =
      c.gang({c.set("a", 80, 1, required(1)), c.set("b", 160, 1, required(0)), c.set("c", 300, 2, preferred(1))});
  const Outcome outcome = c.place(gang);
  ASSERT_TRUE(outcome.placement);
  c.engine().take(gang, *outcome.placement);
  for (std::size_t n = 0; n < c.inventory().size(); ++n) {
    EXPECT_GE(c.inventory().free(make_id<NodeTag>(n), c.gpu()), 0);
  }
}

}  // namespace
}  // namespace gantree
