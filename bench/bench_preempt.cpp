// Time of one preemption decision. `make bench` runs it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>

#include "bench_running.h"

namespace gantree {
namespace {

BenchRunning& running_on(int nodes) {
  static std::map<int, BenchRunning> clusters;
  auto [it, fresh] = clusters.try_emplace(nodes);
  if (fresh) {
    it->second = bench_running(nodes);
  }
  return it->second;
}

std::string label(const PreemptionAnswer& answer) {
  switch (answer.verdict) {
    case PreemptionVerdict::kNone:
      return "none";
    case PreemptionVerdict::kGaveUp:
      return "gave up";
    case PreemptionVerdict::kFound:
      break;
  }
  return fmt::format("{} victims, {} pods, priority {}, {} over budgets{}", answer.cost.gangs, answer.cost.pods,
                     answer.cost.priority, answer.cost.over_budget, answer.exact ? ", proven" : "");
}

void register_all() {
  for (const int nodes : {1000, 10'000}) {
    BenchRunning& running = running_on(nodes);
    for (const BenchPreemption& what : bench_preemptions(running)) {
      const std::string name = fmt::format("preempt/{}k/{}", nodes / 1000, what.name);
      benchmark::RegisterBenchmark(name.c_str(), [what, &running](benchmark::State& state) {
        PreemptionAnswer answer = preempt(running, what);  // the shape is known from now on
        for (auto _ : state) {
          answer = preempt(running, what);
        }
        state.SetLabel(label(answer));
      })->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace gantree

int main(int argc, char** argv) {
  gantree::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
