// Queues of KAI: amounts, the tree, and who may go beyond quota.
#include <gtest/gtest.h>

#include "unit/dialects/kai_manifests.h"

namespace gantree {
namespace {

std::string queue(const std::string& name, const std::string& parent, const std::string& resources) {
  return object("scheduling.run.ai/v2", "Queue", name, "",
                "{" + (parent.empty() ? "" : "parentQueue: " + parent + ", ") + "resources: {" + resources + "}}");
}

// The cell of a queue for a resource.
const QuotaCell& cell(const World& world, const std::string& queue_name, const std::string& resource) {
  for (std::size_t i = 0; i < world.quota.size(); ++i) {
    const QuotaCell& found = world.quota.cell(make_id<QuotaTag>(i));
    if (found.queue == "Queue \"" + queue_name + "\"" && found.resource == resource) {
      return found;
    }
  }
  ADD_FAILURE() << "no cell of " << queue_name << " for " << resource;
  static const QuotaCell kNone;
  return kNone;
}

TEST(KaiQueue, CountsCpuInMilliMemoryInMegabytesAndGpusInDevices) {
  const World world(queue("q", "", "cpu: {quota: 2000, limit: 4000}, memory: {quota: 3, limit: -1}, gpu: {quota: -1}"));
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(cell(world, "q", "cpu").nominal, 2000);
  EXPECT_EQ(cell(world, "q", "cpu").borrowing_limit, 2000);
  EXPECT_EQ(cell(world, "q", "memory").nominal, 3'000'000);
  EXPECT_FALSE(cell(world, "q", "memory").borrowing_limit);
  EXPECT_EQ(cell(world, "q", "gpu").nominal, kUnlimited);
}

TEST(KaiQueue, EndsThePlanWhereAnAmountIsNegative) {
  EXPECT_NE(World(queue("q", "", "gpu: {quota: -3}")).error().find("spec.resources.gpu.quota is -3"),
            std::string::npos);
}

TEST(KaiQueue, WithoutALimitStaysWithinItsQuota) {
  const World world(queue("q", "", "gpu: {quota: 2}"));
  EXPECT_EQ(cell(world, "q", "gpu").nominal, 2);
  EXPECT_EQ(cell(world, "q", "gpu").borrowing_limit, 0);
  EXPECT_EQ(cell(world, "q", "cpu").nominal, kUnlimited) << "a resource that is not named is not limited";
}

TEST(KaiQueue, EndsThePlanWhereTheTreeIsNone) {
  EXPECT_NE(World(queue("q", "none", "")).error().find("there is no Queue \"none\""), std::string::npos);
  EXPECT_NE(World(queue("a", "b", "") + queue("b", "a", "")).error().find("it is above itself"), std::string::npos);
}

TEST(KaiQueue, WithoutResourcesLimitsNothingAndSaysSo) {
  for (const char* spec : {"{}", "null", "{resources: null}", "{resources: {}}", "{resources: {gpu: null}}"}) {
    const World world(object("scheduling.run.ai/v2", "Queue", "q", "", spec));
    ASSERT_EQ(world.error(), "") << spec;
    EXPECT_EQ(cell(world, "q", "gpu").nominal, kUnlimited) << spec;
  }
  const World world(object("scheduling.run.ai/v2", "Queue", "q", "", "{}"));
  EXPECT_NE(world.reading->notes.at(0).find("spec.resources is not given: nothing is limited"), std::string::npos);
  EXPECT_NE(World(object("scheduling.run.ai/v2", "Queue", "q", "", "{resources: 3}")).error().find("resources"),
            std::string::npos);
}

TEST(KaiQueue, EndsThePlanWhereTheTreeIsTooDeep) {
  const auto chain = [](int length) {
    std::string queues = queue("q0", "", "");
    for (int i = 1; i < length; ++i) {
      queues += queue("q" + std::to_string(i), "q" + std::to_string(i - 1), "");
    }
    return queues;
  };
  EXPECT_EQ(World(chain(64)).error(), "");
  EXPECT_EQ(World(chain(65)).error(), "test.yaml:325: Queue \"q64\": parentQueue: the tree is deeper than 64 queues");
  EXPECT_NE(World(chain(30'000)).error().find("the tree is deeper than 64 queues"), std::string::npos);
}

TEST(KaiQueue, TakesGangsOnlyWhereItHoldsNoOtherQueues) {
  const std::string queues = queue("top", "", "gpu: {quota: 8}") + queue("q", "top", "gpu: {quota: 4}");
  const auto in = [&](const std::string& name) {
    return World(queues + object("batch/v1", "Job", "a", "labels: {kai.scheduler/queue: " + name + "}",
                                 "{template: " + pod_template() + "}"))
        .rejection("a");
  };
  EXPECT_EQ(in("q"), "");
  EXPECT_NE(in("top").find("holds other queues"), std::string::npos);
  EXPECT_NE(in("other").find("there is no Queue \"other\""), std::string::npos);
}

TEST(KaiQueue, KeepsGangsThatCannotBeEvictedWithinItsQuota) {
  const auto fits = [](int pods, const std::string& label) {
    const World world(queue("top", "", "gpu: {quota: 6, limit: -1}") + queue("q", "top", "gpu: {quota: 4, limit: -1}") +
                      object("batch/v1", "Job", "a", "labels: {kai.scheduler/queue: q" + label + "}",
                             "{parallelism: " + std::to_string(pods) + ", template: " + pod_template() + "}"));
    const Submission& job = world.job("a");
    return world.quota.fits(demand_of(job.parts.at(0).at(0)), job.borrowing);
  };
  EXPECT_TRUE(fits(5, ""));
  for (const char* firm : {", priorityClassName: build", ", kai.scheduler/preemptibility: non-preemptible"}) {
    EXPECT_TRUE(fits(4, firm)) << firm;
    EXPECT_FALSE(fits(5, firm)) << firm;
  }
}

TEST(KaiQueue, MeasuresGangsThatCannotBeEvictedOnlyByOthersOfTheirKind) {
  const auto fits = [](const std::string& running) {
    const World world(queue("q", "", "gpu: {quota: 1, limit: -1}") + "---\n" + kai_node("n1", "z", "r") +
                      object("v1", "Pod", "p", "labels: {kai.scheduler/queue: q" + running + "}",
                             "{schedulerName: kai-scheduler, nodeName: n1, containers: [{name: c, resources: "
                             "{requests: {nvidia.com/gpu: 1}}}]}") +
                      object("batch/v1", "Job", "a", "labels: {kai.scheduler/queue: q, priorityClassName: build}",
                             "{template: " + pod_template() + "}"));
    const Submission& job = world.job("a");
    return world.quota.fits(demand_of(job.parts.at(0).at(0)), job.borrowing);
  };
  EXPECT_TRUE(fits("")) << "what can be evicted is in nobody's way";
  EXPECT_FALSE(fits(", kai.scheduler/preemptibility: non-preemptible"));
}

TEST(KaiQueue, IsUsedByWhatRuns) {
  const World world(queue("q", "", "gpu: {quota: 4, limit: -1}") + "---\n" + kai_node("n1", "z", "r") +
                    object("v1", "Pod", "p", "labels: {kai.scheduler/queue: q}",
                           "{schedulerName: kai-scheduler, nodeName: n1, containers: [{name: c, resources: {requests: "
                           "{nvidia.com/gpu: 1}}}]}"));
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(cell(world, "q", "gpu").used, 1);
}

}  // namespace
}  // namespace gantree
