// Lines of those that wait.
#include "kueue/waiting_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "live/object.h"

namespace gantree::kueue {
namespace {

class Lines : public testing::Test {
 protected:
  Entry& entry(const std::string& name, std::int64_t priority, bool told = true) {
    const auto object =
        prune("kueue.x-k8s.io", "v1beta2", "Workload",
              fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}"}},"spec":{{"podSets":[]}}}})", name));
    auto read = read_workload(*object, inventory_);
    EXPECT_TRUE(read);
    Entry& made = entries_.try_emplace(name, Entry{.object = std::move(*read)}).first->second;
    if (told) {
      made.verdict = Verdict{};
    }
    priorities_[&made] = priority;
    return made;
  }
  Place place(Entry& entry, bool in_order) {
    return {.line = {.queue = QueueId{0}, .in_order = in_order, .shape = in_order ? 0U : 7U},
            .rank = {.priority = priorities_.at(&entry),
                     .created_seconds = 1,
                     .key = {.ns = "ns", .name = entry.object.ref.name, .kind = "Job"}}};
  }
  void put(Entry& entry, bool in_order = false) { lines.put(entry, place(entry, in_order)); }

  const LineKey key{.queue = QueueId{0}, .in_order = false, .shape = 7};
  const LineKey strict{.queue = QueueId{0}, .in_order = true, .shape = 0};
  WaitingLines lines;

 private:
  Inventory inventory_;
  std::map<std::string, Entry> entries_;
  std::map<const Entry*, std::int64_t> priorities_;
};

TEST_F(Lines, AreOpenUntilTheyWereTried) {
  put(entry("a", 1));
  EXPECT_TRUE(lines.open_lines().contains(key));
  lines.close(key, Hope::kQuota);
  EXPECT_TRUE(lines.open_lines().empty());
  put(entry("b", 1));
  EXPECT_TRUE(lines.open_lines().empty()) << "who comes to a line that was turned down is turned down too";
}

TEST_F(Lines, AreLookedAtForThoseThatWereNotToldWhyTheyWait) {
  put(entry("a", 1));
  lines.close(key, Hope::kQuota);
  Entry& fresh = entry("b", 1, false);
  put(fresh);
  EXPECT_TRUE(lines.open_lines().contains(key));
  EXPECT_EQ(lines.find(key)->hope, Hope::kQuota) << "nobody is tried for that";
  lines.told(fresh);
  lines.close(key, Hope::kQuota);
  EXPECT_TRUE(lines.open_lines().empty());
}

TEST_F(Lines, StandInTheOrderOfPriorityAndAge) {
  Entry& low = entry("a", 1);
  Entry& high = entry("b", 2);
  put(low);
  put(high);
  EXPECT_EQ(&lines.find(key)->first(), &high);
}

TEST_F(Lines, OfAStrictQueueAreTriedAgainWhereTheirFirstGoesOrAnotherComesBeforeIt) {
  Entry& first = entry("a", 2);
  Entry& second = entry("b", 1);
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
  Entry& first = entry("a", 2);
  Entry& second = entry("b", 1);
  put(first, true);
  put(second, true);
  lines.close(strict, Hope::kRoom);
  lines.take_out(second);
  EXPECT_TRUE(lines.open_lines().empty());
}

TEST_F(Lines, LeaveNothingBehindWhereNobodyIsInThem) {
  Entry& only = entry("a", 1, false);
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
  Entry& one = entry("a", 1);
  put(one);
  lines.close(key, Hope::kQuota);
  lines.put(one, place(one, true));
  EXPECT_EQ(lines.find(key), nullptr);
  EXPECT_EQ(&lines.find(strict)->first(), &one);
}

}  // namespace
}  // namespace gantree::kueue
