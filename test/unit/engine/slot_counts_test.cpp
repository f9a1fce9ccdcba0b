#include "engine/slot_counts.h"

#include <gtest/gtest.h>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

class SlotCountsTest : public ::testing::Test {
 protected:
  SlotCountsTest() : c_({"block", "rack", "kubernetes.io/hostname"}) {
    n1_ = c_.host("b1/r1/n1", 5);
    c_.host("b1/r1/n2", 3);
    c_.host("b1/r2/n3", 7);
    c_.host("b2/r1/n4", 4);
  }
  SlotCounts counts(std::vector<Slice> slices = {}, Fill fill = Fill::kNow) {
    return {c_.inventory(), c_.engine().tree(c_.topology()), c_.shape(1), std::move(slices), fill};
  }

  SmallCluster c_;
  NodeId n1_;
};

TEST_F(SlotCountsTest, SumUpTheTree) {
  const SlotCounts counts = this->counts();
  EXPECT_EQ(counts.capacity(kWholeTree), 19);
  EXPECT_EQ(counts.capacity({0, 0}), 15);
  EXPECT_EQ(counts.capacity({1, 0}), 8);
  EXPECT_EQ(counts.best({1, 0})[0], 5);
  EXPECT_EQ(counts.best({1, 0})[1], 8);
  EXPECT_EQ(counts.best({0, 0})[0], 8);
  EXPECT_EQ(counts.best(kWholeTree)[1], 19);
}

TEST_F(SlotCountsTest, RoundDownToWholeSlicesWhereALayerEnds) {
  const SlotCounts counts = this->counts({{1, 4}, {2, 2}});
  EXPECT_EQ(counts.slots(0), 4);          // 5 in pairs
  EXPECT_EQ(counts.capacity({1, 0}), 4);  // 4 + 2, in fours
  EXPECT_EQ(counts.capacity({1, 1}), 4);  // 6, in fours
  EXPECT_EQ(counts.capacity(kWholeTree), 12);
}

TEST_F(SlotCountsTest, FollowTheLogAlongOnePath) {
  SlotCounts counts = this->counts();
  c_.inventory().take(n1_, c_.shape(1).requests, 4);
  EXPECT_EQ(counts.capacity({0, 0}), 15) << "until refreshed";
  counts.refresh();
  EXPECT_EQ(counts.capacity({0, 0}), 11);
  EXPECT_EQ(counts.best({1, 0})[0], 3);
  EXPECT_EQ(counts.capacity({0, 1}), 4);
  c_.inventory().give(n1_, c_.shape(1).requests, 4);
  counts.refresh();
  EXPECT_EQ(counts.capacity({0, 0}), 15);
}

TEST_F(SlotCountsTest, CountAgainWhenTheLogNoLongerReachesBack) {
  SlotCounts counts = this->counts();
  for (int i = 0; i < 5000; ++i) {
    c_.inventory().take(n1_, c_.shape(1).requests, i % 2 == 0 ? 1 : -1);
  }
  c_.inventory().take(n1_, c_.shape(1).requests, 2);
  counts.refresh();
  EXPECT_EQ(counts.slots(0), 3);
}

TEST_F(SlotCountsTest, SeeWhatWouldFitIfNothingRan) {
  c_.inventory().take(n1_, c_.shape(1).requests, 4);
  EXPECT_EQ(counts({}, Fill::kEmpty).slots(0), 5);
}

TEST_F(SlotCountsTest, KnowWhyAHostIsNotEligible) {
  Node node = c_.inventory().node(n1_);
  node.unschedulable = true;
  c_.inventory().upsert(node);
  const SlotCounts counts = this->counts();
  EXPECT_EQ(counts.ineligible(0), Ineligible::kCordoned);
  EXPECT_EQ(counts.slots(0), 0);
}

TEST_F(SlotCountsTest, KeepAnOvercommittedHostAtNone) {
  c_.inventory().take(n1_, c_.shape(1).requests, 9);
  EXPECT_EQ(counts().slots(0), 0);
}

}  // namespace
}  // namespace gantree
