#include "queue/combinations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gantree {
namespace {

QuotaId cell(int i) {
  return make_id<QuotaTag>(static_cast<std::size_t>(i));
}

// Parts of which each asks for so much of one of `cells` cells: its way i of cell i.
WayDemands parts(const std::vector<std::int64_t>& amounts, int cells) {
  WayDemands demands;
  for (const std::int64_t amount : amounts) {
    std::vector<QuotaDemand>& ways = demands.emplace_back();
    for (int i = 0; i < cells; ++i) {
      ways.push_back({{cell(i), amount}});
    }
  }
  return demands;
}

// Every cell holds so much.
Combinations::Allows each_holds(std::int64_t most) {
  return [most](const QuotaDemand& sum) {
    return std::all_of(sum.begin(), sum.end(), [&](const auto& entry) { return entry.second <= most; });
  };
}

std::string text(const Combinations& walk) {
  return fmt::format("{}", fmt::join(walk.ways(), ""));
}

std::string all(Combinations walk) {
  std::string texts;
  while (walk.next()) {
    texts += (texts.empty() ? "" : " ") + text(walk);
  }
  return texts;
}

TEST(Combinations, ComeInLexicographicOrder) {
  const WayDemands two = parts({1, 1}, 3);
  EXPECT_EQ(all(Combinations(two, each_holds(9))), "00 01 02 10 11 12 20 21 22");
}

TEST(Combinations, OfTooMuchTogetherArePassedOver) {
  const WayDemands two = parts({1, 1}, 3);
  EXPECT_EQ(all(Combinations(two, each_holds(1))), "01 02 10 12 20 21");
  EXPECT_EQ(all(Combinations(two, each_holds(0))), "");
}

TEST(Combinations, AddUpWhatIsAskedOfTheSameCell) {
  const WayDemands mixed = {{{{cell(0), 1}, {cell(2), 4}}}, {{{cell(1), 2}, {cell(2), 3}, {cell(3), 1}}}};
  QuotaDemand whole;
  Combinations walk(mixed, [&](const QuotaDemand& sum) {
    whole = sum;
    return true;
  });
  ASSERT_TRUE(walk.next());
  EXPECT_EQ(whole, (QuotaDemand{{cell(0), 1}, {cell(1), 2}, {cell(2), 7}, {cell(3), 1}}));
}

TEST(Combinations, ThatBeginAsTheLastOneCanBeSkipped) {
  const WayDemands three = parts({1, 1, 1}, 2);
  Combinations walk(three, each_holds(9));
  ASSERT_TRUE(walk.next());
  EXPECT_EQ(text(walk), "000");
  walk.skip(2);
  ASSERT_TRUE(walk.next());
  EXPECT_EQ(text(walk), "010");
  walk.skip(1);
  ASSERT_TRUE(walk.next());
  EXPECT_EQ(text(walk), "100");
}

TEST(Combinations, OfAWayThatIsRuledOutDoNotCome) {
  const WayDemands two = parts({1, 1}, 3);
  Combinations walk(two, each_holds(9));
  walk.rule_out(1, 0);
  walk.rule_out(0, 1);
  EXPECT_EQ(all(std::move(walk)), "01 02 21 22");
}

TEST(Combinations, AreFoundWhereOnlyTheLastOfVeryManyWillDo) {
  const WayDemands eight = parts({1, 1, 1, 1, 1, 1, 1, 1}, 16);
  Combinations walk(eight, [](const QuotaDemand& sum) { return sum.front().first == cell(15); });
  ASSERT_TRUE(walk.next());
  EXPECT_EQ(walk.ways(), std::vector<std::size_t>(8, 15));
  EXPECT_FALSE(walk.next());
  EXPECT_FALSE(walk.gave_up());
}

TEST(Combinations, AreKnownNotToBeThereWhereOneTooManyAsksForTheSame) {
  // Nine parts, and eight cells that hold one each: 134217728 combinations, none of which is allowed.
  const WayDemands nine = parts({1, 1, 1, 1, 1, 1, 1, 1, 1}, 8);
  Combinations walk(nine, each_holds(1));
  EXPECT_FALSE(walk.next());
  EXPECT_FALSE(walk.gave_up());
  EXPECT_FALSE(some_are_allowed(nine, each_holds(1)));
}

TEST(Combinations, AreGivenUpWhereTheSearchTakesTooLong) {
  // All sums differ, so that nothing is learned from what was in vain.
  const WayDemands parts_of_all_sizes = parts({1, 2, 4, 8, 16, 32, 64, 128, 256, 2000}, 8);
  const auto allows = [](const QuotaDemand& sum) {
    return std::none_of(sum.begin(), sum.end(), [](const auto& entry) { return entry.second >= 2000; });
  };
  Combinations walk(parts_of_all_sizes, allows);
  EXPECT_FALSE(walk.next());
  EXPECT_TRUE(walk.gave_up());
  EXPECT_TRUE(some_are_allowed(parts_of_all_sizes, allows)) << "it is not known, so that a try is worth it";
}

}  // namespace
}  // namespace gantree
