// Gangs that may start with fewer pods, or without some of their groups.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

const std::vector<std::string> kBlockRackHost{"block", "rack", "kubernetes.io/hostname"};

PodSet at_least(PodSet set, int min_count) {
  set.min_count = min_count;
  return set;
}

Group group(std::string name, std::vector<PodSet> sets, Constraint constraint = {}) {
  Group group;
  group.name = std::move(name);
  group.constraint = std::move(constraint);
  group.pod_sets = std::move(sets);
  return group;
}

Gang gang_of(SmallCluster& c, std::vector<Group> groups, std::optional<int> min_groups = {}) {
  Gang gang = c.gang({});
  gang.root.groups = std::move(groups);
  gang.root.min_groups = min_groups;
  return gang;
}

TEST(Minima, AGroupsMinimumCountsAllItsOwnPodSets) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 5);
  Gang gang = c.gang({at_least(c.set("a", 4, 1), 0), at_least(c.set("b", 4, 1), 0)});
  gang.root.min_pods = 5;
  const Outcome outcome = c.place(gang);
  ASSERT_TRUE(outcome.placement);
  EXPECT_EQ(outcome.counts[0] + outcome.counts[1], 5);
  gang.root.min_pods = 6;
  const Outcome refused = c.place(gang);
  ASSERT_FALSE(refused.placement);
  EXPECT_EQ(refused.refusal, Refusal::kTooLarge);
}

TEST(Minima, TakesTheSetThatFitsWhereOnlyTheSumMatters) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  Gang gang = c.gang({at_least(c.set("large", 4, 8), 0), at_least(c.set("small", 4, 1), 0)});
  gang.root.min_pods = 4;
  EXPECT_EQ(c.place(gang).counts, (std::vector{0, 4}));
}

TEST(Minima, ShrinksEverySetAlikeWhereTheNumberOfPodsIsTheSame) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  EXPECT_EQ(c.place(c.gang({at_least(c.set("a", 8, 1), 2), at_least(c.set("b", 8, 1), 2)})).counts,
            (std::vector{4, 4}));
}

TEST(Minima, LeavesOutTheGroupThatFitsNowhereAndKeepsTheOthersWhole) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  c.host("b1/r2/n2", 4);
  const Gang gang = gang_of(c,
                            {group("a", {c.set("a", 3, 1)}, required(1)), group("b", {c.set("b", 5, 1)}, required(1)),
                             group("c", {c.set("c", 4, 1)}, required(1))},
                            2);
  const Outcome outcome = c.place(gang);
  ASSERT_TRUE(outcome.placement) << outcome.message;
  EXPECT_EQ(outcome.counts, (std::vector{3, 0, 4}));
  EXPECT_TRUE(outcome.placement->pod_sets[1].empty());
  c.engine().take(gang, *outcome.placement);
  EXPECT_FALSE(c.place(gang).placement);
  c.engine().give(gang, *outcome.placement);
  EXPECT_TRUE(c.place(gang).placement);
}

TEST(Minima, KeepsTheGroupsThatMakeTheMostPods) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 10);
  const Gang gang = gang_of(c,
                            {group("a", {c.set("a", 7, 1)}), group("b", {c.set("b", 5, 1)}),
                             group("c", {c.set("c", 5, 1)}), group("d", {c.set("d", 2, 1)})},
                            1);
  EXPECT_EQ(c.place(gang).counts, (std::vector{0, 5, 5, 0}));
}

TEST(Minima, OfEqualGroupsTheFirstOnesStart) {
  SmallCluster c(kBlockRackHost);
  for (const char* host : {"b1/r1/n1", "b1/r2/n2", "b1/r3/n3"}) {
    c.host(host, 4);
  }
  std::vector<Group> groups;
  for (const char* name : {"0", "1", "2", "3", "4"}) {
    groups.push_back(group(name, {c.set(name, 4, 1)}, required(1)));
  }
  EXPECT_EQ(c.place(gang_of(c, groups, 2)).counts, (std::vector{4, 4, 4, 0, 0}));
  const Outcome refused = c.place(gang_of(c, groups, 4));
  ASSERT_FALSE(refused.placement);
  EXPECT_EQ(refused.refusal, Refusal::kTooLarge);
}

TEST(Minima, AGroupThatIsNotOptionalIsNeverLeftOut) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  EXPECT_FALSE(c.place(gang_of(c, {group("a", {c.set("a", 3, 1)}), group("b", {c.set("b", 2, 1)})})).placement);
  EXPECT_FALSE(c.place(gang_of(c, {group("a", {c.set("a", 3, 1)}), group("b", {c.set("b", 2, 1)})}, 2)).placement);
}

TEST(Minima, AStartedGroupKeepsItsOwnMinimum) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 5);
  Group a = group("a", {at_least(c.set("a", 4, 1), 0)});
  a.min_pods = 3;
  Group b = a;
  b.name = "b";
  EXPECT_EQ(c.place(gang_of(c, {a, b}, 1)).counts, (std::vector{4, 0}));
}

TEST(Minima, LeavesOutOptionalGroupsInsideGroupsThatAreNotOptional) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  Group outer = group("outer", {c.set("lead", 1, 1)});
  outer.groups = {group("x", {c.set("x", 3, 1)}), group("y", {c.set("y", 2, 1)})};
  outer.min_groups = 1;
  EXPECT_EQ(c.place(gang_of(c, {outer})).counts, (std::vector{1, 3, 0}));
}

TEST(Minima, AWhollyElasticGangWaitsWhereNotOnePodFits) {
  SmallCluster c(kBlockRackHost);
  const NodeId n1 = c.host("b1/r1/n1", 4);
  c.inventory().take(n1, c.shape(1).requests, 4);
  const Gang gang = c.gang({at_least(c.set("main", 4, 1), 0)});
  const Outcome outcome = c.place(gang);
  ASSERT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.refusal, Refusal::kBusy);
  EXPECT_EQ(
      outcome.message,
      "1 pod of pod set \"main\" does not fit now; 0 of 1 fit; nearest: block b1 offers 0 of 1: 1 host short of gpu "
      "(1 of its 4 pods are enough to start)");
  c.inventory().give(n1, c.shape(1).requests, 1);
  EXPECT_EQ(c.place(gang).counts, (std::vector{1}));
}

TEST(Minima, AGangThatAsksForNoPodsIsPlaced) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  const Outcome outcome = c.place(c.gang({at_least(c.set("main", 0, 1), 0)}));
  ASSERT_TRUE(outcome.placement);
  EXPECT_EQ(outcome.counts, (std::vector{0}));
}

TEST(Minima, StartsOneOfTheGroupsWhereNoneIsNeeded) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 3);
  EXPECT_EQ(c.place(gang_of(c, {group("a", {c.set("a", 4, 1)}), group("b", {c.set("b", 3, 1)})}, 0)).counts,
            (std::vector{0, 3}));
  EXPECT_FALSE(c.place(gang_of(c, {group("a", {c.set("a", 4, 1)}), group("b", {c.set("b", 5, 1)})}, 0)).placement);
}

TEST(Minima, SaysThatAGroupHasFewerPodsThanItNeeds) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  Group a = group("workers", {at_least(c.set("a", 2, 1), 0)});
  a.min_pods = 3;
  const Outcome outcome = c.place(gang_of(c, {a}));
  ASSERT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.message, "group \"workers\" has fewer than the 3 pods it needs to start");
}

TEST(Minima, RefusesByTheMinimumAndSaysSo) {
  SmallCluster c(kBlockRackHost);
  const NodeId n1 = c.host("b1/r1/n1", 8);
  c.inventory().take(n1, c.shape(1).requests, 5);
  const Outcome outcome = c.place(c.gang({at_least(c.set("main", 12, 1, required(1)), 4)}));
  ASSERT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.refusal, Refusal::kBusy);
  EXPECT_EQ(outcome.message,
            "no rack can hold all 4 pods of pod set \"main\" now; nearest: rack b1/r1 offers 3 of 4 (4 of its 12 pods "
            "are enough to start)");
}

TEST(Minima, ManyDifferentGroupsAreLeftOutByHalving) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 100);
  std::vector<Group> groups;
  for (int size = 1; size <= 40; ++size) {
    groups.push_back(group("g" + std::to_string(size), {c.set("s" + std::to_string(size), size, 1)}));
  }
  const Outcome outcome = c.place(gang_of(c, groups, 3));
  ASSERT_TRUE(outcome.placement) << outcome.message;
  int pods = 0;
  for (const int count : outcome.counts) {
    pods += count;
  }
  EXPECT_GE(pods, 90);
}

}  // namespace
}  // namespace gantree
