#include "bench_running.h"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace gantree {

namespace {

RunningGang started(Engine& engine, const Gang& gang, const Placement& placement) {
  RunningGang running;
  running.key = gang.key;
  engine.take(gang, placement);
  for (const HostShare& share : placement.pod_sets.front()) {
    running.holdings.push_back({share.node, gang.root.pod_sets.front().shape.requests, share.count});
  }
  return running;
}

// Groups of a leader and its workers, each in one rack, all in one block.
Gang nested_in_block(const BenchCluster& bench, int groups, int workers) {
  Gang gang = bench_gang(bench, BenchAsk::kRequiredBlock, 1, 1);
  gang.root.constraint = gang.root.pod_sets.front().constraint;
  gang.root.pod_sets.clear();
  for (int g = 0; g < groups; ++g) {
    Group group = bench_group(bench, BenchAsk::kRequiredRack, workers).root;
    group.name = fmt::format("group-{}", g);
    gang.root.groups.push_back(std::move(group));
  }
  return gang;
}

}  // namespace

BenchRunning bench_running(int nodes, std::uint64_t seed) {
  BenchRunning running;
  BenchInput input = bench_input(nodes);
  for (BenchInput::Host& host : input.hosts) {
    host.busy_gpus = 0;
  }
  running.bench = bench_cluster(input);
  for (int budget = 0; budget < 100; ++budget) {
    running.budgets.push_back({fmt::format("default/budget-{}", budget), 8});
  }
  // A GPU in each rack belongs to no gang, so that no rack can be had whole.
  Inventory& inventory = running.bench->cluster.inventory();
  for (int node = 0; node < nodes; node += 32) {
    Amounts one;
    one.set(running.bench->gpu, 1);
    inventory.take(make_id<NodeTag>(static_cast<std::size_t>(node)), one, 1);
  }
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::uint64_t most) { return static_cast<int>(random() % (most + 1)); };
  Engine& engine = running.bench->cluster.engine();
  const auto wanted = static_cast<std::size_t>(nodes / 2);
  for (int i = 0; running.gangs.size() < wanted && i < 2 * nodes; ++i) {
    const int gpus = 1 << up_to(3);
    Gang gang = bench_gang(*running.bench, BenchAsk::kPreferredRack, up_to(27) / gpus + 1, gpus);
    gang.key.name = fmt::format("running-{:05}", i);
    const Outcome outcome = engine.place(gang);
    if (!outcome.placement) {
      continue;
    }
    RunningGang placed = started(engine, gang, *outcome.placement);
    placed.priority = up_to(9);
    placed.started_seconds = 1'700'000'000 + up_to(1'000'000);
    placed.evictable = i % 5 != 0;
    if (up_to(3) == 0) {
      placed.budgets.emplace_back(BudgetId{static_cast<std::uint32_t>(up_to(99))}, placed.pods());
    }
    running.gangs.push_back(std::move(placed));
  }
  for (const RunningGang& gang : running.gangs) {
    running.candidates.push_back(&gang);
  }
  return running;
}

std::vector<BenchPreemption> bench_preemptions(const BenchRunning& running) {
  const BenchCluster& bench = *running.bench;
  std::vector<BenchPreemption> all;
  const auto add = [&](const std::string& name, Gang gang) {
    gang.key.name = "preemptor";
    all.push_back({name, std::move(gang), {}});
  };
  add("rack/pods:64/gpus:1", bench_gang(bench, BenchAsk::kRequiredRack, 64, 1));
  add("rack/pods:160/gpus:1", bench_gang(bench, BenchAsk::kRequiredRack, 160, 1));
  add("rack/pods:16/gpus:8", bench_gang(bench, BenchAsk::kRequiredRack, 16, 8));
  add("block/pods:64/gpus:8", bench_gang(bench, BenchAsk::kRequiredBlock, 64, 8));
  add("block/pods:1024/gpus:1", bench_gang(bench, BenchAsk::kRequiredBlock, 1024, 1));
  add("slices/pods:1024/gpus:1", bench_gang(bench, BenchAsk::kSlices, 1024, 1));
  add("anywhere/pods:64/gpus:8", bench_gang(bench, BenchAsk::kUnconstrained, 64, 8));
  add("group_in_rack/workers:127", bench_group(bench, BenchAsk::kRequiredRack, 127));
  add("group_in_block/workers:511", bench_group(bench, BenchAsk::kRequiredBlock, 511));
  add("nested_in_block/groups:4/workers:63", nested_in_block(bench, 4, 63));
  add("hopeless_rack/pods:32/gpus:8", bench_gang(bench, BenchAsk::kRequiredRack, 32, 8));
  add("hopeless_block/pods:512/gpus:8", bench_gang(bench, BenchAsk::kRequiredBlock, 512, 8));
  add("hopeless_group/workers:254", bench_group(bench, BenchAsk::kRequiredRack, 254));
  // A queue of every third gang must give back 64 pods, wherever they run.
  const auto reclaims = [&running](std::span<const std::size_t> gone) {
    std::int64_t pods = 0;
    for (const std::size_t i : gone) {
      pods += i % 3 == 0 ? running.gangs[i].pods() : 0;
    }
    return pods >= 64;
  };
  add("quota/pods:1", bench_gang(bench, BenchAsk::kRequiredRack, 1, 1));
  all.back().admits = reclaims;
  add("quota_and_rack/pods:64/gpus:1", bench_gang(bench, BenchAsk::kRequiredRack, 64, 1));
  all.back().admits = reclaims;
  return all;
}

PreemptionAnswer preempt(BenchRunning& running, const BenchPreemption& what) {
  return find_victims(running.bench->cluster.engine(), {what.gang, running.candidates, running.budgets, what.admits});
}

}  // namespace gantree
