#include "queue/submission.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

Submission job(std::string name, std::int64_t priority = 0, std::int64_t created = 100, std::string ns = "default") {
  Submission submission;
  submission.key = {.ns = std::move(ns), .name = std::move(name), .kind = "Job"};
  submission.priority = priority;
  submission.created_seconds = created;
  return submission;
}

std::string order(std::vector<Submission> queue) {
  sort_queue(queue);
  std::string names;
  for (const Submission& submission : queue) {
    names += submission.key.name;
  }
  return names;
}

TEST(SortQueue, TakesTheHighestPriorityFirst) {
  EXPECT_EQ(order({job("a", -1), job("b", 0), job("c", 7)}), "cba");
}

TEST(SortQueue, ThenTheOldest) {
  EXPECT_EQ(order({job("a", 0, 300), job("b", 0, 200), job("c", 1, 400)}), "cba");
}

TEST(SortQueue, PutsWhatIsNotCreatedYetBehindWhatWaitsAlready) {
  EXPECT_EQ(order({job("a", 0, 0), job("b", 0, 200), job("c", 0, 100)}), "cba");
}

TEST(SortQueue, ThenByNamespaceAndName) {
  EXPECT_EQ(order({job("c", 0, 100, "x"), job("b", 0, 100, "y"), job("a", 0, 100, "y")}), "cab");
}

}  // namespace
}  // namespace gantree
