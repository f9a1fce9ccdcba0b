// Lists that are read page by page are not kept longer than somebody may want them.
#include "apiserver/snapshots.h"

#include <gtest/gtest.h>

namespace gantree::apiserver {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::vector<Entry> entries(std::size_t count, std::size_t size = 10) {
  std::vector<Entry> all;
  const auto bytes = std::make_shared<const std::string>(size, 'x');
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({bytes, i + 1, nullptr});
  }
  return all;
}

class SnapshotsTest : public testing::Test {
 protected:
  Snapshots snapshots_;
  Snapshots::Clock::time_point now_ = Snapshots::Clock::time_point(std::chrono::hours(1));
};

TEST_F(SnapshotsTest, AreForgottenWhenTheirTimeIsOverThoughNobodyAsks) {
  const auto first = snapshots_.begin("s", entries(10), 10, 4, now_);
  EXPECT_EQ(first.left, 6U);
  snapshots_.clear(now_ + minutes(4));
  EXPECT_EQ(snapshots_.count(), 1U);
  snapshots_.clear(now_ + minutes(6));
  EXPECT_EQ(snapshots_.count(), 0U);
}

TEST_F(SnapshotsTest, MakeRoomForThoseThatBegin) {
  (void)snapshots_.begin("s", entries(10), 10, 4, now_);
  (void)snapshots_.begin("s", entries(10), 10, 4, now_ + minutes(6));
  EXPECT_EQ(snapshots_.count(), 1U);
}

TEST_F(SnapshotsTest, ThatWereReadToTheirEndAreKeptAMomentLonger) {
  const auto first = snapshots_.begin("s", entries(10), 10, 4, now_);
  const auto last = snapshots_.go_on("s", first.next, 100, now_);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->left, 0U);
  EXPECT_TRUE(snapshots_.go_on("s", first.next, 100, now_ + seconds(5)));
  snapshots_.clear(now_ + seconds(30));
  EXPECT_EQ(snapshots_.count(), 0U);
}

TEST_F(SnapshotsTest, TogetherHoldABoundedAmount) {
  const std::size_t large = std::size_t{16} << 20;
  for (int i = 0; i < 5; ++i) {
    (void)snapshots_.begin("s", entries(100, large), 10, 4, now_);
  }
  EXPECT_EQ(snapshots_.count(), 1U);
  const auto first = snapshots_.begin("s", entries(100, large), 10, 4, now_);
  EXPECT_TRUE(snapshots_.go_on("s", first.next, 4, now_));
}

}  // namespace
}  // namespace gantree::apiserver
