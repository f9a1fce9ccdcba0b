#include "queue/victims.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

// Queues of gpus, some of them in one cohort; running gangs of eight gpus.
class VictimsTest : public testing::Test {
 protected:
  VictimsTest() : cohort_(quota_.add({.queue = "cohort", .flavor = "f", .resource = "gpu"})) {}

  QueueId queue(std::int64_t nominal, QueueRules rules) {
    const QueueId id = quota_.add_queue(rules);
    quota_.add({.queue = rules.name,
                .flavor = "f",
                .resource = "gpu",
                .nominal = nominal,
                .parent = rules.tree == "cohort" ? std::optional(cohort_) : std::nullopt,
                .owner = id});
    return id;
  }

  RunningGang& runs(const std::string& name, std::optional<QueueId> queue, std::int64_t priority,
                    std::int64_t started = 100) {
    RunningGang& gang = running_.emplace_back();
    gang.key = {.ns = "default", .name = name, .kind = "Job"};
    gang.dialect = "kueue";
    gang.priority = priority;
    gang.created_seconds = gang.started_seconds = started;
    gang.queue = queue;
    if (queue) {
      gang.used = {{quota_.cells_of(*queue)[0], 8}};
      quota_.take(gang.used);
    }
    return gang;
  }

  static Submission wants(std::optional<QueueId> queue, std::int64_t priority) {
    Submission submission;
    submission.dialect = "kueue";
    submission.priority = priority;
    submission.created_seconds = 150;
    submission.queue = queue;
    return submission;
  }

  // "low high*", with a star for those reclaimed.
  std::string victims(const Submission& submission, std::int64_t gpus = 8) {
    const QuotaDemand demand =
        submission.queue ? QuotaDemand{{quota_.cells_of(*submission.queue)[0], gpus}} : QuotaDemand{};
    std::string names;
    for (const VictimCandidate& candidate : victim_candidates(quota_, submission, demand, running_)) {
      names += (names.empty() ? "" : " ") + running_[candidate.position].key.name;
      names += candidate.reason == EvictionReason::kReclaimed ? "*" : "";
    }
    return names;
  }

  Quota quota_;
  QuotaId cohort_;
  std::vector<RunningGang> running_;
};

TEST_F(VictimsTest, OfAGangWithoutAQueueAreAllOfLowerPriority) {
  runs("low", {}, 1);
  runs("queued", queue(8, {.name = "q", .tree = "q"}), 4);
  runs("equal", {}, 5);
  runs("high", {}, 6);
  runs("protected", {}, 1).evictable = false;
  EXPECT_EQ(victims(wants({}, 5)), "low queued");
}

TEST_F(VictimsTest, AreNoneWhereTheGangMayNotEvict) {
  runs("low", {}, 1);
  Submission submission = wants({}, 5);
  submission.may_evict = false;
  EXPECT_EQ(victims(submission), "");
}

TEST_F(VictimsTest, WithinAQueueFollowItsRule) {
  for (const auto& [rule, expected] : {std::pair(WithinRule::kNever, ""), std::pair(WithinRule::kLowerPriority, "low"),
                                       std::pair(WithinRule::kLowerOrNewerEqualPriority, "low younger")}) {
    running_.clear();
    const QueueId mine = queue(64, {.name = "q", .tree = "q", .within = rule});
    runs("low", mine, 1);
    runs("older", mine, 5, 140);
    runs("younger", mine, 5, 160);
    runs("high", mine, 6, 160);
    EXPECT_EQ(victims(wants(mine, 5)), expected);
  }
}

TEST_F(VictimsTest, AGangThatIsNotCreatedYetIsYoungerThanAll) {
  const QueueId mine = queue(64, {.name = "q", .tree = "q", .within = WithinRule::kLowerOrNewerEqualPriority});
  runs("equal", mine, 5, 160);
  Submission submission = wants(mine, 5);
  submission.created_seconds = 0;
  EXPECT_EQ(victims(submission), "");
}

TEST_F(VictimsTest, OfAnotherTreeOfTheFamilyAreNone) {
  const QueueId mine = queue(64, {.name = "q", .tree = "q", .within = WithinRule::kLowerPriority});
  runs("other", queue(64, {.name = "r", .tree = "r"}), 1);
  EXPECT_EQ(victims(wants(mine, 5)), "");
}

TEST_F(VictimsTest, WithoutAQueueOrOfOtherFamiliesAreThoseOfLowerPriority) {
  const QueueId theirs = queue(64, {.name = "r", .tree = "r"});
  runs("free", {}, 1);
  runs("foreign", theirs, 1).dialect = "kai";
  runs("high", {}, 6);
  EXPECT_EQ(victims(wants(queue(64, {.name = "q", .tree = "q", .within = WithinRule::kLowerPriority}), 5)),
            "free foreign");
  EXPECT_EQ(victims(wants(queue(64, {.name = "s", .tree = "s"}), 5)), "") << "its rule within the queue is Never";
}

TEST_F(VictimsTest, AreReclaimedFromAQueueThatBorrowsUntilItDoesNot) {
  const QueueId mine = queue(16, {.name = "mine", .tree = "cohort", .reclaim = ReclaimRule::kAny});
  const QueueId theirs = queue(8, {.name = "theirs", .tree = "cohort"});
  runs("old", theirs, 7, 100);
  runs("young", theirs, 7, 120);
  runs("higher", theirs, 9, 130);
  EXPECT_EQ(victims(wants(mine, 0)), "old* young*") << "24 of 8: the two lowest go, the third is within quota";
}

TEST_F(VictimsTest, AreReclaimedOnlyOfLowerPriorityWhereTheRuleSaysSo) {
  const QueueId mine = queue(16, {.name = "mine", .tree = "cohort", .reclaim = ReclaimRule::kLowerPriority});
  const QueueId theirs = queue(0, {.name = "theirs", .tree = "cohort"});
  runs("low", theirs, 1);
  runs("high", theirs, 7);
  EXPECT_EQ(victims(wants(mine, 5)), "low*");
}

TEST_F(VictimsTest, AreNotReclaimedWhereNobodyBorrows) {
  const QueueId mine = queue(16, {.name = "mine", .tree = "cohort", .reclaim = ReclaimRule::kAny});
  runs("theirs", queue(8, {.name = "theirs", .tree = "cohort"}), 1);
  EXPECT_EQ(victims(wants(mine, 5)), "");
}

TEST_F(VictimsTest, AreNotReclaimedByAQueueThatWouldBorrowItself) {
  const QueueId mine = queue(4, {.name = "mine", .tree = "cohort", .reclaim = ReclaimRule::kAny});
  runs("theirs", queue(0, {.name = "theirs", .tree = "cohort"}), 1);
  EXPECT_EQ(victims(wants(mine, 5)), "");
}

TEST_F(VictimsTest, AreTakenToBorrowUpToAPriority) {
  const QueueId mine = queue(4, {.name = "mine",
                                 .tree = "cohort",
                                 .reclaim = ReclaimRule::kAny,
                                 .evicts_to_borrow = true,
                                 .evicts_to_borrow_up_to = 3});
  const QueueId theirs = queue(0, {.name = "theirs", .tree = "cohort"});
  runs("low", theirs, 3);
  runs("middle", theirs, 4);
  runs("high", theirs, 7);
  EXPECT_EQ(victims(wants(mine, 5)), "low*");
}

// Two departments of one cohort.
class DepartmentsTest : public VictimsTest {
 protected:
  QuotaId department(const std::string& name) {
    return quota_.add({.queue = name, .flavor = "f", .resource = "gpu", .parent = cohort_});
  }
  QueueId queue_in(QuotaId parent, std::int64_t nominal, QueueRules rules) {
    rules.tree = "cohort";
    const QueueId id = quota_.add_queue(rules);
    quota_.add(
        {.queue = rules.name, .flavor = "f", .resource = "gpu", .nominal = nominal, .parent = parent, .owner = id});
    return id;
  }

  QuotaId ours_ = department("ours");
  QuotaId theirs_ = department("theirs");
};

TEST_F(DepartmentsTest, AreNotReclaimedFromADepartmentWithinItsQuota) {
  const QueueId mine = queue_in(ours_, 16, {.name = "mine", .reclaim = ReclaimRule::kAny});
  runs("near", queue_in(ours_, 0, {.name = "neighbour"}), 7);
  const QueueId other = queue_in(theirs_, 8, {.name = "other"});
  queue_in(theirs_, 8, {.name = "idle"});
  runs("far", other, 1);
  runs("farther", other, 1);
  EXPECT_EQ(victims(wants(mine, 5)), "near*") << "the other department uses the 16 it has";
}

TEST_F(DepartmentsTest, AreReclaimedFromADepartmentUntilItIsWithinItsQuota) {
  const QueueId mine = queue_in(ours_, 16, {.name = "mine", .reclaim = ReclaimRule::kAny});
  const QueueId one = queue_in(theirs_, 0, {.name = "one"});
  const QueueId two = queue_in(theirs_, 0, {.name = "two"});
  queue_in(theirs_, 8, {.name = "idle"});
  runs("a", one, 2);
  runs("b", two, 1);
  EXPECT_EQ(victims(wants(mine, 0)), "b*") << "the department is over by 8, not by 16";
}

TEST_F(DepartmentsTest, AreNotReclaimedFromAfarByADepartmentThatUsesAllItsQuota) {
  const QueueId mine = queue_in(ours_, 8, {.name = "mine", .reclaim = ReclaimRule::kAny});
  runs("near", queue_in(ours_, 0, {.name = "neighbour"}), 7);
  runs("far", queue_in(theirs_, 0, {.name = "other"}), 1);
  EXPECT_EQ(victims(wants(mine, 5)), "near*") << "the own department has lent it inside";
}

// As Kueue has it: what a parent has of its own is for its queues to take back.
class CohortQuotaTest : public DepartmentsTest {
 protected:
  QuotaId with_quota(const std::string& name, std::int64_t nominal) {
    return quota_.add({.queue = name, .flavor = "f", .resource = "gpu", .nominal = nominal, .parent = cohort_});
  }
  static QueueRules rules(const std::string& name) {
    return {.name = name, .reclaim = ReclaimRule::kAny, .takes_back_for_parents = true};
  }
};

TEST_F(CohortQuotaTest, IsTakenBackByAQueueBelowThatHasNone) {
  const QueueId mine = queue_in(with_quota("guaranteed", 8), 0, rules("mine"));
  runs("guest", queue_in(cohort_, 0, rules("guest")), 7);
  EXPECT_EQ(victims(wants(mine, 0)), "guest*");
}

TEST_F(CohortQuotaTest, IsNotTakenBackBeyondWhatTheCohortHas) {
  const QueueId mine = queue_in(with_quota("guaranteed", 8), 0, rules("mine"));
  runs("guest", queue_in(cohort_, 0, rules("guest")), 7);
  EXPECT_EQ(victims(wants(mine, 0), 9), "");
}

TEST_F(CohortQuotaTest, IsNotTakenBackByOneOutsideOfTheCohort) {
  const QuotaId guaranteed = with_quota("guaranteed", 8);
  runs("inside", queue_in(guaranteed, 0, rules("inside")), 7);
  EXPECT_EQ(victims(wants(queue_in(cohort_, 0, rules("outside")), 9)), "");
}

TEST_F(CohortQuotaTest, AQueueWithinItsOwnTakesBackFromAfarThoughItsCohortUsesAll) {
  const QueueId mine = queue_in(ours_, 8, rules("mine"));
  runs("near", queue_in(ours_, 0, rules("neighbour")), 7);
  runs("far", queue_in(theirs_, 0, rules("other")), 1);
  EXPECT_EQ(victims(wants(mine, 5)), "near* far*");
}

// Queues of cpus and of memory.
class TwoResourcesTest : public VictimsTest {
 protected:
  TwoResourcesTest() : cpu_(quota_.add({.queue = "c", .flavor = "f", .resource = "cpu"})) {
    memory_ = quota_.add({.queue = "c", .flavor = "f", .resource = "memory"});
  }
  QueueId queue_of(const std::string& name, std::int64_t cpus, std::int64_t memory) {
    const QueueId id = quota_.add_queue({.name = name, .tree = "c", .reclaim = ReclaimRule::kAny});
    quota_.add({.queue = name, .flavor = "f", .resource = "cpu", .nominal = cpus, .parent = cpu_, .owner = id});
    quota_.add({.queue = name, .flavor = "f", .resource = "memory", .nominal = memory, .parent = memory_, .owner = id});
    return id;
  }
  void uses(const std::string& name, QueueId queue, std::int64_t cpus, std::int64_t memory) {
    RunningGang& gang = running_.emplace_back();
    gang.key.name = name;
    gang.dialect = "kueue";
    gang.queue = queue;
    gang.used = demand(queue, cpus, memory);
    quota_.take(gang.used);
  }
  [[nodiscard]] QuotaDemand demand(QueueId queue, std::int64_t cpus, std::int64_t memory) const {
    return {{quota_.cells_of(queue)[0], cpus}, {quota_.cells_of(queue)[1], memory}};
  }
  std::string victims_of(QueueId queue, std::int64_t cpus, std::int64_t memory) {
    std::string names;
    for (const auto& one :
         victim_candidates(quota_, wants(queue, 0), demand(queue, cpus, memory), running_, Offer::kAll)) {
      names += (names.empty() ? "" : " ") + running_[one.position].key.name;
    }
    return names;
  }

  QuotaId cpu_;
  QuotaId memory_;
};

TEST_F(TwoResourcesTest, BorrowingWhatIsThereDoesNotKeepAQueueFromTakingBackWhatIsNot) {
  const QueueId cpus = queue_of("cpus", 10, 0);
  const QueueId mems = queue_of("mems", 0, 10);
  uses("borrower", mems, 2, 0);
  EXPECT_EQ(victims_of(cpus, 10, 5), "borrower");
}

TEST_F(TwoResourcesTest, BorrowingWhatIsShortDoes) {
  const QueueId cpus = queue_of("cpus", 10, 0);
  const QueueId mems = queue_of("mems", 0, 10);
  uses("borrower", mems, 2, 6);
  EXPECT_EQ(victims_of(cpus, 10, 5), "") << "it has no memory to take back";
}

TEST_F(TwoResourcesTest, NobodyGoesForWhatIsBorrowedAndThere) {
  const QueueId cpus = queue_of("cpus", 10, 0);
  const QueueId mems = queue_of("mems", 0, 10);
  const QueueId guests = queue_of("guests", 0, 0);
  uses("of-memory", guests, 0, 2);
  uses("borrower", mems, 2, 0);
  EXPECT_EQ(victims_of(cpus, 10, 5), "borrower");
}

TEST_F(VictimsTest, AreReclaimedWhereTheQueueStaysWithinItsQuotaOnceSomeOfItsOwnAreGone) {
  const QueueId mine =
      queue(16, {.name = "mine", .tree = "cohort", .within = WithinRule::kLowerPriority, .reclaim = ReclaimRule::kAny});
  const QueueId theirs = queue(8, {.name = "theirs", .tree = "cohort"});
  runs("own", mine, 1);
  runs("kept", theirs, 9);
  runs("borrowed", theirs, 5);
  const Submission submission = wants(mine, 5);
  const QuotaDemand demand{{quota_.cells_of(mine)[0], 16}};
  const auto count = [&](Ending ending) {
    return victim_offer(quota_, submission, demand, running_, Offer::kLowestFirst, ending).candidates.size();
  };
  EXPECT_EQ(count(Ending::kAnyhow), 1U) << "with 24 of 16 it takes back nothing";
  EXPECT_EQ(victims(submission, 16), "own borrowed*");
  const VictimOffer offer =
      victim_offer(quota_, submission, demand, running_, Offer::kLowestFirst, Ending::kWithinQuota);
  EXPECT_FALSE(stay_within(quota_, submission, offer.within));
  quota_.give(running_[0].used);
  EXPECT_TRUE(stay_within(quota_, submission, offer.within)) << "without its own it is within its quota";
}

TEST_F(VictimsTest, AreTakenAnyhowWhereTheQueueIsWithinItsQuotaAsItIs) {
  const QueueId mine =
      queue(16, {.name = "mine", .tree = "cohort", .within = WithinRule::kLowerPriority, .reclaim = ReclaimRule::kAny});
  runs("own", mine, 1);
  runs("borrowed", queue(0, {.name = "theirs", .tree = "cohort"}), 5);
  const QuotaDemand demand{{quota_.cells_of(mine)[0], 8}};
  EXPECT_TRUE(
      victim_offer(quota_, wants(mine, 5), demand, running_, Offer::kAll, Ending::kWithinQuota).candidates.empty());
  EXPECT_EQ(victims(wants(mine, 5)), "own borrowed*");
}

TEST_F(VictimsTest, ThatGoSoThatOthersBorrowAreMarked) {
  const QueueId mine =
      queue(8, {.name = "mine", .tree = "cohort", .reclaim = ReclaimRule::kAny, .evicts_to_borrow = true});
  runs("low", queue(0, {.name = "theirs", .tree = "cohort"}), 3);
  const auto to_borrow = [&](std::int64_t gpus) {
    return victim_candidates(quota_, wants(mine, 5), {{quota_.cells_of(mine)[0], gpus}}, running_).front().to_borrow;
  };
  EXPECT_TRUE(to_borrow(9));
  EXPECT_FALSE(to_borrow(8)) << "that is its own";
}

}  // namespace
}  // namespace gantree
