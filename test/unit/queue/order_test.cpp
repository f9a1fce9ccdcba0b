#include "queue/order.h"

#include <gtest/gtest.h>

#include <deque>

namespace gantree {
namespace {

// Queues of gpus in one cohort that has more than enough, and gangs of one pod set.
class OrderTest : public testing::Test {
 protected:
  OrderTest() : cohort_(quota_.add({.queue = "cohort", .flavor = "f", .resource = "gpu", .nominal = 1000})) {}

  QueueId queue(std::int64_t nominal, QueueRules rules = {.name = "q"}) {
    const QueueId id = quota_.add_queue(std::move(rules));
    for (const char* flavor : {"f", "g"}) {
      quota_.add(
          {.queue = "q", .flavor = flavor, .resource = "gpu", .nominal = nominal, .parent = cohort_, .owner = id});
    }
    return id;
  }

  Submission& gang(const std::string& name, std::optional<QueueId> queue, int gpus, std::int64_t priority = 0,
                   std::int64_t created = 100) {
    Submission& made = submissions_.emplace_back();
    made.key = {.ns = "default", .name = name, .kind = "Job"};
    made.priority = priority;
    made.created_seconds = created;
    made.queue = queue;
    add_alternative(made, gpus, 0);
    return made;
  }
  void add_alternative(Submission& submission, int gpus, std::size_t flavor) {
    submission.parts.resize(1);
    Alternative& alternative = submission.parts.front().emplace_back();
    alternative.gang.root.pod_sets.emplace_back().count = gpus;
    alternative.demand.emplace_back();
    if (submission.queue) {
      alternative.demand.back() = {{quota_.cells_of(*submission.queue)[flavor], 1}};
    }
  }

  // The order where every gang is placed in turn.
  std::string order() {
    const std::vector<Submission> submissions(submissions_.begin(), submissions_.end());
    QueueOrder order(quota_, submissions);
    std::string names;
    while (const auto position = order.next()) {
      const Submission& submission = submissions[*position];
      names += submission.key.name;
      if (submission.queue) {
        quota_.take(demand_of(submission.parts.front().front()));
        order.changed(*submission.queue);
      }
    }
    return names;
  }

  Quota quota_;
  QuotaId cohort_;
  std::deque<Submission> submissions_;  // stay in place while more are added
};

TEST_F(OrderTest, GoesByPriorityThenAgeThenName) {
  const QueueId one = queue(100);
  const QueueId other = queue(100);
  gang("e", one, 1, 0, 0);
  gang("d", {}, 1, 0, 300);
  gang("c", other, 1, 0, 200);
  gang("b", one, 1, 0, 200);
  gang("a", {}, 1, 7, 400);
  EXPECT_EQ(order(), "abcde");
}

TEST_F(OrderTest, TakesThoseWithinTheirQuotaBeforeThoseThatBorrow) {
  const QueueId small = queue(4);
  const QueueId large = queue(16);
  gang("b", small, 8, 100);
  gang("a", large, 8, 0);
  gang("c", {}, 8, -5);
  EXPECT_EQ(order(), "acb") << "priority comes second, and what has no queue counts as within quota";
}

TEST_F(OrderTest, KeepsTheOrderInsideAQueueEvenWhereTheFirstBorrows) {
  const QueueId one = queue(4);
  gang("a", one, 8, 100);
  gang("b", one, 2, 0);
  EXPECT_EQ(order(), "ab");
}

TEST_F(OrderTest, NoticesWhenAQueueHasUsedUpItsQuota) {
  const QueueId one = queue(8);
  const QueueId other = queue(8);
  gang("a", one, 8, 0, 100);
  gang("d", one, 8, 0, 110);
  gang("b", other, 4, 0, 200);
  gang("c", other, 4, 0, 210);
  EXPECT_EQ(order(), "abcd");
}

TEST_F(OrderTest, AmongBorrowersTakesTheSmallerShareOfItsWeight) {
  const QueueId light = queue(0, {.name = "light", .weight = 1000});
  const QueueId heavy = queue(0, {.name = "heavy", .weight = 3000});
  for (int i = 0; i < 3; ++i) {
    gang("l", light, 4, 0, 100 + i);
    gang("H", heavy, 4, 0, 200 + i);
  }
  // Nobody has anything: the oldest. Then the heavy queue may have three for each of the light one.
  EXPECT_EQ(order(), "lHHHll");
}

TEST_F(OrderTest, AmongBorrowersAQueueOfHigherPriorityGoesFirst) {
  const QueueId plain = queue(0);
  const QueueId first = queue(0, {.name = "first", .priority = 1});
  gang("c", plain, 4, 0, 100);
  gang("a", first, 4, 0, 200);
  gang("b", first, 4, 0, 300);
  EXPECT_EQ(order(), "abc");
}

TEST_F(OrderTest, CountsAGangByTheAlternativeThatItTriesFirst) {
  const QueueId one = queue(4);
  quota_.take({{quota_.cells_of(one)[0], 4}});
  Submission& waits = gang("b", one, 4);
  add_alternative(waits, 4, 1);
  gang("a", {}, 1, -1);
  EXPECT_EQ(order(), "ab");
}

TEST_F(OrderTest, CountsAGangThatTriesItsOwnQuotaFirstByAnyAlternative) {
  const QueueId one = queue(4);
  quota_.take({{quota_.cells_of(one)[0], 4}});
  Submission& waits = gang("b", one, 4);
  add_alternative(waits, 4, 1);
  waits.own_quota_first = true;
  gang("a", {}, 1, -1);
  EXPECT_EQ(order(), "ba");
}

TEST_F(OrderTest, GivesOutTheRestOfAQueueAtOnce) {
  const QueueId one = queue(100);
  gang("a", one, 1, 3);
  gang("b", {}, 1, 2);
  gang("d", one, 1, 0);
  gang("c", one, 1, 1);
  const std::vector<Submission> submissions(submissions_.begin(), submissions_.end());
  QueueOrder order(quota_, submissions);
  EXPECT_EQ(order.next(), 0U);
  EXPECT_EQ(order.rest_of(one), (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(order.next(), 1U);
  EXPECT_EQ(order.next(), std::nullopt);
}

}  // namespace
}  // namespace gantree
