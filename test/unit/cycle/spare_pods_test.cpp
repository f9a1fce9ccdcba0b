// Pods above the minimum of a gang go before gangs do.
#include "unit/cycle/preemption_world.h"

namespace gantree {
namespace {

class SparePodsTest : public PreemptionTest {};

TEST_F(SparePodsTest, PodsAboveAMinimumGoOneByOneBeforeAnyGangDoes) {
  host("a");
  runs("rigid", "a", 3, {}, 1);
  runs_with_spare("elastic", "a", 5, 3, {}, 1);
  wants("train", 2, {}, 5);
  EXPECT_EQ(plan(), "train:Placed; elastic for train (Preempted)");
  EXPECT_EQ(plan_.evictions[0].spare, (std::vector<std::string>{"default/elastic-2", "default/elastic-3"}))
      << "the first in the order in which they go";
  EXPECT_EQ(plan_.evictions[0].pods, 2);
  EXPECT_NE(plan_.evictions[0].message.find("; only 2 pods above its minimum"), std::string::npos);
  ASSERT_EQ(cluster_.running().size(), 2U);
  EXPECT_EQ(cluster_.running()[1].pods(), 3);
  EXPECT_EQ(cluster_.running()[1].spare.size(), 1U);
}

TEST_F(SparePodsTest, WhereTheSurplusIsNotEnoughGangsGoWhole) {
  host("a");
  runs("rigid", "a", 3, {}, 3);
  runs_with_spare("elastic", "a", 5, 1, {}, 1);
  wants("train", 3, {}, 5);
  EXPECT_EQ(plan(), "train:Placed; elastic for train (Preempted)");
  EXPECT_TRUE(plan_.evictions[0].spare.empty());
  EXPECT_EQ(plan_.evictions[0].pods, 5);
  EXPECT_EQ(cluster_.running().size(), 1U);
}

TEST_F(SparePodsTest, AWholeGangAndTheSurplusOfAnotherGoTogether) {
  host("a");
  runs_with_spare("first", "a", 4, 3, {}, 1);
  runs_with_spare("second", "a", 4, 3, {}, 1);
  wants("train", 7, {}, 5);
  EXPECT_EQ(plan(), "train:Placed; first for train (Preempted); second for train (Preempted)");
  EXPECT_EQ(plan_.evictions[0].pods + plan_.evictions[1].pods, 7);
  EXPECT_NE(plan_.evictions[0].spare.empty(), plan_.evictions[1].spare.empty()) << "one of them goes on";
}

TEST_F(SparePodsTest, AWholeGangOfLowerPriorityGoesBeforeTheSurplusOfAHigherOne) {
  host("a");
  runs("low", "a", 4, {}, 1);
  runs_with_spare("elastic", "a", 4, 3, {}, 3);
  wants("train", 2, {}, 5);
  EXPECT_EQ(plan(), "train:Placed; low for train (Preempted)");
}

TEST_F(SparePodsTest, AQueueTakesBackOnlyTheSurplusThatIsBorrowed) {
  host("a");
  const QueueId lender = queue(4, {.name = "lender", .reclaim = ReclaimRule::kAny});
  const QueueId borrower = queue(4, {.name = "borrower"});
  runs_with_spare("elastic", "a", 8, 6, borrower, 9);
  wants("own", 3, lender, 1);
  EXPECT_EQ(plan(), "own:Placed; elastic for own (Reclaimed)");
  EXPECT_EQ(plan_.evictions[0].spare.size(), 3U);
  EXPECT_EQ(quota_.cell(quota_.cells_of(borrower)[0]).used, 5);
}

}  // namespace
}  // namespace gantree
