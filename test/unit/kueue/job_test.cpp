#include <gmock/gmock.h>

#include <algorithm>

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

// A job that was admitted and runs; its Workload.
std::string running(JobWorld& world, const std::string& name) {
  auto [workload, start] = world.admitted(name);
  world.done(start);
  world.job(name, {.suspended = false, .started = true});
  world.settle();
  return workload;
}

TEST(QueuedJob, ThatItsUserSuspendsGivesBackWhatItHasAndWaitsForTheUser) {
  JobWorld world(1, 1, 8);
  const std::string workload = running(world, "train");
  world.job("train", {.suspended = true, .started = true});
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"),
              HasSubstr(R"("type":"Evicted","status":"True","reason":"Suspended")"));
  EXPECT_EQ(world.status(workload, "admission"), "");
  EXPECT_TRUE(world.to_jobs.empty()) << "it is not started again";
}

TEST(QueuedJob, ThatItsUserResumesIsStoppedAndQueuedAgain) {
  JobWorld world(1, 1, 8);
  const std::string workload = running(world, "train");
  world.job("train", {.suspended = true, .started = true});
  world.settle();
  world.job("train", {.suspended = false, .started = true});
  world.settle();
  ASSERT_EQ(world.to_jobs.size(), 1U);
  EXPECT_THAT(world.to_jobs.front().write.body, HasSubstr(R"("path":"/spec/suspend","value":true)"));
  EXPECT_EQ(world.status(workload, "admission"), "") << "not before it is stopped";
  world.job("train", {});
  world.settle();
  EXPECT_NE(world.status(workload, "admission"), "");
  EXPECT_THAT(world.status(workload, "conditions"), HasSubstr(R"("type":"Evicted","status":"False")"));
  ASSERT_EQ(world.to_jobs.size(), 2U);
  EXPECT_THAT(world.to_jobs.back().write.body, HasSubstr(R"("path":"/spec/suspend","value":false)"));
}

TEST(QueuedJob, ThatWasStartedPastItsQueueIsNotAdmittedBeforeItIsStopped) {
  JobWorld world(1, 1, 16);
  world.job("big", {.pods = 9});
  const Order create = world.only("Workload");
  const std::string workload = create.write.object.name;
  world.carry_out(create);
  world.settle();
  world.job("big", {.pods = 9, .suspended = false});
  world.node("n0-1", "r0");
  world.settle();
  EXPECT_EQ(world.status(workload, "admission"), "");
  ASSERT_EQ(world.to_jobs.size(), 1U);
  EXPECT_THAT(world.to_jobs.front().write.body, HasSubstr(R"("path":"/spec/suspend","value":true)"));
  world.job("big", {.pods = 9});
  world.settle();
  ASSERT_EQ(world.to_jobs.size(), 2U) << "then it is started as it should be";
  EXPECT_THAT(world.to_jobs.back().write.body, HasSubstr("kueue.x-k8s.io/topology"));
}

// A job that waits; its Workload.
std::string waiting(JobWorld& world, const JobState& state) {
  world.job("train", state);
  const Order create = world.only("Workload");
  world.carry_out(create);
  world.settle();
  return create.write.object.name;
}

TEST(QueuedJob, ThatIsMovedToAnotherQueueWhileItWaitsWaitsThere) {
  JobWorld world(1, 1, 8);
  const std::string workload = waiting(world, {.queue = "nowhere"});
  EXPECT_EQ(world.status(workload, "admission"), "");
  world.job("train", {});
  world.settle();
  EXPECT_EQ(world.spec(workload, "queueName"), R"("main")");
  EXPECT_NE(world.status(workload, "admission"), "");
}

TEST(QueuedJob, ThatWantsFewerPodsWhileItWaitsGetsThose) {
  JobWorld world(1, 1, 8);
  const std::string workload = waiting(world, {.pods = 9});
  EXPECT_EQ(world.status(workload, "admission"), "");
  world.job("train", {.pods = 8});
  world.settle();
  EXPECT_THAT(world.status(workload, "admission"), HasSubstr(R"("podCounts":{"universal":8})"));
}

TEST(QueuedJob, ThatIsMendedIsActiveAgain) {
  JobWorld world(1, 1, 8);
  const std::string workload =
      waiting(world, {.annotations = R"("kueue.x-k8s.io/podset-required-topology":"kubernetes.io/hostname",)"
                                     R"("kueue.x-k8s.io/podset-preferred-topology":"rack")"});
  EXPECT_EQ(world.spec(workload, "active"), "false");
  world.job("train", {});
  world.settle();
  EXPECT_EQ(world.spec(workload, "active"), "true");
  EXPECT_NE(world.status(workload, "admission"), "");
}

TEST(QueuedJob, ThatWasStoppedKeepsTheTemplatesThatItCameWith) {
  JobWorld world(1, 1, 8);
  const std::string workload = running(world, "train");
  const std::string before = world.spec(workload, "podSets");
  world.set(workload, "active", "false");
  world.job("train",
            {.annotations = R"("kueue.x-k8s.io/workload":"w","kueue.x-k8s.io/podset-required-topology":"rack")"});
  world.settle();
  EXPECT_EQ(world.status(workload, "admission"), "");
  EXPECT_EQ(world.spec(workload, "podSets"), before);
  EXPECT_EQ(world.spec(workload, "active"), "false");
}

TEST(QueuedJob, WhoseWorkloadIsRefusedTwiceIsToldSo) {
  JobWorld world(1, 1, 8);
  world.job("train", {});
  for (int i = 0; i < 4; ++i) {
    for (const Order& order : world.step()) {
      if (order.write.object.kind != "Workload") {
        world.done(order);  // the statuses of queues
        continue;
      }
      EXPECT_EQ(order.write.verb, WriteVerb::kCreate);
      world.controller.answered(order.id, Answer::kRefused, "spec.podSets: Too many: 19", world.now);
    }
    EXPECT_EQ(world.events.size(), i < 2 ? 0U : 1U);
    world.now += std::chrono::seconds(4);
  }
  ASSERT_EQ(world.events.size(), 1U) << "once";
  EXPECT_THAT(world.events.front().write.body, HasSubstr("Too many: 19"));
  EXPECT_THAT(world.events.front().write.body, HasSubstr(R"("kind":"Job")"));
  ASSERT_EQ(world.remarks.size(), 1U);
  EXPECT_THAT(world.remarks.front(), HasSubstr("Too many: 19"));
}

TEST(QueuedJob, IsLeftAloneWhileTheServerKnowsNoWorkloads) {
  JobWorld world(1, 1, 8);
  world.controller.serve(false);
  world.job("waits", {});
  world.job("runs", {.suspended = false, .started = true});
  EXPECT_TRUE(world.step().empty());
  world.controller.serve(true);
  EXPECT_FALSE(world.step().empty());
}

TEST(QueuedJob, KeepsConditionsOfOthersAsTheyAre) {
  JobWorld world(1, 1, 8);
  world.job("train", {});
  Order create = world.only("Workload");
  const std::size_t end = create.write.body.rfind('}');
  create.write.body.insert(end,
                           R"(,"status":{"conditions":[{"type":"Mine","status":"Unknown","reason":"R",)"
                           R"("message":"m","lastTransitionTime":"2023-11-14T22:13:20Z","observedGeneration":7}]})");
  world.carry_out(create);
  world.carry_out(world.only("Workload"));
  EXPECT_THAT(world.status(create.write.object.name, "conditions"),
              HasSubstr(R"("type":"Mine","status":"Unknown","reason":"R")"));
  EXPECT_THAT(world.status(create.write.object.name, "conditions"), HasSubstr(R"("observedGeneration":7)"));
}

std::size_t to_workloads(const std::vector<Order>& orders) {
  return static_cast<std::size_t>(std::count_if(
      orders.begin(), orders.end(), [](const Order& order) { return order.write.object.kind == "Workload"; }));
}

TEST(QueuedJob, OfMorePodsThanCanBeMeantIsToldSoAndGetsNoWorkload) {
  JobWorld world(1, 2, 16);
  world.job("huge", {.pods = 2'000'000});
  EXPECT_EQ(to_workloads(world.step()), 0U) << "one of 0 pods was made, and admitted";
  EXPECT_EQ(to_workloads(world.step()), 0U);
  ASSERT_EQ(world.events.size(), 1U) << "once";
  EXPECT_THAT(world.events.front().write.body,
              HasSubstr(R"(parallelism of \"main\" would be 2000000 pods; at most 1000000 are allowed)"));
  EXPECT_THAT(world.events.front().write.body, HasSubstr(R"("kind":"Job")"));
  world.job("huge", {.pods = 2});
  EXPECT_EQ(world.only("Workload").write.verb, WriteVerb::kCreate);
}

TEST(QueuedJob, ThatIsChangedToMorePodsThanCanBeMeantLosesItsWorkload) {
  JobWorld world(1, 2, 16);
  world.job("j", {.pods = 99});
  world.carry_out(world.only("Workload"));
  world.settle();
  world.job("j", {.pods = 2'000'000});
  EXPECT_EQ(world.only("Workload").write.verb, WriteVerb::kDelete);
}

}  // namespace
}  // namespace gantree::kueue
