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

}  // namespace
}  // namespace gantree
