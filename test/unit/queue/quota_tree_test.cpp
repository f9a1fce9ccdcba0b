// Cells with parents: cohorts that lend and borrow, and trees with limits at every depth.
#include <gtest/gtest.h>

#include "queue/quota.h"

namespace gantree {
namespace {

QuotaCell gpus(const std::string& queue, std::int64_t nominal, std::optional<QuotaId> parent = {}) {
  return {.queue = queue, .flavor = "h100", .resource = "gpu", .nominal = nominal, .parent = parent};
}

// Two queues in a cohort.
class CohortTest : public testing::Test {
 protected:
  void queues(QuotaCell a, QuotaCell b, std::int64_t extra = 0) {
    cohort_ = quota_.add(gpus("Cohort \"c\"", extra));
    a.queue = "Queue \"a\"";
    b.queue = "Queue \"b\"";
    a.parent = b.parent = cohort_;
    a.owner = owner_a_ = quota_.add_queue({.name = a.queue, .tree = "c"});
    b.owner = owner_b_ = quota_.add_queue({.name = b.queue, .tree = "c"});
    a_ = quota_.add(a);
    b_ = quota_.add(b);
  }
  [[nodiscard]] bool fits(QuotaId cell, std::int64_t amount) const { return quota_.fits({{cell, amount}}); }
  [[nodiscard]] Shortage lacking(QuotaId cell, std::int64_t amount) const {
    return quota_.lacking(QuotaDemand{{cell, amount}}).value_or(Shortage{.message = "nothing"});
  }
  void take(QuotaId cell, std::int64_t amount) { quota_.take({{cell, amount}}); }

  Quota quota_;
  QuotaId cohort_;
  QuotaId a_;
  QuotaId b_;
  QueueId owner_a_;
  QueueId owner_b_;
};

TEST_F(CohortTest, LendsWhatOthersLeave) {
  queues(gpus("", 8), gpus("", 8));
  EXPECT_TRUE(fits(a_, 16));
  EXPECT_FALSE(fits(a_, 17));
  take(a_, 12);
  EXPECT_TRUE(fits(b_, 4)) << "what is lent is not there any more, though b has it by right";
  EXPECT_FALSE(fits(b_, 5));
}

TEST_F(CohortTest, AddsItsOwnQuota) {
  queues(gpus("", 8), gpus("", 8), 4);
  EXPECT_TRUE(fits(a_, 20));
  EXPECT_FALSE(fits(a_, 21));
}

TEST_F(CohortTest, CapsWhatAQueueBorrows) {
  QuotaCell capped = gpus("", 8);
  capped.borrowing_limit = 2;
  queues(capped, gpus("", 8));
  EXPECT_TRUE(fits(a_, 10));
  EXPECT_FALSE(fits(a_, 11));
  EXPECT_TRUE(fits(b_, 16));
}

TEST_F(CohortTest, NeverLendsMoreThanTheLendingLimit) {
  QuotaCell careful = gpus("", 8);
  careful.lending_limit = 3;
  queues(gpus("", 8), careful);
  EXPECT_TRUE(fits(a_, 11));
  EXPECT_FALSE(fits(a_, 12));
  take(a_, 11);
  EXPECT_TRUE(fits(b_, 5)) << "what it does not lend is its own";
  EXPECT_FALSE(fits(b_, 6));
  take(b_, 5);
  EXPECT_EQ(quota_.cell(cohort_).used, 11) << "what is its own does not count at the cohort";
}

TEST_F(CohortTest, GivesBackInTheOrderInWhichItWasNotTaken) {
  QuotaCell careful = gpus("", 8);
  careful.lending_limit = 3;
  queues(gpus("", 8), careful);
  take(b_, 4);
  take(b_, 4);
  EXPECT_EQ(quota_.cell(cohort_).used, 3);
  quota_.give({{b_, 4}});
  EXPECT_EQ(quota_.cell(b_).used, 4);
  EXPECT_EQ(quota_.cell(cohort_).used, 0);
}

TEST_F(CohortTest, SaysWhereTheCohortIsShort) {
  queues(gpus("", 8), gpus("", 8));
  take(b_, 5);
  const Shortage shortage = lacking(a_, 12);
  EXPECT_EQ(shortage.message,
            "Cohort \"c\" has 11 of 16 gpu left in flavor \"h100\" for Queue \"a\": 1 more are needed");
  EXPECT_TRUE(shortage.ever);
}

TEST_F(CohortTest, SaysWhereTheBorrowingLimitIsReached) {
  QuotaCell capped = gpus("", 8);
  capped.borrowing_limit = 2;
  queues(capped, gpus("", 8));
  take(a_, 7);
  EXPECT_EQ(lacking(a_, 4).message,
            "Queue \"a\" has 3 of 10 gpu left in flavor \"h100\" (8 and 2 to borrow): 1 more are needed");
  EXPECT_TRUE(lacking(a_, 4).ever);
  EXPECT_EQ(lacking(a_, 11).message, "Queue \"a\" gives 10 gpu in flavor \"h100\" (8 and 2 to borrow): 11 are needed");
  EXPECT_FALSE(lacking(a_, 11).ever);
}

TEST_F(CohortTest, SaysWhereNotEvenTheWholeCohortIsEnough) {
  queues(gpus("", 8), gpus("", 8));
  EXPECT_EQ(lacking(a_, 17).message, "Cohort \"c\" gives 16 gpu in flavor \"h100\" for Queue \"a\": 17 are needed");
  EXPECT_FALSE(lacking(a_, 17).ever);
}

TEST_F(CohortTest, KnowsWhoBorrows) {
  queues(gpus("", 8), gpus("", 8));
  EXPECT_FALSE(quota_.would_borrow({{a_, 8}}));
  EXPECT_TRUE(quota_.would_borrow({{a_, 9}}));
  take(a_, 8);
  EXPECT_FALSE(quota_.borrows(owner_a_));
  take(a_, 1);
  EXPECT_TRUE(quota_.borrows(owner_a_));
  EXPECT_FALSE(quota_.borrows(owner_b_));
}

TEST_F(CohortTest, CanBeToldNotToBorrow) {
  queues(gpus("", 8), gpus("", 8));
  take(a_, 5);
  EXPECT_TRUE(quota_.fits({{a_, 3}}, Borrowing::kForbidden));
  EXPECT_FALSE(quota_.fits({{a_, 4}}, Borrowing::kForbidden));
  EXPECT_EQ(quota_.lacking(QuotaDemand{{a_, 4}}, Borrowing::kForbidden)->message,
            "Queue \"a\" has 3 of 8 gpu left in flavor \"h100\" without borrowing: 1 more are needed");
}

TEST_F(CohortTest, MeasuresTheShareByWhatIsUsedBeyondQuotaAndByWeight) {
  const QuotaId cohort = quota_.add(gpus("Cohort \"d\"", 0));
  const auto queue = [&](std::int64_t weight) {
    const QueueId id = quota_.add_queue({.name = "q", .tree = "d", .weight = weight});
    QuotaCell cell = gpus("q", 5, cohort);
    cell.owner = id;
    quota_.take({{quota_.add(cell), 7}});
    return id;
  };
  const QueueId plain = queue(1000);
  const QueueId heavy = queue(2000);
  const QueueId weightless = queue(0);
  EXPECT_EQ(quota_.share(plain), 133333) << "2 of 15, in millionths";
  EXPECT_EQ(quota_.share(heavy), 66666);
  EXPECT_EQ(quota_.share(weightless), kUnlimited);
  quota_.give({{quota_.cells_of(plain)[0], 2}});
  EXPECT_EQ(quota_.share(plain), 0);
}

TEST(QuotaTree, NestsCohorts) {
  Quota quota;
  const QuotaId top = quota.add(gpus("top", 2));
  QuotaCell middle = gpus("middle", 0, top);
  middle.lending_limit = 6;
  middle.borrowing_limit = 1;
  const QuotaId left = quota.add(middle);
  const QuotaId right = quota.add(gpus("right", 0, top));
  const QuotaId a = quota.add(gpus("a", 10, left));
  const QuotaId b = quota.add(gpus("b", 4, right));
  EXPECT_EQ(quota.total(left), 10);
  EXPECT_EQ(quota.total(top), 12) << "2 of its own, 6 that the left lends, 4 of the right";
  EXPECT_TRUE(quota.fits({{b, 12}}));
  EXPECT_FALSE(quota.fits({{b, 13}}));
  EXPECT_TRUE(quota.fits({{a, 11}}));
  EXPECT_FALSE(quota.fits({{a, 12}})) << "the limit is that of the cohort in the middle";
  quota.take({{b, 12}});
  EXPECT_TRUE(quota.fits({{a, 4}}));
  EXPECT_FALSE(quota.fits({{a, 5}}));
}

TEST(QuotaTree, CarriesQueuesWithLimitsAtEveryDepthUnderARootWithoutBound) {
  Quota quota;
  QuotaCell root = gpus("all", kUnlimited);
  root.whole = true;
  QuotaCell department = gpus("department", 10, quota.add(root));
  department.whole = true;
  department.borrowing_limit = 5;
  const QuotaId parent = quota.add(department);
  const QuotaId team = quota.add(gpus("team", 8, parent));
  QuotaCell bounded = gpus("bounded", 8, parent);
  bounded.borrowing_limit = 0;
  const QuotaId other = quota.add(bounded);
  EXPECT_EQ(quota.total(parent), 10) << "its own word counts, not the sum of its teams";
  EXPECT_TRUE(quota.fits({{team, 15}}));
  EXPECT_FALSE(quota.fits({{team, 16}}));
  EXPECT_FALSE(quota.fits({{other, 9}}));
  quota.take({{team, 15}});
  EXPECT_EQ(quota.lacking(QuotaDemand{{other, 1}})->message,
            "department has 0 of 15 gpu left in flavor \"h100\" (10 and 5 to borrow) for bounded: 1 more are needed");
}

TEST(QuotaTree, TakesQueuesWithoutBound) {
  Quota quota;
  QuotaCell root = gpus("all", kUnlimited);
  root.whole = true;
  const QuotaId team = quota.add(gpus("team", kUnlimited, quota.add(root)));
  quota.take({{team, kUnlimited - 5}});
  EXPECT_TRUE(quota.fits({{team, 100}}));
  EXPECT_FALSE(quota.would_borrow({{team, 100}}));
}

}  // namespace
}  // namespace gantree
