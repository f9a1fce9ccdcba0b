// For whom others are evicted first.
#include <gtest/gtest.h>

#include "unit/kueue/queue_world.h"

namespace gantree::kueue {
namespace {

TEST(Reclaiming, BeginsWithTheFirstOfTheQueueWhenTheRulesChangeHoweverLongItHasLookedInVain) {
  QueueWorld world;
  world.flavor("default");
  const auto team = [&](const std::string& name, const std::string& rules) {
    world.cluster_queue(name, 4, fmt::format(R"("cohortName":"all","preemption":{{{}}})", rules));
    world.local_queue("ns", name, name);
  };
  team("a", "");
  team("b", R"("withinClusterQueue":"LowerPriority")");
  world.workload("ns", "x1", "a", 4);
  world.workload("ns", "x2", "a", 4);
  world.settle();
  world.workload("ns", "z1", "b", 4);
  world.settle();
  world.settle();
  world.workload("ns", "z2", "b", 1);
  world.step();
  ASSERT_EQ(world.status("Workload ns/z1", "admission"), "");
  team("b", R"("withinClusterQueue":"LowerPriority","reclaimWithinCohort":"Any")");
  for (int i = 0; i < 20; ++i) {
    world.step();
    world.now += std::chrono::milliseconds(250);
  }
  EXPECT_NE(world.status("Workload ns/z1", "admission"), "");
  EXPECT_EQ(world.status("Workload ns/z2", "admission"), "");
}

}  // namespace
}  // namespace gantree::kueue
