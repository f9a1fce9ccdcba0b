// Time of one placement: place, book, give back. `make bench` runs it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <memory>

#include "bench_cluster.h"

namespace gantree {
namespace {

// Clusters are built once and shared: every benchmark leaves them as they were.
BenchCluster& cluster_of(int nodes) {
  static std::map<int, std::unique_ptr<BenchCluster>> clusters;
  auto& cluster = clusters[nodes];
  if (cluster == nullptr) {
    cluster = bench_cluster(bench_input(nodes));
  }
  return *cluster;
}

void place(benchmark::State& state, BenchCluster& bench, const Gang& gang) {
  Engine& engine = bench.cluster.engine();
  bool placed = engine.place(gang).placement.has_value();  // the shape is known from now on
  for (auto _ : state) {
    const Outcome outcome = engine.place(gang);
    placed = outcome.placement.has_value();
    if (placed) {
      engine.take(gang, *outcome.placement);
      engine.give(gang, *outcome.placement);
    }
  }
  state.SetLabel(placed ? "placed" : "refused");
}

void new_shape(benchmark::State& state, int nodes) {
  BenchCluster& bench = cluster_of(nodes);
  Gang gang = bench_gang(bench, BenchAsk::kRequiredRack, 64, 1);
  std::int64_t memory = 1;
  for (auto _ : state) {
    gang.root.pod_sets.front().shape.requests.set(ResourceNames::kMemory, ++memory);
    benchmark::DoNotOptimize(bench.cluster.engine().place(gang));
  }
}

void build(benchmark::State& state, int nodes) {
  const BenchInput input = bench_input(nodes);
  for (auto _ : state) {
    auto bench = bench_cluster(input);
    benchmark::DoNotOptimize(bench->cluster.engine().tree(bench->topology));
  }
}

void node_changes(benchmark::State& state, int nodes) {
  BenchCluster& bench = cluster_of(nodes);
  Engine& engine = bench.cluster.engine();
  const Gang gang = bench_gang(bench, BenchAsk::kRequiredRack, 64, 1);
  bool cordon = false;
  for (auto _ : state) {
    Node node = bench.cluster.inventory().node(NodeId{7});
    node.unschedulable = cordon = !cordon;
    bench.cluster.upsert_node(std::move(node));
    benchmark::DoNotOptimize(engine.place(gang));
  }
}

void register_all() {
  for (const int nodes : {1000, 10'000, 100'000}) {
    const std::string size = fmt::format("{}k", nodes / 1000);
    const auto add = [&](const std::string& name, benchmark::TimeUnit unit, auto run) {
      benchmark::RegisterBenchmark(name.c_str(), run)->Unit(unit);
    };
    for (const BenchAsk ask : kAllAsks) {
      for (const int gpus : {1, 8}) {
        for (const int pods : {8, 64, 512, 4096}) {
          add(fmt::format("place/{}/{}/gpus:{}/pods:{}", size, to_string(ask), gpus, pods), benchmark::kMicrosecond,
              [=](benchmark::State& state) {
                BenchCluster& bench = cluster_of(nodes);
                place(state, bench, bench_gang(bench, ask, pods, gpus));
              });
        }
      }
    }
    for (const BenchAsk ask : {BenchAsk::kRequiredRack, BenchAsk::kPreferredRack}) {
      for (const int workers : {7, 63, 511}) {
        add(fmt::format("place_group/{}/{}/workers:{}", size, to_string(ask), workers), benchmark::kMicrosecond,
            [=](benchmark::State& state) {
              BenchCluster& bench = cluster_of(nodes);
              place(state, bench, bench_group(bench, ask, workers));
            });
      }
    }
    for (const BenchGroups& what : bench_groups(cluster_of(1000))) {
      add(fmt::format("place_groups/{}/{}", size, what.name), benchmark::kMicrosecond, [=](benchmark::State& state) {
        BenchCluster& bench = cluster_of(nodes);
        for (const BenchGroups& here : bench_groups(bench)) {
          if (here.name == what.name) {
            place(state, bench, here.gang);
          }
        }
      });
    }
    add("new_shape/" + size, benchmark::kMicrosecond, [=](benchmark::State& state) { new_shape(state, nodes); });
    add("node_changes/" + size, benchmark::kMicrosecond, [=](benchmark::State& state) { node_changes(state, nodes); });
    add("build/" + size, benchmark::kMillisecond, [=](benchmark::State& state) { build(state, nodes); });
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
