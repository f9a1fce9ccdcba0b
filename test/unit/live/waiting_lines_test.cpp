// Lines of those that wait.
#include "live/waiting_lines.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace gantree {
namespace {

class Lines : public testing::Test {
 protected:
  Waiter& waiter(const std::string& name, std::int64_t priority, bool told = true) {
    Waiter& made = waiters_.try_emplace(name).first->second;
    made.id = "ns/" + name;
    if (told) {
      made.verdict = Verdict{};
    }
    priorities_[&made] = priority;
    return made;
  }
  Place place(Waiter& waiter, bool in_order) {
    return {.line = {.queue = QueueId{0}, .in_order = in_order, .shape = in_order ? 0U : 7U},
            .rank = {.priority = priorities_.at(&waiter),
                     .created_seconds = 1,
                     .known_as = {.ns = "ns", .name = waiter.id.substr(3), .kind = "Job"}}};
  }
  void put(Waiter& waiter, bool in_order = false) { lines.put(waiter, place(waiter, in_order)); }

  const LineKey key{.queue = QueueId{0}, .in_order = false, .shape = 7};
  const LineKey strict{.queue = QueueId{0}, .in_order = true, .shape = 0};
  WaitingLines lines;

 private:
  std::map<std::string, Waiter> waiters_;
  std::map<const Waiter*, std::int64_t> priorities_;
};

TEST_F(Lines, AreOpenUntilTheyWereTried) {
  put(waiter("a", 1));
  EXPECT_TRUE(lines.open_lines().contains(key));
  lines.close(key, Hope::kQuota);
  EXPECT_TRUE(lines.open_lines().empty());
  put(waiter("b", 1));
  EXPECT_TRUE(lines.open_lines().empty()) << "who comes to a line that was turned down is turned down too";
}

TEST_F(Lines, AreLookedAtForThoseThatWereNotToldWhyTheyWait) {
  put(waiter("a", 1));
  lines.close(key, Hope::kQuota);
  Waiter& fresh = waiter("b", 1, false);
  put(fresh);
  EXPECT_TRUE(lines.open_lines().contains(key));
  EXPECT_EQ(lines.find(key)->hope, Hope::kQuota) << "nobody is tried for that";
  lines.told(fresh);
  lines.close(key, Hope::kQuota);
  EXPECT_TRUE(lines.open_lines().empty());
}

TEST_F(Lines, StandInTheOrderOfPriorityAndAge) {
  Waiter& low = waiter("a", 1);
  Waiter& high = waiter("b", 2);
  put(low);
  put(high);
  EXPECT_EQ(&lines.find(key)->first(), &high);
}

TEST_F(Lines, OfAStrictQueueAreTriedAgainWhereTheirFirstGoesOrAnotherComesBeforeIt) {
  Waiter& first = waiter("a", 2);
  Waiter& second = waiter("b", 1);
  put(first, true);
  put(second, true);
  lines.close(strict, Hope::kRoom);
  lines.take_out(first);
  EXPECT_TRUE(lines.open_lines().contains(strict));
  EXPECT_EQ(lines.find(strict)->hope, Hope::kTurn);
  lines.close(strict, Hope::kRoom);
  put(first, true);
  EXPECT_EQ(lines.find(strict)->hope, Hope::kTurn);
}

TEST_F(Lines, OfAStrictQueueAreNotTriedAgainWhereSomebodyBehindTheirFirstGoes) {
  Waiter& first = waiter("a", 2);
  Waiter& second = waiter("b", 1);
  put(first, true);
  put(second, true);
  lines.close(strict, Hope::kRoom);
  lines.take_out(second);
  EXPECT_TRUE(lines.open_lines().empty());
}

TEST_F(Lines, LeaveNothingBehindWhereNobodyIsInThem) {
  Waiter& only = waiter("a", 1, false);
  put(only);
  lines.close(key, Hope::kRoom);
  EXPECT_TRUE(lines.short_of_room().contains(key));
  lines.set_aside(only);
  EXPECT_EQ(lines.find(key), nullptr);
  EXPECT_TRUE(lines.open_lines().empty());
  EXPECT_TRUE(lines.short_of_room().empty());
  EXPECT_EQ(lines.aside().size(), 1U);
  put(only);
  EXPECT_TRUE(lines.aside().empty());
  EXPECT_EQ(lines.find(key)->hope, Hope::kTurn);
}

TEST_F(Lines, MoveThoseThatAskForSomethingElse) {
  Waiter& one = waiter("a", 1);
  put(one);
  lines.close(key, Hope::kQuota);
  lines.put(one, place(one, true));
  EXPECT_EQ(lines.find(key), nullptr);
  EXPECT_EQ(&lines.find(strict)->first(), &one);
}

}  // namespace
}  // namespace gantree
