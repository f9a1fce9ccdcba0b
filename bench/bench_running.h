// Running gangs on the bench cluster, and gangs of high priority that ask for their room.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench_cluster.h"
#include "engine/preempt.h"

namespace gantree {

// An empty cluster filled by gangs of 1 to 28 pods of 1, 2, 4 or 8 GPUs, one gang for every two
// nodes, each as close together as it got. Every fifth stays whatever asks.
struct BenchRunning {
  std::unique_ptr<BenchCluster> bench;
  std::vector<RunningGang> gangs;
  std::vector<const RunningGang*> candidates;
  std::vector<DisruptionBudget> budgets;
};
[[nodiscard]] BenchRunning bench_running(int nodes, std::uint64_t seed = 1);

struct BenchPreemption {
  std::string name;
  Gang gang;
  std::function<bool(std::span<const std::size_t>)> admits;
};
[[nodiscard]] std::vector<BenchPreemption> bench_preemptions(const BenchRunning& running);
[[nodiscard]] PreemptionAnswer preempt(BenchRunning& running, const BenchPreemption& what);

}  // namespace gantree
