#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

const std::vector<std::string> kBlockRackHost{"block", "rack", "kubernetes.io/hostname"};

TEST(Engine, PutsARequiredGangIntoTheTightestRackThatHoldsIt) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  c.host("b1/r1/n2", 8);
  c.host("b1/r2/n3", 8);
  c.host("b1/r2/n4", 4);
  EXPECT_EQ(c.where(c.gang({c.set("main", 10, 1, required(1))})), "n3:6 n4:4");
}

TEST(Engine, PrefersFewerHostsToATighterRack) {
  SmallCluster c(kBlockRackHost);
  for (const char* host : {"b1/ra/a1", "b1/ra/a2", "b1/ra/a3", "b1/ra/a4"}) {
    c.host(host, 1);
  }
  c.host("b1/rb/b1", 5);
  EXPECT_EQ(c.where(c.gang({c.set("main", 4, 1, required(1))})), "b1:4");
}

TEST(Engine, ClimbsWhenNoRackHoldsAPreferredGang) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  c.host("b1/r2/n2", 4);
  c.host("b2/r1/n3", 4);
  EXPECT_EQ(c.where(c.gang({c.set("main", 8, 1, preferred(1))})), "n1:4 n2:4");
  EXPECT_EQ(c.where(c.gang({c.set("main", 12, 1, preferred(1))})), "n1:4 n2:4 n3:4");
}

TEST(Engine, ChoosesRacksSoThatTheFewestHostsAreUsed) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 7);
  c.host("b1/r1/n2", 3);
  c.host("b1/r2/n3", 8);
  c.host("b1/r2/n4", 2);
  c.host("b1/r2/n5", 2);
  EXPECT_EQ(c.where(c.gang({c.set("main", 8, 1, required(0))})), "n3:8");
}

TEST(Engine, FillsTheTightestHolesWhereNoTopologyIsAskedFor) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  c.host("b1/r1/n2", 1);
  c.host("b2/r1/n3", 2);
  EXPECT_EQ(c.where(c.gang({c.set("main", 3, 1)})), "n2:1 n3:2");
}

TEST(Engine, KeepsSlicesWholeAndUsesOneHostWhereOneWillDo) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 1);
  c.host("b1/r1/n2", 2);
  c.host("b1/r1/n3", 8);
  EXPECT_EQ(c.where(c.gang({c.set("main", 4, 1, slices({{1, 4}}))})), "n3:4");
}

TEST(Engine, PlacesTheSmallerLastSliceToo) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 5);
  c.host("b1/r2/n2", 6);
  c.host("b1/r3/n3", 3);
  // Two slices of 4 and one of 3: only r3 is left for the last, which comes last.
  EXPECT_EQ(c.where(c.gang({c.set("main", 11, 1, slices({{1, 4}}))})), "n1:4 n2:4 n3:3");
}

TEST(Engine, PlacesPodSetsTogetherByLookingAheadAcrossSiblings) {
  SmallCluster c(kBlockRackHost);
  Node small = c.make_node("b1/r1/n1", 2);
  small.labels.push_back({c.inventory().strings().intern("zone"), c.inventory().strings().intern("x")});
  std::sort(small.labels.begin(), small.labels.end());
  const Label pin = {c.inventory().strings().intern("zone"), c.inventory().strings().intern("x")};
  c.inventory().upsert(small);
  c.host("b1/r2/n2", 3);
  PodSet b = c.set("b", 2, 1, required(1));
  b.shape.node_selector = {pin};
  const Gang gang = c.gang({c.set("a", 2, 1, required(1)), b});
  EXPECT_EQ(c.where(gang, 0), "n2:2");
  EXPECT_EQ(c.where(gang, 1), "n1:2");
}

TEST(Engine, CountsHostsOneByOneWhereTheLowestLevelIsARack) {
  SmallCluster c({"block", "rack"});
  c.host("b1/r1/n1", 4);
  c.host("b1/r1/n2", 4);
  const Outcome outcome = c.place(c.gang({c.set("main", 1, 8, required(1))}));
  ASSERT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.refusal, Refusal::kTooLarge);
}

TEST(Engine, TellsRacksOfOneNameInTwoBlocksApart) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 4);
  c.host("b2/r1/n2", 4);
  EXPECT_FALSE(c.place(c.gang({c.set("main", 8, 1, required(1))})).placement);
}

TEST(Engine, SaysBusyWhenRunningWorkIsInTheWayAndNamesTheNearestDomains) {
  SmallCluster c(kBlockRackHost);
  const NodeId n1 = c.host("b1/r1/n1", 8);
  c.host("b1/r1/n2", 8);
  c.inventory().take(n1, c.shape(1).requests, 8);
  const Outcome outcome = c.place(c.gang({c.set("main", 10, 1, required(1))}));
  ASSERT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.refusal, Refusal::kBusy);
  EXPECT_EQ(outcome.message,
            "no rack can hold all 10 pods of pod set \"main\" now; nearest: rack b1/r1 offers 8 of 10: 1 host short of "
            "gpu");
}

TEST(Engine, SaysThatPodSetsFitAloneButNotTogether) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  const Outcome outcome = c.place(c.gang({c.set("leader", 1, 4), c.set("workers", 6, 1)}, required(1)));
  ASSERT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.message,
            "each pod set fits by itself even when empty, but no placement holds all of them together");
}

Group group_of(const std::string& name, const Constraint& constraint, std::vector<PodSet> sets) {
  Group group;
  group.name = name;
  group.constraint = constraint;
  group.pod_sets = std::move(sets);
  return group;
}

TEST(Engine, NamesTheGroupThatDoesNotFitByItself) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 6);
  c.host("b1/r1/n2", 6);
  Gang gang = c.gang({});
  gang.root.groups = {group_of("prefill-0", required(2), {c.set("prefill-0-main", 2, 1)}),
                      group_of("decode-7", required(2), {c.set("decode-7-main", 8, 1)})};
  // Eight pods of one GPU on hosts of six.
  EXPECT_EQ(c.place(gang).message,
            "group \"decode-7\" does not fit by itself: no host can hold all 8 pods of pod set \"decode-7-main\" even "
            "when empty; nearest: host b1/r1/n1 offers 6 of 8; b1/r1/n2 offers 6 of 8");
}

TEST(Engine, SaysWhatAGroupOfSeveralPodSetsNeedsThatNoDomainHas) {
  SmallCluster c(kBlockRackHost);
  const NodeId n1 = c.host("b1/r1/n1", 8);
  const NodeId n2 = c.host("b1/r1/n2", 8);
  Gang gang = c.gang({});
  gang.root.groups = {group_of("prefill-0", required(2), {c.set("prefill-0-main", 2, 1)}),
                      group_of("decode-7", required(2), {c.set("leader", 1, 2), c.set("workers", 6, 1)})};
  c.inventory().take(n1, c.shape(2).requests, 1);
  c.inventory().take(n2, c.shape(4).requests, 1);
  // 2 + 6 GPUs, on a host that has 6 or 4 left: the leader fits, and so do the workers.
  const Outcome outcome = c.place(gang);
  EXPECT_EQ(outcome.refusal, Refusal::kBusy);
  EXPECT_EQ(outcome.message,
            "group \"decode-7\" does not fit by itself now: it needs 8 gpu on one host; none has more than 6 free");
}

TEST(Engine, SaysHowManyOfTheGroupsThatAreAlikeFit) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  c.host("b1/r2/n2", 8);
  Constraint alone = required(1);
  alone.exclusive = 1;
  Gang gang = c.gang({});
  for (const char* name : {"job-0", "job-1", "job-2"}) {
    gang.root.groups.push_back(group_of(name, alone, {c.set(name, 2, 1)}));
  }
  EXPECT_EQ(
      c.place(gang).message,
      "only 2 of the 3 groups like that of pod set \"job-0\" fit even when empty: each needs room for 2 pods in a "
      "rack of its own");
  // Five GPUs for each of four groups, and eight in a rack.
  gang.root.groups.clear();
  for (const char* name : {"job-0", "job-1", "job-2", "job-3"}) {
    gang.root.groups.push_back(group_of(name, required(1), {c.set(name, 5, 1)}));
  }
  EXPECT_EQ(c.place(gang).message,
            "only 2 of the 4 groups like that of pod set \"job-0\" fit even when empty: each needs room for 5 pods in "
            "one rack");
}

TEST(Engine, StartsFewerPodsWhereTheMinimumAllows) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  PodSet set = c.set("main", 12, 1, required(1));
  set.min_count = 4;
  EXPECT_EQ(c.where(c.gang({set})), "n1:8");
}

TEST(Engine, GivesAnExclusiveGangADomainOfItsOwn) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  c.host("b1/r2/n2", 8);
  Constraint alone = required(1);
  alone.exclusive = 1;
  const Gang gang = c.gang({c.set("main", 2, 1, alone)});
  const Outcome first = c.place(gang);
  ASSERT_TRUE(first.placement);
  c.engine().take(gang, *first.placement);
  EXPECT_EQ(c.where(gang), "n2:2");
  c.engine().take(gang, *c.place(gang).placement);
  EXPECT_FALSE(c.place(gang).placement);
  c.engine().give(gang, *first.placement);
  EXPECT_EQ(c.where(gang), "n1:2");
}

TEST(Engine, SeesEveryChangeOfWhatOthersHaveToThemselves) {
  SmallCluster c(kBlockRackHost);
  const NodeId first = c.host("b1/r1/n1", 8);
  const NodeId second = c.host("b1/r2/n2", 7);
  Constraint alone = required(1);
  alone.exclusive = 1;
  Gang gang = c.gang({c.set("main", 2, 1, alone)});
  EXPECT_EQ(c.where(gang), "n2:2");
  RunningGang holder;
  holder.exclusives = {{"", c.topology(), 1, {second}}};
  c.engine().hold(holder);
  EXPECT_EQ(c.where(gang), "n1:2");
  gang.exclusive_kind = "other";
  EXPECT_EQ(c.where(gang), "n2:2") << "of another kind";
  gang.exclusive_kind = "";
  c.engine().evict(holder);
  EXPECT_EQ(c.where(gang), "n2:2");
  holder.exclusives = {{"", c.topology(), 1, {first}}};
  c.engine().restore(holder);
  c.host("b1/r0/n0", 2);
  EXPECT_EQ(c.where(gang), "n0:2") << "the racks have other numbers now";
  c.inventory().remove(second);
  c.host("b1/r1/n0", 2);
  EXPECT_FALSE(c.place(gang).placement) << "all that is left is in the rack that is held";
}

TEST(Engine, SpreadsEvenly) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  c.host("b1/r1/n2", 8);
  c.host("b1/r2/n3", 8);
  Constraint spread;
  spread.packing = Packing::kSpread;
  EXPECT_EQ(c.where(c.gang({c.set("main", 4, 1, spread)})), "n1:1 n2:1 n3:2");
}

TEST(Engine, BalancesOverTheFewestRacks) {
  SmallCluster c(kBlockRackHost);
  c.host("b1/r1/n1", 8);
  c.host("b1/r2/n2", 8);
  c.host("b1/r3/n3", 8);
  Constraint balanced = preferred(1);
  balanced.packing = Packing::kBalanced;
  balanced.balance = 1;
  EXPECT_EQ(c.where(c.gang({c.set("main", 12, 1, balanced)})), "n1:6 n2:6");
}

TEST(Engine, BalancesInsideARackWhereTheOthersOfItsGangKeepItThere) {
  SmallCluster c(kBlockRackHost);
  for (int host = 0; host < 64; ++host) {
    c.host("b" + std::to_string(host / 32) + "/r" + std::to_string(host / 2) + "/n" + std::to_string(host), 8);
    c.inventory().take(NodeId{static_cast<std::uint32_t>(host)}, c.shape(1).requests, host == 63 ? 0 : 7);
  }
  Constraint balanced = required(0);
  balanced.packing = Packing::kBalanced;
  balanced.balance = 0;
  // Two groups, so that domains are tried from the smallest up.
  Gang gang = c.gang({});
  for (const char* name : {"x", "y"}) {
    Group& group = gang.root.groups.emplace_back();
    group.pod_sets.push_back(c.set(std::string(name) + "1", 2, 1, balanced));
    group.pod_sets.push_back(c.set(std::string(name) + "2", 2, 2, required(1)));
  }
  EXPECT_FALSE(c.where(gang).empty());
}

// Every pod set fits into every rack; only adding up what they need shows that no rack holds them all.
TEST(Engine, PlacesLargeGroupsOfWhichEachNeedsARackInOneBlock) {
  SmallCluster c(kBlockRackHost);
  for (int host = 0; host < 512; ++host) {
    c.host("b1/r" + std::to_string(host / 32) + "/n" + std::to_string(host), 8);
    c.inventory().take(NodeId{static_cast<std::uint32_t>(host)}, c.shape(1).requests, host % 5);
  }
  Gang gang = c.gang({}, required(0));
  for (const char* name : {"one", "two", "three", "four"}) {
    gang.root.groups.push_back({name, required(1), {c.set("leader", 1, 2), c.set("workers", 63, 1)}, {}});
  }
  const Outcome outcome = c.place(gang);
  ASSERT_TRUE(outcome.placement) << outcome.message;
}

// Ranks count on from the launcher to the workers: the worker that shares its host has the rank next to it.
TEST(Engine, RanksGoOnFromOnePodSetOfAGroupToTheNext) {
  SmallCluster c(kBlockRackHost);
  for (const char* path : {"b1/r1/n1", "b1/r1/n2", "b1/r1/n3"}) {
    c.host(path, 8);
  }
  const Gang gang = c.gang({c.set("launcher", 1, 4), c.set("workers", 3, 4)}, required(1));
  const std::string launcher = c.where(gang, 0);
  EXPECT_EQ(c.where(gang, 1).substr(0, 4), launcher);
}

}  // namespace
}  // namespace gantree
