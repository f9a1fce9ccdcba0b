#include "queue/submission.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  std::stable_sort(queue.begin(), queue.end(), goes_before);
  std::string names;
  for (const Submission& submission : queue) {
    names += submission.key.name;
  }
  return names;
}

TEST(GoesBefore, TakesTheHighestPriorityFirst) {
  EXPECT_EQ(order({job("a", -1), job("b", 0), job("c", 7)}), "cba");
}

TEST(GoesBefore, ThenTheOldest) {
  EXPECT_EQ(order({job("a", 0, 300), job("b", 0, 200), job("c", 1, 400)}), "cba");
}

TEST(GoesBefore, PutsWhatIsNotCreatedYetBehindWhatWaitsAlready) {
  EXPECT_EQ(order({job("a", 0, 0), job("b", 0, 200), job("c", 0, 100)}), "cba");
}

TEST(GoesBefore, ThenByNamespaceAndName) {
  EXPECT_EQ(order({job("c", 0, 100, "x"), job("b", 0, 100, "y"), job("a", 0, 100, "y")}), "cab");
}

TEST(GoesBefore, TakesNumbersInNamesAsNumbers) {
  EXPECT_EQ(order({job("r-10"), job("r-2"), job("r-1"), job("r-02"), job("r")}), "rr-1r-02r-2r-10");
  EXPECT_EQ(order({job("b", 0, 100, "team-10"), job("c", 0, 100, "team-9")}), "cb");
}

TEST(GoesBefore, TakesTheNameOfWhatItWasMadeFor) {
  const auto made_for = [](std::string job_name, std::string own) {
    Submission workload = job(std::move(own));
    workload.made_for = GangKey{.ns = "default", .name = std::move(job_name), .kind = "Job"};
    return workload;
  };
  EXPECT_EQ(order({made_for("job-10", "a"), made_for("job-2", "b"), job("job-1")}), "job-1ba");
  EXPECT_EQ(order({made_for("job", "d-10"), made_for("job", "d-2")}), "d-2d-10") << "two of one job go by their own";
}

}  // namespace
}  // namespace gantree
