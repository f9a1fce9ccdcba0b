// The cluster that benchmarks run on: blocks of 16 racks of 32 hosts of 8 GPUs,
// 60 % of the GPUs in use, each host by its own roll of the dice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "state/cluster.h"

namespace gantree {

struct BenchCluster {
  Cluster cluster;
  TopologyId topology;
  ResourceId gpu;
};

// Nodes and pods as values, so that building the state can be timed alone.
struct BenchInput {
  struct Host {
    std::string name;
    std::string block;
    std::string rack;
    int busy_gpus = 0;
  };
  std::vector<Host> hosts;
};

[[nodiscard]] BenchInput bench_input(int nodes, std::uint64_t seed = 1);
[[nodiscard]] std::unique_ptr<BenchCluster> bench_cluster(const BenchInput& input);

enum class BenchAsk : std::uint8_t { kRequiredRack, kRequiredBlock, kPreferredRack, kUnconstrained, kSlices };
inline constexpr BenchAsk kAllAsks[] = {BenchAsk::kRequiredRack, BenchAsk::kRequiredBlock, BenchAsk::kPreferredRack,
                                        BenchAsk::kUnconstrained, BenchAsk::kSlices};
[[nodiscard]] const char* to_string(BenchAsk ask);
[[nodiscard]] Gang bench_gang(const BenchCluster& cluster, BenchAsk ask, int pods, int gpus_each);
// A leader of two GPUs and its workers as one group in a rack or block.
[[nodiscard]] Gang bench_group(const BenchCluster& cluster, BenchAsk ask, int workers);

// Gangs of many groups, each with a name to ask for it by.
struct BenchGroups {
  std::string name;
  Gang gang;
};
[[nodiscard]] std::vector<BenchGroups> bench_groups(const BenchCluster& cluster);

}  // namespace gantree
