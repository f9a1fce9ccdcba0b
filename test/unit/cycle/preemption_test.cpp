// Gangs that start because others go.
#include <gtest/gtest.h>

#include "unit/cycle/preemption_world.h"

namespace gantree {
namespace {

TEST_F(PreemptionTest, EvictsALowerPriorityWhereNothingElseHelps) {
  host("a");
  host("b");
  runs("low", "a", 8, {}, 1);
  runs("high", "b", 8, {}, 9);
  wants("train", 4, {}, 5);
  EXPECT_EQ(plan(), "train:Placed; low for train (Preempted)");
  EXPECT_EQ(plan_.evictions[0].pods, 8);
  EXPECT_EQ(plan_.evictions[0].priority, 1);
  EXPECT_NE(plan_.evictions[0].message.find("makes room for default/train of priority 5 (1 of 1 running gang that"),
            std::string::npos)
      << plan_.evictions[0].message;
  EXPECT_EQ(cluster_.running().size(), 1U);
}

TEST_F(PreemptionTest, SaysWhichDisruptionBudgetAnEvictionBreaks) {
  host("a");
  const BudgetId tight = cluster_.add_budget({.name = "default/tight", .allowed = 1});
  const BudgetId wide = cluster_.add_budget({.name = "default/wide", .allowed = 9});
  runs("one", "a", 4, {}, 1, 100, {{tight, 2}, {wide, 4}});
  runs("two", "a", 4, {}, 1, 100, {{tight, 2}, {wide, 4}});
  wants("train", 8, {}, 5);
  EXPECT_EQ(plan(), "train:Placed; one for train (Preempted); two for train (Preempted)");
  for (const Eviction& eviction : plan_.evictions) {
    EXPECT_TRUE(
        eviction.message.ends_with("; breaks PodDisruptionBudget \"default/tight\": 3 pods more than it allows"))
        << eviction.message;
  }
}

TEST_F(PreemptionTest, EvictsNobodyWhereThereIsRoom) {
  host("a");
  host("b");
  runs("low", "a", 8, {}, 1);
  wants("train", 8, {}, 5);
  EXPECT_EQ(plan(), "train:Placed");
}

TEST_F(PreemptionTest, EvictsNobodyForAGangThatMayNotEvict) {
  host("a");
  runs("low", "a", 8, {}, 1);
  wants("train", 8, {}, 5).may_evict = false;
  EXPECT_EQ(plan(), "train:Waiting");
}

TEST_F(PreemptionTest, EvictsNobodyWhereThatWouldNotHelp) {
  host("a");
  runs("low", "a", 4, {}, 1);
  runs("high", "a", 4, {}, 9);
  wants("train", 8, {}, 5);
  EXPECT_EQ(plan(), "train:Waiting");
  EXPECT_TRUE(
      plan_.decisions[0].message.ends_with("; evicting the only running gang that may be evicted would not help"))
      << plan_.decisions[0].message;
}

TEST_F(PreemptionTest, GivesWhatOneEvictionLeavesToTheNextGang) {
  host("a");
  runs("low", "a", 8, {}, 1);
  wants("first", 4, {}, 5);
  wants("second", 4, {}, 5, 300);
  EXPECT_EQ(plan(), "first:Placed second:Placed; low for first (Preempted)");
}

TEST_F(PreemptionTest, GivesWhatAnEvictionLeavesFirstToThoseThatWaited) {
  host("a");
  runs("low", "a", 8, {}, 1);
  wants("large", 9, {}, 9).may_evict = false;
  wants("patient", 4, {}, 8).may_evict = false;
  wants("evictor", 4, {}, 5);
  wants("late", 4, {}, 2);
  EXPECT_EQ(plan(), "large:Waiting patient:Placed evictor:Placed late:Waiting; low for evictor (Preempted)");
}

TEST_F(PreemptionTest, LetsAStrictQueueGoOnWhereItsHeadStartsAfterAll) {
  host("a");
  const QueueId strict = queue(64, {.name = "Queue \"s\"", .strict = true});
  runs("low", "a", 8, {}, 1);
  wants("head", 4, strict, 9).may_evict = false;
  wants("second", 2, strict, 8).may_evict = false;
  wants("third", 8, strict, 7).may_evict = false;
  wants("fourth", 1, strict, 6).may_evict = false;
  wants("evictor", 2, {}, 5);
  EXPECT_EQ(plan(),
            "head:Placed second:Placed third:Waiting fourth:Waiting evictor:Placed; low for evictor (Preempted)");
  EXPECT_EQ(plan_.decisions[2].reason, Reason::kTopologyBusy);
  EXPECT_EQ(plan_.decisions[3].reason, Reason::kQueueBlocked);
  EXPECT_EQ(plan_.decisions[3].message,
            "Queue \"s\" starts its jobs strictly in order, and default/third before it waits");
}

TEST_F(PreemptionTest, NeverEvictsWhatItPlacedItself) {
  host("a");
  const QueueId small = queue(0, {.name = "Queue \"s\""});
  wants("within", 8, {}, 0);
  wants("borrows", 8, small, 100);
  queue(8, {.name = "Queue \"o\""});
  EXPECT_EQ(plan(), "within:Placed borrows:Waiting") << "the one that borrows comes second, whatever its priority";
}

class WithinQueueTest : public PreemptionTest {
 protected:
  std::string plan_with(WithinRule rule) {
    const QueueId mine = queue(16, {.name = "Queue \"m\"", .within = rule});
    host("a");
    runs("younger", "a", 4, mine, 5, 300);
    runs("older", "a", 4, mine, 5, 100);
    wants("train", 4, mine, 5, 200);
    return plan();
  }
};

TEST_F(WithinQueueTest, NeverLeavesAllAlone) {
  EXPECT_EQ(plan_with(WithinRule::kNever), "train:Waiting");
}

TEST_F(WithinQueueTest, LowerPriorityLeavesEqualsAlone) {
  EXPECT_EQ(plan_with(WithinRule::kLowerPriority), "train:Waiting");
}

TEST_F(WithinQueueTest, LowerOrNewerEqualPriorityTakesTheYounger) {
  EXPECT_EQ(plan_with(WithinRule::kLowerOrNewerEqualPriority), "train:Placed; younger for train (Preempted)");
}

TEST_F(PreemptionTest, FreesQuotaEvenWhereHostsAreFree) {
  host("a");
  host("b");
  const QueueId mine = queue(8, {.name = "Queue \"m\"", .within = WithinRule::kLowerPriority});
  runs("low", "a", 8, mine, 1);
  wants("train", 8, mine, 5);
  EXPECT_EQ(plan(), "train:Placed; low for train (Preempted)");
  EXPECT_EQ(quota_.cell(quota_.cells_of(mine)[0]).used, 8);
}

TEST_F(PreemptionTest, TakesBackWhatWasLent) {
  host("a");
  host("b");
  const QueueId mine = queue(8, {.name = "Queue \"m\"", .reclaim = ReclaimRule::kAny});
  const QueueId theirs = queue(8, {.name = "Queue \"t\""});
  runs("own", "a", 8, theirs, 9, 100);
  runs("borrowed", "b", 8, theirs, 9, 110);
  wants("train", 8, mine, 0);
  EXPECT_EQ(plan(), "train:Placed; borrowed for train (Reclaimed)");
  EXPECT_TRUE(plan_.evictions[0].message.starts_with("Queue \"m\" takes back from Queue \"t\" for default/train ("))
      << plan_.evictions[0].message;
  EXPECT_FALSE(quota_.borrows(theirs));
}

TEST_F(PreemptionTest, TakesBackThoseThatRunWhereRoomIsNeeded) {
  host("a");
  host("b");
  const QueueId mine = queue(8, {.name = "Queue \"m\"", .reclaim = ReclaimRule::kAny});
  const QueueId theirs = queue(8, {.name = "Queue \"t\""});
  runs("lowest", "a", 4, theirs, 1);
  runs("stays", "a", 4, {}, 9);
  runs("higher", "b", 8, theirs, 5);
  wants("train", 8, mine, 7);
  EXPECT_EQ(plan(), "train:Placed; higher for train (Reclaimed)") << "evicting the lowest would free no host";
}

TEST_F(PreemptionTest, TakesBackNoMoreThanWhatWasLent) {
  host("a");
  const QueueId mine = queue(16, {.name = "Queue \"m\"", .reclaim = ReclaimRule::kAny});
  const QueueId theirs = queue(4, {.name = "Queue \"t\""});
  runs("one", "a", 4, theirs, 1);
  runs("two", "a", 4, theirs, 1);
  wants("train", 8, mine, 7);
  EXPECT_EQ(plan(), "train:Waiting") << "with one of them gone the queue is within its quota";
}

TEST_F(PreemptionTest, TakesBackNothingWhereTheRuleIsNever) {
  host("a");
  host("b");
  const QueueId mine = queue(8, {.name = "Queue \"m\""});
  const QueueId theirs = queue(8, {.name = "Queue \"t\""});
  runs("own", "a", 8, theirs, 0, 100);
  runs("borrowed", "b", 8, theirs, 0, 110);
  wants("train", 8, mine, 5);
  EXPECT_EQ(plan(), "train:Waiting");
  EXPECT_EQ(plan_.decisions[0].reason, Reason::kQuotaExceeded);
}

TEST_F(PreemptionTest, ChoosesTheAlternativeWithTheCheapestVictims) {
  host("a");
  host("b");
  runs("middle", "a", 8, {}, 3);
  runs("low", "b", 8, {}, 1);
  Interner& strings = cluster_.inventory().strings();
  Submission& train = wants("train", 8, {}, 5);
  Alternative other = train.parts[0][0];
  const auto pin = [&](Alternative& alternative, const char* name) {
    alternative.gang.root.pod_sets[0].shape.node_selector = {{strings.intern(kHostnameLabel), strings.intern(name)}};
    alternative.flavors = {name};
  };
  pin(train.parts[0][0], "a");
  pin(other, "b");
  train.parts.front().push_back(other);
  EXPECT_EQ(plan(), "train:Placed; low for train (Preempted)");
}

TEST_F(PreemptionTest, EvictsForTheFirstAlternativeBeforeTheNextWhereTheQueueSaysSo) {
  host("a");
  host("b");
  runs("low", "a", 8, {}, 1);
  Interner& strings = cluster_.inventory().strings();
  for (const bool eager : {false, true}) {
    submissions_.clear();
    Submission& train = wants("train", 4, {}, 5);
    train.evicts_before_next = eager;
    train.parts[0][0].gang.root.pod_sets[0].shape.node_selector = {
        {strings.intern(kHostnameLabel), strings.intern("a")}};
    train.parts[0][0].flavors = {"a"};
    Alternative other = train.parts[0][0];
    other.gang.root.pod_sets[0].shape.node_selector = {{strings.intern(kHostnameLabel), strings.intern("b")}};
    train.parts.front().push_back(other);
    EXPECT_EQ(plan(), eager ? "train:Placed; low for train (Preempted)" : "train:Placed");
  }
}

TEST_F(PreemptionTest, EvictsBeforeItBorrowsWhereTheQueuePrefersThat) {
  host("a");
  host("b");
  const QueueId own = queue(4, {.name = "own", .within = WithinRule::kLowerPriority});
  queue(8, {.name = "lender"});
  runs("low", "a", 4, own, 1);
  for (const bool eager : {false, true}) {
    submissions_.clear();
    Submission& train = wants("train", 4, own, 5);
    train.own_quota_first = true;
    train.evicts_before_borrowing = eager;
    EXPECT_EQ(plan(), eager ? "train:Placed; low for train (Preempted)" : "train:Placed");
    if (!eager) {
      quota_.give({{quota_.cells_of(own)[0], 4}});
    }
  }
}

TEST_F(PreemptionTest, BorrowsWhereEvictionsWithoutBorrowingAreNotEnough) {
  host("a");
  host("b");
  const QueueId own = queue(4, {.name = "own", .within = WithinRule::kLowerPriority});
  queue(12, {.name = "lender"});
  runs("low", "a", 4, own, 1);
  Submission& train = wants("train", 6, own, 5);
  train.own_quota_first = true;
  train.evicts_before_borrowing = true;
  EXPECT_EQ(plan(), "train:Placed") << "6 are more than its queue has, whoever goes";
}

TEST_F(PreemptionTest, WhereEvictionsAreForAnotherTimeNothingIsTriedThatComesAfterThem) {
  host("a");
  host("b");
  const QueueId own = queue(4, {.name = "own", .within = WithinRule::kLowerPriority});
  queue(8, {.name = "lender"});
  runs("low", "a", 4, own, 1);
  Submission& train = wants("train", 4, own, 5);
  train.own_quota_first = true;
  train.evicts_before_borrowing = true;
  train.evicts_later = true;
  EXPECT_EQ(plan(), "train:Waiting");
  EXPECT_EQ(plan_.decisions[0].reason, Reason::kQuotaExceeded);
  EXPECT_EQ(plan_.decisions[0].message, "own has 0 of 4 gpu left in flavor \"f\" without borrowing: 4 more are needed");
}

TEST_F(PreemptionTest, WhoTakesBackItsQuotaForTheMinimumDoesNotBorrowForMore) {
  host("a");
  const QueueId own = queue(4, {.name = "own", .reclaim = ReclaimRule::kAny});
  const QueueId other = queue(4, {.name = "other"});
  runs("big", "a", 8, other, 9);
  Submission& train = wants("train", 8, own, 1);
  train.parts[0][0].gang.root.pod_sets[0].min_count = 4;
  EXPECT_EQ(plan(), "train:Placed; big for train (Reclaimed)");
  EXPECT_EQ(plan_.decisions[0].pod_sets[0].count, 4) << "with more the other could evict it in its turn, and so on";
}

TEST_F(PreemptionTest, EvictsForTheMinimumOnlyAndUsesAllThatIsThen) {
  host("a");
  runs("low", "a", 3, {}, 1);
  runs("lower", "a", 3, {}, 0);
  Submission& train = wants("train", 8, {}, 5);
  train.parts[0][0].gang.root.pod_sets[0].min_count = 4;
  EXPECT_EQ(plan(), "train:Placed; lower for train (Preempted)");
  EXPECT_EQ(plan_.decisions[0].pod_sets[0].count, 5);
}

TEST_F(PreemptionTest, ByShareTakesTheCheapestOfThoseThatHaveMoreWhereRoomIsNeeded) {
  quota_.evict_by_share({ShareStrategy::kFinalShare, ShareStrategy::kInitialShare});
  host("a");
  host("b");
  const QueueId mine = queue(0, {.name = "mine", .reclaim = ReclaimRule::kAny, .knows_shares = true});
  const QueueId theirs = queue(0, {.name = "theirs", .knows_shares = true});
  queue(16, {.name = "lender", .knows_shares = true});
  runs("t1", "a", 4, theirs, 0);
  runs("t2", "a", 4, theirs, 1);
  runs("t3", "b", 4, theirs, 2);
  runs("t4", "b", 4, theirs, 0);
  wants("six", 6, mine);
  EXPECT_EQ(plan(), "six:Placed; t1 for six (FairShare); t2 for six (FairShare)") << "t1 and t4 run on two hosts";
  EXPECT_NE(plan_.evictions[0].message.find("mine has a smaller share than theirs for default/six"), std::string::npos)
      << plan_.evictions[0].message;
}

TEST_F(PreemptionTest, ByShareSpreadsWhatIsTakenOverThoseThatHaveMore) {
  quota_.evict_by_share({ShareStrategy::kFinalShare});
  host("a");
  const QueueId mine = queue(0, {.name = "mine", .reclaim = ReclaimRule::kAny, .knows_shares = true});
  const QueueId one = queue(0, {.name = "one", .knows_shares = true});
  const QueueId two = queue(0, {.name = "two", .knows_shares = true});
  queue(8, {.name = "lender", .knows_shares = true});
  runs("one-1", "a", 1, one, 0);
  runs("one-2", "a", 1, one, 0);
  runs("one-3", "a", 2, one, 0);
  runs("two-1", "a", 1, two, 5);
  runs("two-2", "a", 3, two, 5);
  wants("asks", 2, mine);
  EXPECT_EQ(plan(), "asks:Placed; one-3 for asks (FairShare)") << "2, 2 and 4";
  submissions_.clear();
  wants("more", 1, mine);
  EXPECT_EQ(plan(), "more:Placed; two-1 for more (FairShare)") << "one has no more than 2; 3 of mine, 3 of two";
  submissions_.clear();
  wants("too-much", 1, mine);
  EXPECT_EQ(plan(), "too-much:Waiting");
}

TEST_F(PreemptionTest, ByShareEvictsNobodyWhereTheGangThenWouldNotFit) {
  quota_.evict_by_share({ShareStrategy::kFinalShare, ShareStrategy::kInitialShare});
  host("a");
  host("b");
  const QueueId mine = queue(0, {.name = "mine", .reclaim = ReclaimRule::kAny, .knows_shares = true});
  const QueueId theirs = queue(0, {.name = "theirs", .knows_shares = true});
  queue(16, {.name = "lender", .knows_shares = true});
  runs("t1", "a", 4, theirs);
  runs("fixed-a", "a", 4);
  runs("fixed-b", "b", 4);
  runs("t2", "b", 4, theirs);
  wants("six", 6, mine);
  EXPECT_EQ(plan(), "six:Waiting");
}

TEST_F(PreemptionTest, TakesBackBesideEvictingItsOwnWhereNeitherAloneIsEnough) {
  host("a");
  const QueueId alpha = queue(2, {.name = "alpha", .within = WithinRule::kLowerPriority, .reclaim = ReclaimRule::kAny});
  const QueueId beta = queue(4, {.name = "beta"});
  runs("alpha-low", "a", 1, alpha, -1);
  runs("beta-mid", "a", 1, beta, 0);
  runs("beta-high", "a", 4, beta, 1);
  wants("alpha-mid", 2, alpha, 0);
  EXPECT_EQ(plan(), "alpha-mid:Placed; alpha-low for alpha-mid (Preempted); beta-mid for alpha-mid (Reclaimed)");
}

TEST_F(PreemptionTest, TakesNothingBackWhereAllItsOwnThatMayGoDoNotBringItBackToItsQuota) {
  host("a");
  const QueueId alpha = queue(2, {.name = "alpha", .within = WithinRule::kLowerPriority, .reclaim = ReclaimRule::kAny});
  const QueueId beta = queue(4, {.name = "beta"});
  runs("alpha-low", "a", 1, alpha, -1);
  runs("beta-low", "a", 1, beta, -1);
  runs("beta-high", "a", 4, beta, 1);
  wants("alpha-mid", 3, alpha, 0);
  EXPECT_EQ(plan(), "alpha-mid:Waiting");
}

TEST_F(PreemptionTest, OfAStrictQueueKeepsItsQuotaForTheFirstThatWaits) {
  host("a");
  const QueueId owner = queue(2, {.name = "owner", .strict = true});
  const QueueId guest = queue(0, {.name = "guest"});
  runs("owner-1", "a", 1, owner);
  wants("owner-2", 2, owner);
  wants("guest-1", 1, guest, 0, 300);
  EXPECT_EQ(plan(), "owner-2:Waiting guest-1:Waiting");
  EXPECT_NE(plan_.decisions[1].message.find("is kept for default/owner-2"), std::string::npos)
      << plan_.decisions[1].message;
  EXPECT_EQ(quota_.cell(quota_.cells_of(owner)[0]).used, 1) << "it was only kept";
}

TEST_F(PreemptionTest, OfAStrictQueueThatTakesBackFromAnybodyNothingIsKept) {
  host("a");
  const QueueId owner = queue(2, {.name = "owner", .strict = true, .reclaim = ReclaimRule::kAny});
  const QueueId guest = queue(0, {.name = "guest"});
  runs("owner-1", "a", 1, owner);
  wants("owner-2", 2, owner);
  wants("guest-1", 1, guest, 0, 300);
  EXPECT_EQ(plan(), "owner-2:Waiting guest-1:Placed");
}

TEST_F(PreemptionTest, OneThatStandsByKeepsItsQuotaAndIsNotDecided) {
  host("a");
  const QueueId owner = queue(2, {.name = "owner"});
  const QueueId guest = queue(0, {.name = "guest"});
  runs("owner-1", "a", 1, owner);
  wants("owner-2", 2, owner).stands_by = true;
  wants("guest-1", 1, guest, 0, 300);
  wants("guest-0", 1, guest, 5, 300);
  EXPECT_EQ(plan(), "guest-0:Placed guest-1:Waiting") << "who comes before it is not concerned";
}

TEST_F(PreemptionTest, ByShareStartsOneBehindAnotherThatMayNotTakeAsMuch) {
  quota_.evict_by_share({ShareStrategy::kFinalShare, ShareStrategy::kInitialShare});
  host("a");
  host("b");
  const QueueRules rules{
      .name = "", .within = WithinRule::kLowerPriority, .reclaim = ReclaimRule::kAny, .knows_shares = true};
  QueueRules one = rules;
  one.name = "one";
  QueueRules two = rules;
  two.name = "two";
  const QueueId first = queue(0, one);
  const QueueId second = queue(0, two);
  queue(9, {.name = "lender", .knows_shares = true});
  for (const int i : {1, 2, 3, 4}) {
    runs("w" + std::to_string(i), "a", 2, first, 0, 100 + i);
  }
  wants("six", 6, second, 9);
  wants("five", 5, second, 0);
  EXPECT_EQ(plan(), "six:Waiting five:Placed; w3 for five (FairShare); w4 for five (FairShare)");
}

TEST_F(PreemptionTest, ByShareStartsNobodyInWhosePlaceAnotherOfItsQueueCouldStart) {
  quota_.evict_by_share({ShareStrategy::kFinalShare});
  host("a");
  host("b");
  const QueueId theirs = queue(0, {.name = "theirs", .knows_shares = true});
  const QueueId mine = queue(
      0, {.name = "mine", .within = WithinRule::kLowerPriority, .reclaim = ReclaimRule::kAny, .knows_shares = true});
  queue(9, {.name = "lender", .knows_shares = true});
  runs("w1", "a", 4, theirs);
  runs("w2", "a", 4, theirs);
  wants("five", 5, mine, 9);
  wants("three", 3, mine, 0);
  EXPECT_EQ(plan(), "five:Waiting three:Waiting") << "five would evict three, and have more than theirs";
}

}  // namespace
}  // namespace gantree
