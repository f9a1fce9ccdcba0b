// Preemption for identical pods of one GPU, where the cheapest victims can be counted exactly also
// when there are too many sets to try: a table of the least cost for every number of slots gained.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

#include "support/running_gangs.h"

namespace gantree::oracle {
namespace {

using test::Instance;
using test::NodeSpec;
using test::World;

constexpr int kRacks = 4;
constexpr int kHosts = 6;  // of a rack
constexpr int kGpus = 8;   // of a host

using Cost = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;  // priority, gangs, pods, age

struct Floor {
  std::vector<int> free = std::vector<int>(kRacks * kHosts, kGpus);  // by host
  std::vector<RunningGang> gangs;
};

Instance racks() {
  Instance cluster;
  cluster.levels = {"rack", kHostnameLabel};
  for (int host = 0; host < kRacks * kHosts; ++host) {
    NodeSpec node = test::make_node(fmt::format("n{:02}", host));
    cluster.nodes.push_back(node.label("rack", fmt::format("r{}", host / kHosts)).gpus(kGpus));
  }
  return cluster;
}

// Gangs of one to twelve pods on random hosts, mostly of one rack, until the racks are nearly full.
Floor random_floor(std::mt19937_64& random, World& world) {
  const auto up_to = [&](int most) { return static_cast<int>(random() % (static_cast<std::uint64_t>(most) + 1)); };
  Floor floor;
  const Amounts request = world.amounts({{test::kGpu, 1}, {"pods", 1}});
  for (int i = 0; i < 80; ++i) {
    RunningGang gang;
    gang.key = {.ns = "default", .name = fmt::format("g{}", i), .kind = "Job"};
    gang.priority = up_to(2);
    gang.started_seconds = 1 + up_to(50);
    const int rack = up_to(kRacks - 1);
    const bool wide = up_to(7) == 0;
    for (int pods = 1 + up_to(11); pods > 0; --pods) {
      const int host = wide ? up_to(kRacks * kHosts - 1) : rack * kHosts + up_to(kHosts - 1);
      if (floor.free[static_cast<std::size_t>(host)] > 0) {
        --floor.free[static_cast<std::size_t>(host)];
        gang.holdings.push_back({.node = *world.inventory().find(fmt::format("n{:02}", host)), .requests = request});
      }
    }
    if (!gang.holdings.empty()) {
      floor.gangs.push_back(std::move(gang));
    }
  }
  for (const RunningGang& gang : floor.gangs) {
    world.engine().restore(gang);
  }
  return floor;
}

std::optional<Cost> cheapest_in(const Floor& floor, World& world, int rack, int pods, std::int64_t priority) {
  int missing = pods;
  for (int host = rack * kHosts; host < (rack + 1) * kHosts; ++host) {
    missing -= floor.free[static_cast<std::size_t>(host)];
  }
  using Rest = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::vector<std::optional<Rest>> least(static_cast<std::size_t>(std::max(missing, 0)) + 1);
  least[0] = Rest{0, 0, 0};
  for (const RunningGang& gang : floor.gangs) {
    std::size_t gain = 0;
    for (const Holding& holding : gang.holdings) {
      const std::string& name = world.inventory().node(holding.node).name;
      gain += std::stoi(name.substr(1)) / kHosts == rack ? 1 : 0;
    }
    if (gang.priority > priority || gain == 0) {
      continue;
    }
    for (std::size_t have = least.size(); have-- > 0;) {
      if (least[have]) {
        auto [gangs, all, age] = *least[have];
        const Rest more{gangs + 1, all + gang.pods(), age - gang.started_seconds};
        auto& then = least[std::min(least.size() - 1, have + gain)];
        if (&then != &least[have] && (!then || more < *then)) {
          then = more;
        }
      }
    }
  }
  if (!least.back()) {
    return std::nullopt;
  }
  return std::tuple_cat(std::tuple(priority), *least.back());
}

// None of a lower priority suffices where the highest of the victims is needed.
std::optional<Cost> cheapest(const Floor& floor, World& world, int pods) {
  for (std::int64_t priority = 0; priority <= 2; ++priority) {
    std::optional<Cost> best;
    for (int rack = 0; rack < kRacks; ++rack) {
      const auto cost = cheapest_in(floor, world, rack, pods, priority);
      best = cost && (!best || *cost < *best) ? cost : best;
    }
    if (best) {
      return best;
    }
  }
  return std::nullopt;
}

TEST(Counted, TheVictimsOfALargeRackAreTheCheapestWhereverThatIsSaid) {
  int proven = 0;
  int found = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    World world(racks());
    const Floor floor = random_floor(random, world);
    const int pods = 8 + static_cast<int>(random() % 40);
    test::GangSpec spec{.name = "asks", .exclusive_kind = "", .root = {}};
    spec.root.pod_sets.push_back(test::make_pod_set("main", pods));
    spec.root.pod_sets[0].constraint = test::required(0);
    const Gang gang = world.gang(spec);
    if (world.engine().place(gang).placement) {
      continue;
    }
    std::vector<const RunningGang*> candidates;
    for (const RunningGang& running : floor.gangs) {
      candidates.push_back(&running);
    }
    const PreemptionAnswer answer =
        find_victims(world.engine(), {.gang = gang, .candidates = candidates, .budgets = {}, .admits = {}});
    const auto best = cheapest(floor, world, pods);
    ASSERT_EQ(answer.verdict == PreemptionVerdict::kFound, best.has_value()) << seed;
    if (best) {
      const Cost cost{answer.cost.priority, answer.cost.gangs, answer.cost.pods, answer.cost.age};
      ++found;
      proven += answer.exact ? 1 : 0;
      ASSERT_TRUE(answer.exact ? cost == *best : cost >= *best) << seed;
    }
  }
  EXPECT_GT(found, 200);
  EXPECT_GE(proven * 100, found * 95) << proven << " of " << found;
}

}  // namespace
}  // namespace gantree::oracle
