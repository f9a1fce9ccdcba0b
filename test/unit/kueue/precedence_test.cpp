// Nobody of a queue is admitted before others were looked for that may have to go for the one before it.
#include <gtest/gtest.h>

#include "unit/kueue/queue_world.h"

namespace gantree::kueue {
namespace {

constexpr const char* kWithin = R"("preemption":{"withinClusterQueue":"LowerPriority"})";

class Overtaking : public ::testing::Test {
 protected:
  Overtaking() { world.flavor("default"); }

  // A Workload of a priority that asks for so many cores.
  void submit(const std::string& name, const std::string& queue, int cores, int priority) {
    world.put(
        "Workload", "ns", name,
        fmt::format(R"({{"queueName":"{}","priority":{},"podSets":[{{"name":"main","count":1,"template":{{"spec":{{)"
                    R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}}]}})",
                    queue, priority, cores));
  }
  void finish(const std::string& name) {
    world.remove("Workload", "ns", name);
    world.settle();
  }
  // Steps at once, as long as there is something to do at once.
  void decide() {
    do {
      world.step();
    } while (world.wake && *world.wake <= world.now);
  }
  [[nodiscard]] bool runs(const std::string& name) const {
    const std::string conditions = world.status("Workload ns/" + name, "conditions");
    return !world.status("Workload ns/" + name, "admission").empty() &&
           conditions.find(R"("type":"Evicted","status":"True")") == std::string::npos && !is_evicted(name);
  }
  [[nodiscard]] bool is_evicted(const std::string& name) const {
    return world.status("Workload ns/" + name, "conditions").find("for workload") != std::string::npos;
  }

  QueueWorld world;
};

TEST_F(Overtaking, TheOlderOfTwoHasOthersGoBeforeTheYoungerTakesWhatIsFreeWhenTheQueueRunsAgain) {
  const auto queue = [&](const std::string& more) { world.cluster_queue("q", 9, std::string(kWithin) + more); };
  queue("");
  world.local_queue("ns", "q", "q");
  submit("low", "q", 8, 1);
  world.settle();
  ASSERT_TRUE(runs("low"));
  queue(R"(,"stopPolicy":"Hold")");
  submit("a-first", "q", 9, 10);
  submit("b-second", "q", 1, 10);
  world.settle();
  queue("");
  decide();
  EXPECT_TRUE(is_evicted("low"));
  world.settle();
  EXPECT_TRUE(runs("a-first"));
  EXPECT_FALSE(runs("b-second"));
}

TEST_F(Overtaking, TheOlderOfTwoTakesBackItsQuotaInTheCohortBeforeTheYoungerTakesWhatIsFree) {
  const auto team = [&](const std::string& name, int cores, const std::string& more) {
    world.cluster_queue(name, cores, R"("cohortName":"all","preemption":{"reclaimWithinCohort":"Any"})" + more);
    world.local_queue("ns", name, name);
  };
  team("ours", 9, R"(,"stopPolicy":"Hold")");
  team("theirs", 0, "");
  submit("borrower", "theirs", 8, 50);
  submit("a-first", "ours", 9, 10);
  submit("b-second", "ours", 1, 10);
  world.settle();
  ASSERT_TRUE(runs("borrower"));
  team("ours", 9, "");
  decide();
  EXPECT_TRUE(is_evicted("borrower"));
  world.settle();
  EXPECT_TRUE(runs("a-first"));
  EXPECT_FALSE(runs("b-second"));
}

TEST_F(Overtaking, TheOlderOfTwoHasOthersGoWhenTheQuotaIsRaised) {
  world.cluster_queue("q", 8, kWithin);
  world.local_queue("ns", "q", "q");
  submit("low", "q", 8, 1);
  world.settle();
  submit("a-first", "q", 9, 10);
  world.settle();
  submit("b-second", "q", 1, 1);
  world.settle();
  ASSERT_FALSE(runs("b-second"));
  world.cluster_queue("q", 9, kWithin);
  decide();
  EXPECT_TRUE(is_evicted("low"));
  world.settle();
  EXPECT_TRUE(runs("a-first"));
}

TEST_F(Overtaking, WhatOneThatMayNotBeEvictedLeavesCountsForTheOlderThoughItLookedForVictimsInVainBefore) {
  world.cluster_queue("q", 9, kWithin);
  world.local_queue("ns", "q", "q");
  submit("low", "q", 8, 1);
  submit("high", "q", 1, 20);
  world.settle();
  submit("a-first", "q", 9, 10);
  submit("b-second", "q", 1, 1);
  world.settle();
  ASSERT_TRUE(runs("low"));
  ASSERT_FALSE(runs("b-second"));
  world.remove("Workload", "ns", "high");
  decide();
  EXPECT_TRUE(is_evicted("low"));
  world.settle();
  EXPECT_TRUE(runs("a-first"));
  EXPECT_FALSE(runs("b-second"));
}

TEST_F(Overtaking, TheSecondOfTwoLikeItAlsoComesBeforeThoseBehind) {
  const auto queue = [&](const std::string& more) { world.cluster_queue("q", 18, std::string(kWithin) + more); };
  queue("");
  world.local_queue("ns", "q", "q");
  submit("low", "q", 8, 1);
  world.settle();
  queue(R"(,"stopPolicy":"Hold")");
  submit("a-first", "q", 9, 10);
  submit("b-first", "q", 9, 10);
  submit("c-second", "q", 1, 10);
  world.settle();
  queue("");
  decide();
  world.settle();
  EXPECT_TRUE(runs("a-first"));
  EXPECT_TRUE(runs("b-first"));
  EXPECT_FALSE(runs("c-second"));
}

TEST_F(Overtaking, NobodyWaitsForOneThatNoEvictionHelps) {
  world.cluster_queue("q", 9, kWithin);
  world.local_queue("ns", "q", "q");
  submit("high", "q", 8, 20);
  world.settle();
  submit("a-first", "q", 9, 10);
  submit("b-second", "q", 1, 10);
  world.step();
  EXPECT_TRUE(runs("b-second"));
  EXPECT_FALSE(is_evicted("high"));
}

}  // namespace
}  // namespace gantree::kueue
