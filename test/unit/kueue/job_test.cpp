#include <gmock/gmock.h>

#include "job_world.h"

namespace gantree::kueue {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(QueuedJob, IsStartedOnceItIsAdmittedThoughNothingOfItChangedMeanwhile) {
  JobWorld world(1, 1, 8);
  world.job("train", {});
  const Order create = world.only("Workload");
  EXPECT_EQ(create.write.verb, WriteVerb::kCreate);
  world.carry_out(create);
  world.carry_out(world.only("Workload"));
  const Order start = world.only("Job");
  EXPECT_EQ(start.write.verb, WriteVerb::kJsonPatch);
  EXPECT_THAT(start.write.body, HasSubstr(R"("path":"/spec/suspend","value":false)"));
}

TEST(QueuedJob, IsStartedThoughTheAnswerToTheCreationOfItsWorkloadIsLate) {
  JobWorld world(1, 1, 8);
  world.job("train", {});
  const Order create = world.only("Workload");
  world.show(create);
  world.carry_out(world.only("Workload"));
  const Order start = world.only("Job");
  EXPECT_EQ(start.write.verb, WriteVerb::kJsonPatch);
  // The late answer is none to the start: nothing is ordered twice.
  world.done(create);
  world.now += std::chrono::milliseconds(200);
  EXPECT_TRUE(world.step().empty());
}

TEST(QueuedJob, GetsNoSecondWorkloadWhileTheFirstIsNotSeen) {
  JobWorld world(1, 1, 8);
  world.job("train", {});
  const Order create = world.only("Workload");
  world.done(create);
  world.job("train", {});
  world.now += std::chrono::seconds(1);
  EXPECT_TRUE(world.step().empty());
}

}  // namespace
}  // namespace gantree::kueue
