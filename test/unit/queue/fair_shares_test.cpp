#include "queue/fair_shares.h"

#include <gtest/gtest.h>

#include "queue/victims.h"

namespace gantree {
namespace {

// Queues of gpus in cohorts, and running gangs. Everybody takes back from anybody.
class FairSharesTest : public testing::Test {
 protected:
  FairSharesTest() { quota_.evict_by_share({ShareStrategy::kFinalShare, ShareStrategy::kInitialShare}); }

  QuotaId cohort(const std::string& name, std::int64_t nominal = 0, std::optional<QuotaId> parent = {},
                 std::int64_t weight = 1000) {
    return quota_.add({.queue = "Cohort " + name,
                       .flavor = "f",
                       .resource = "gpu",
                       .nominal = nominal,
                       .parent = parent,
                       .weight = weight});
  }

  QueueId queue(const std::string& name, std::int64_t nominal, QuotaId parent, std::int64_t weight = 1000) {
    const QueueId id = quota_.add_queue(
        {.name = name, .tree = "tree", .reclaim = ReclaimRule::kAny, .weight = weight, .knows_shares = true});
    quota_.add({.queue = name, .flavor = "f", .resource = "gpu", .nominal = nominal, .parent = parent, .owner = id});
    return id;
  }

  void runs(const std::string& name, QueueId queue, std::int64_t gpus, std::int64_t priority = 0) {
    RunningGang& gang = running_.emplace_back();
    gang.key = {.ns = "default", .name = name, .kind = "Job"};
    gang.priority = priority;
    gang.started_seconds = 100 + static_cast<std::int64_t>(running_.size());
    gang.queue = queue;
    gang.used = {{quota_.cells_of(queue)[0], gpus}};
    quota_.take(gang.used);
  }

  [[nodiscard]] std::string offered(QueueId queue, std::int64_t gpus, Offer offer,
                                    ShareStrategy strategy = ShareStrategy::kInitialShare) const {
    Submission submission;
    submission.queue = queue;
    std::string names;
    for (const VictimCandidate& one :
         victim_candidates(quota_, submission, demand(queue, gpus), running_, offer, strategy)) {
      names += (names.empty() ? "" : " ") + running_[one.position].key.name +
               (one.reason == EvictionReason::kFairShare ? "~" : "*");
    }
    return names;
  }

  [[nodiscard]] QuotaDemand demand(QueueId queue, std::int64_t gpus) const {
    return {{quota_.cells_of(queue)[0], gpus}};
  }

  // Whether these may go, all by share.
  [[nodiscard]] bool fair(QueueId queue, std::int64_t gpus, const std::vector<std::string>& names,
                          ShareStrategy strategy) const {
    Submission submission;
    submission.queue = queue;
    std::vector<VictimCandidate> chosen;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (std::find(names.begin(), names.end(), running_[i].key.name) != names.end()) {
        chosen.push_back({.position = i, .reason = EvictionReason::kFairShare});
      }
    }
    return !one_too_many(quota_, submission, demand(queue, gpus), running_, chosen, strategy);
  }

  std::int64_t share(QueueId queue) const {
    const FairShares shares(quota_);
    return shares.share(*shares.holder(queue)).amount;
  }

  Quota quota_;
  std::vector<RunningGang> running_;
};

TEST_F(FairSharesTest, AreWhatIsUsedBeyondQuotaByWhatCanBeLentAndByWeight) {
  const QuotaId all = cohort("all", 4);
  const QueueId plain = queue("plain", 4, all);
  const QueueId heavy = queue("heavy", 4, all, 2000);
  const QueueId within = queue("within", 4, all);
  runs("p", plain, 8);
  runs("h", heavy, 8);
  runs("w", within, 4);
  EXPECT_EQ(share(plain), 250'000'000);
  EXPECT_EQ(share(heavy), 125'000'000);
  EXPECT_EQ(share(within), 0);
}

TEST_F(FairSharesTest, OfWhoBorrowsWithWeightZeroIsTheLargest) {
  const QuotaId all = cohort("all", 100);
  const QueueId none = queue("none", 0, all, 0);
  const QueueId much = queue("much", 0, all);
  runs("n", none, 1);
  runs("m", much, 50);
  const FairShares shares(quota_);
  EXPECT_LT(shares.share(*shares.holder(much)), shares.share(*shares.holder(none)));
}

TEST_F(FairSharesTest, WhoseOwnQuotaItIsTakesItBackWhateverTheShares) {
  const QuotaId all = cohort("all");
  const QueueId mine = queue("mine", 4, all);
  const QueueId theirs = queue("theirs", 4, all);
  runs("t1", theirs, 4);
  runs("t2", theirs, 4);
  EXPECT_EQ(offered(mine, 4, Offer::kLowestFirst), "t2*");
}

TEST_F(FairSharesTest, WhoWouldBorrowTakesFromThoseThatBorrowMore) {
  const QuotaId all = cohort("all", 6);
  const QueueId mine = queue("mine", 0, all);
  const QueueId more = queue("more", 0, all);
  const QueueId same = queue("same", 0, all);
  for (const auto* name : {"m1", "m2", "m3", "m4"}) {
    runs(name, more, 1);
  }
  runs("s1", same, 1);
  runs("s2", same, 1);
  EXPECT_EQ(offered(mine, 2, Offer::kAll), "m1~ m2~ m3~ m4~") << "two of same's two would be no less than mine";
  EXPECT_TRUE(fair(mine, 2, {"m1", "m2"}, ShareStrategy::kFinalShare)) << "2 and 2";
  EXPECT_FALSE(fair(mine, 2, {"m1", "m2", "m3"}, ShareStrategy::kFinalShare)) << "2 and 1";
  EXPECT_FALSE(fair(mine, 2, {"m1", "m2", "m3"}, ShareStrategy::kInitialShare)) << "2 is not less than the 2 before";
  EXPECT_TRUE(fair(mine, 1, {"m1", "m2", "m3"}, ShareStrategy::kFinalShare));
  EXPECT_EQ(offered(mine, 2, Offer::kLowestFirst, ShareStrategy::kFinalShare), "m3~ m4~") << "the youngest";
}

TEST_F(FairSharesTest, WhatIsTakenLastMayBeLargeWhereTheInitialShareCounts) {
  const QuotaId all = cohort("all", 8);
  const QueueId mine = queue("mine", 0, all);
  const QueueId theirs = queue("theirs", 0, all);
  runs("whole", theirs, 8);
  EXPECT_FALSE(fair(mine, 4, {"whole"}, ShareStrategy::kFinalShare)) << "nothing would be left to them";
  EXPECT_TRUE(fair(mine, 4, {"whole"}, ShareStrategy::kInitialShare)) << "4 is less than 8";
  EXPECT_FALSE(fair(mine, 8, {"whole"}, ShareStrategy::kInitialShare)) << "then it could be taken back";
}

TEST_F(FairSharesTest, OfEqualSharesNobodyTakesFromTheOther) {
  const QuotaId all = cohort("all", 8);
  const QueueId mine = queue("mine", 0, all);
  const QueueId theirs = queue("theirs", 0, all);
  runs("t1", theirs, 4);
  runs("m1", mine, 3);
  EXPECT_EQ(offered(mine, 1, Offer::kAll), "");
  EXPECT_EQ(offered(theirs, 1, Offer::kAll), "");
}

TEST_F(FairSharesTest, AWeightIsWhatOneMayHaveMoreThanTheOther) {
  const QuotaId all = cohort("all", 12);
  const QueueId mine = queue("mine", 0, all, 2000);
  const QueueId theirs = queue("theirs", 0, all);
  for (int i = 0; i < 12; ++i) {
    runs("t" + std::to_string(i), theirs, 1);
  }
  EXPECT_EQ(offered(mine, 8, Offer::kLowestFirst, ShareStrategy::kFinalShare), "t4~ t5~ t6~ t7~ t8~ t9~ t10~ t11~")
      << "8 by two, and 4 by one";
}

TEST_F(FairSharesTest, WhoHasWeightZeroLosesToAllAndTakesFromNobody) {
  const QuotaId all = cohort("all", 8);
  const QueueId none = queue("none", 0, all, 0);
  const QueueId some = queue("some", 0, all);
  runs("n1", none, 1);
  runs("s1", some, 7);
  EXPECT_EQ(offered(some, 1, Offer::kAll), "n1~") << "although it has much already";
  EXPECT_EQ(offered(none, 1, Offer::kAll), "");
}

TEST_F(FairSharesTest, AreComparedBelowTheLowestCohortThatBothBelongTo) {
  const QuotaId all = cohort("all", 12);
  const QuotaId left = cohort("left", 0, all);
  const QuotaId right = cohort("right", 0, all);
  const QueueId l1 = queue("l1", 0, left);
  const QueueId l2 = queue("l2", 0, left);
  const QueueId r1 = queue("r1", 0, right);
  runs("l2-a", l2, 6);
  runs("r1-a", r1, 5);
  EXPECT_EQ(offered(l1, 2, Offer::kAll), "l2-a~") << "left has 8 with it and right 5, whatever l1 itself has";
  EXPECT_EQ(offered(r1, 1, Offer::kAll), "") << "right would have 6, as left has";
  runs("l2-b", l2, 1);
  EXPECT_EQ(offered(r1, 1, Offer::kAll), "l2-a~ l2-b~") << "6 is less than 7";
}

TEST_F(FairSharesTest, CountNothingWhereTheyAreSwitchedOff) {
  quota_.evict_by_share({});
  const QuotaId all = cohort("all", 4);
  const QueueId mine = queue("mine", 0, all);
  runs("theirs", queue("theirs", 0, all), 4);
  EXPECT_EQ(offered(mine, 1, Offer::kAll), "");
}

}  // namespace
}  // namespace gantree
