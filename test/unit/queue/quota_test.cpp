#include "queue/quota.h"

#include <gtest/gtest.h>

#include <limits>

namespace gantree {
namespace {

QuotaCell gpus(std::int64_t nominal) {
  return {.queue = "ClusterQueue \"team-a\"", .flavor = "h100", .resource = "nvidia.com/gpu", .nominal = nominal};
}

TEST(Quota, HoldsWhatFitsExactly) {
  Quota quota;
  const QuotaId cell = quota.add(gpus(64));
  EXPECT_FALSE(quota.lacking({{{cell, 8}}}, {8}));
  EXPECT_TRUE(quota.lacking({{{cell, 8}}}, {9}));
}

TEST(Quota, SaysHowMuchIsLeftAndHowMuchMoreIsNeeded) {
  Quota quota;
  const QuotaId cell = quota.add(gpus(64));
  quota.take({{{cell, 1}}}, {52});
  const auto shortage = quota.lacking({{{cell, 8}}}, {4});
  ASSERT_TRUE(shortage);
  EXPECT_EQ(shortage->message,
            "ClusterQueue \"team-a\" has 12 of 64 nvidia.com/gpu left in flavor \"h100\": 20 more are needed");
  EXPECT_TRUE(shortage->ever);
}

TEST(Quota, SaysWhereTheQuotaItselfIsTooSmall) {
  Quota quota;
  const QuotaId cell = quota.add(gpus(64));
  const auto shortage = quota.lacking({{{cell, 8}}}, {16});
  ASSERT_TRUE(shortage);
  EXPECT_EQ(shortage->message, "ClusterQueue \"team-a\" gives 64 nvidia.com/gpu in flavor \"h100\": 128 are needed");
  EXPECT_FALSE(shortage->ever);
}

TEST(Quota, NamesNoFlavorWhereThereAreNone) {
  Quota quota;
  QuotaCell plain = gpus(64);
  plain.flavor = "";
  const QuotaId cell = quota.add(plain);
  EXPECT_EQ(quota.lacking({{{cell, 8}}}, {16})->message,
            "ClusterQueue \"team-a\" gives 64 nvidia.com/gpu: 128 are needed");
  quota.take({{{cell, 1}}}, {52});
  EXPECT_EQ(quota.lacking({{{cell, 8}}}, {4})->message,
            "ClusterQueue \"team-a\" has 12 of 64 nvidia.com/gpu left: 20 more are needed");
}

TEST(Quota, SumsOverThePodSetsOfAGang) {
  Quota quota;
  const QuotaId cell = quota.add(gpus(10));
  EXPECT_FALSE(quota.lacking({{{cell, 2}}, {{cell, 1}}}, {4, 2}));
  EXPECT_TRUE(quota.lacking({{{cell, 2}}, {{cell, 1}}}, {4, 3}));
}

TEST(Quota, TellsTheCellThatNeverHoldsItBeforeTheOneInUse) {
  Quota quota;
  const QuotaId busy = quota.add(gpus(8));
  QuotaCell cpu = gpus(4000);
  cpu.resource = "cpu";
  cpu.unit = Unit::kMilli;
  const QuotaId small = quota.add(cpu);
  quota.take({{{busy, 8}}}, {1});
  const auto shortage = quota.lacking({{{busy, 1}, {small, 5500}}}, {1});
  ASSERT_TRUE(shortage);
  EXPECT_EQ(shortage->message, "ClusterQueue \"team-a\" gives 4 cpu in flavor \"h100\": 5500m are needed");
}

TEST(Quota, AQueueThatIsOverItsQuotaHasNothingLeft) {
  Quota quota;
  const QuotaId cell = quota.add(gpus(8));
  quota.take({{{cell, 20}}}, {1});
  const auto shortage = quota.lacking({{{cell, 1}}}, {2});
  ASSERT_TRUE(shortage);
  EXPECT_NE(shortage->message.find("has 0 of 8"), std::string::npos);
  EXPECT_NE(shortage->message.find("2 more"), std::string::npos);
}

TEST(Quota, DoesNotMindAGangThatAsksForNothingOfAFullQueue) {
  Quota quota;
  const QuotaId cell = quota.add(gpus(8));
  quota.take({{{cell, 20}}}, {1});
  EXPECT_FALSE(quota.lacking({{{cell, 0}}}, {5}));
  EXPECT_FALSE(quota.lacking({{{cell, 5}}}, {0}));
}

TEST(Quota, DoesNotOverflow) {
  Quota quota;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const QuotaId cell = quota.add(gpus(most - 1));
  EXPECT_TRUE(quota.lacking({{{cell, most}}}, {2}));
  quota.take({{{cell, most}}}, {2});
  quota.take({{{cell, most}}}, {2});
  EXPECT_EQ(quota.cell(cell).used, most);
}

}  // namespace
}  // namespace gantree
