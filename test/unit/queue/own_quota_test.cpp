#include "queue/own_quota.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

// One queue of a cohort below another, and one that asks in it.
class OwnQuotaTest : public testing::Test {
 protected:
  OwnQuotaTest()
      : root_(quota_.add({.queue = "root", .flavor = "f", .resource = "cpu", .nominal = 100})),
        middle_(quota_.add({.queue = "middle", .flavor = "f", .resource = "cpu", .nominal = 3, .parent = root_})) {}

  QueueId queue(std::int64_t nominal, QueueRules rules = {.name = "q", .strict = true}) {
    const QueueId id = quota_.add_queue(std::move(rules));
    quota_.add({.queue = "q", .flavor = "f", .resource = "cpu", .nominal = nominal, .parent = middle_, .owner = id});
    return id;
  }
  QuotaId cell(QueueId queue) { return quota_.cells_of(queue)[0]; }
  std::int64_t kept(QueueId queue, std::int64_t cpus) {
    Submission submission;
    submission.queue = queue;
    Alternative& way = submission.parts.emplace_back().emplace_back();
    PodSet& set = way.gang.root.pod_sets.emplace_back();
    set.count = set.min_count = 1;
    way.demand = {{{cell(queue), cpus}}};
    const QuotaDemand sum = kept_quota(quota_, submission);
    return sum.empty() ? 0 : sum.front().second;
  }

  Quota quota_;
  QuotaId root_;
  QuotaId middle_;
};

TEST_F(OwnQuotaTest, WhatIsLeftOfItIsKeptForOneThatCouldBeWithinIt) {
  const QueueId mine = queue(5);
  EXPECT_EQ(kept(mine, 5), 5);
  quota_.take({{cell(mine), 1}});
  EXPECT_EQ(kept(mine, 5), 4);
  EXPECT_EQ(kept(mine, 3), 3);
}

TEST_F(OwnQuotaTest, NothingIsKeptForOneThatCouldNeverBeWithinIt) {
  EXPECT_EQ(kept(queue(2), 3), 0) << "its cohort has 3 of its own, which others may use too";
  EXPECT_EQ(kept(queue(2, {.name = "q", .strict = true, .evicts_to_borrow = true}), 3), 2);
}

TEST_F(OwnQuotaTest, NothingIsKeptWhereNobodyElseCouldBorrowIt) {
  const QueueId alone = quota_.add_queue({.name = "alone", .strict = true});
  quota_.add({.queue = "alone", .flavor = "f", .resource = "cpu", .nominal = 5, .owner = alone});
  EXPECT_EQ(kept(alone, 5), 0);
}

TEST_F(OwnQuotaTest, IsKeptByTheFirstOfAStrictQueueThatMayNotTakeItBackFromAnybody) {
  EXPECT_TRUE(keeps_quota({.name = "q", .strict = true}));
  EXPECT_TRUE(keeps_quota({.name = "q", .strict = true, .reclaim = ReclaimRule::kLowerPriority}));
  EXPECT_FALSE(keeps_quota({.name = "q", .strict = true, .reclaim = ReclaimRule::kAny}));
  EXPECT_FALSE(keeps_quota({.name = "q"}));
}

TEST_F(OwnQuotaTest, OfOneLevelOrOfAllIsAskedForAsTheQueueHasIt) {
  const QueueId mine = queue(0);
  const OwnPart part{.cell = cell(mine), .amount = 3, .end = root_};
  EXPECT_TRUE(stays_within(quota_, {.name = "q", .takes_back_for_parents = true}, part));
  EXPECT_FALSE(stays_within(quota_, {.name = "q"}, part));
  quota_.take({{cell(mine), 2}});
  EXPECT_FALSE(stays_within(quota_, {.name = "q", .takes_back_for_parents = true}, part));
  EXPECT_TRUE(stays_within(quota_, {.name = "q", .takes_back_for_parents = true}, part, 2)) << "2 leave meanwhile";
}

}  // namespace
}  // namespace gantree
