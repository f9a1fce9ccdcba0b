// What the Workloads of one namespace may cost: counted in tries, so that the machine does not matter.
#include <gtest/gtest.h>

#include <ctime>

#include "unit/kueue/job_world.h"
#include "unit/kueue/queue_world.h"

namespace gantree::kueue {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Tenants : QueueWorld {
  Tenants() {
    flavor("default");
    cluster_queue("shared", 8);
    cluster_queue("others", 8);
    local_queue("evil", "q", "shared");
    local_queue("victim", "q", "shared");
    local_queue("victim", "own", "others");
    settle();
  }
  // Pod sets of one template each, no two workloads alike.
  void put_workload(const std::string& ns, const std::string& name, const std::string& queue, int sets, int cores,
                    int unlike = 0) {
    std::string pod_sets;
    for (int i = 0; i < sets; ++i) {
      pod_sets += fmt::format(
          R"({}{{"name":"s{}","count":1,"template":{{"spec":{{"tolerations":[{{"key":"k{}","operator":"Exists"}}],)"
          R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}})",
          i == 0 ? "" : ",", i, unlike, cores);
    }
    put("Workload", ns, name, fmt::format(R"({{"queueName":"{}","podSets":[{}]}})", queue, pod_sets));
  }
  Step cycle() {
    now += milliseconds(50);
    Step step = controller.step(now);
    most_tries = std::max(most_tries, step.figures.gangs_tried);
    wake = step.wake;
    return step;
  }
  [[nodiscard]] bool admitted(const std::string& ns, const std::string& name) {
    return controller.workloads().at(ns + "/" + name).admission().has_value();
  }

  int most_tries = 0;
};

TEST(KueueTenantBudget, ThousandsOfUnlikeWorkloadsHoldNobodyUp) {
  Tenants world;
  constexpr int kWorkloads = 2000;
  for (int i = 0; i < kWorkloads; ++i) {
    world.put_workload("evil", fmt::format("w{}", i), "q", 8, 2, i);
  }
  static_cast<void>(world.cycle());
  world.put_workload("victim", "own", "own", 1, 1);
  static_cast<void>(world.cycle());
  EXPECT_TRUE(world.admitted("victim", "own"));
  int cycles = 0;
  for (; world.wake && *world.wake <= world.now && cycles < 100; ++cycles) {
    static_cast<void>(world.cycle());
  }
  EXPECT_LE(world.most_tries, 600);
  EXPECT_LT(cycles, 100);
  for (int i = 0; i < kWorkloads; ++i) {
    EXPECT_TRUE(world.controller.workloads().at(fmt::format("evil/w{}", i)).verdict.has_value()) << i;
  }
}

// Each is a line of its own. What one step costs must not grow with the square of the lines.
TEST(KueueTenantBudget, ManyUnlikeWorkloadsCostAStepLittleEach) {
  Tenants world;
  constexpr int kWorkloads = 20'000;
  for (int i = 0; i < kWorkloads; ++i) {
    world.put_workload("evil", fmt::format("w{}", i), "q", 1, 9, i);
  }
  const std::clock_t began = std::clock();  // of this process, whatever else the machine does
  static_cast<void>(world.cycle());
  world.put_workload("victim", "own", "own", 1, 1);
  static_cast<void>(world.cycle());
  EXPECT_TRUE(world.admitted("victim", "own"));
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 10);
}

TEST(KueueTenantBudget, AJobThatIsTooLargeIsNotKeptAndTold) {
  JobWorld world(1, 1, 8);
  JobState large;
  large.marks = R"("notes":")" + std::string(300'000, 'x') + "\"";
  world.job("large", large);
  for (const Order& order : world.step()) {
    EXPECT_NE(order.write.object.kind, "Workload");
  }
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_NE(world.events.front().write.body.find("more than the 256 KiB"), std::string::npos);
}

}  // namespace
}  // namespace gantree::kueue
