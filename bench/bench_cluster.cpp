#include "bench_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace gantree {

namespace {

constexpr int kHostsPerRack = 32;
constexpr int kRacksPerBlock = 16;
constexpr int kGpus = 8;
constexpr double kBusy = 0.6;

}  // namespace

BenchInput bench_input(int nodes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::binomial_distribution<int> busy(kGpus, kBusy);
  BenchInput input;
  for (int n = 0; n < nodes; ++n) {
    const int rack = n / kHostsPerRack;
    input.hosts.push_back({fmt::format("node-{:06}", n), fmt::format("block-{:04}", rack / kRacksPerBlock),
                           fmt::format("rack-{:05}", rack), busy(random)});
  }
  return input;
}

std::unique_ptr<BenchCluster> bench_cluster(const BenchInput& input) {
  auto bench = std::make_unique<BenchCluster>();
  Inventory& inventory = bench->cluster.inventory();
  Interner& strings = inventory.strings();
  bench->gpu = inventory.resources().intern("nvidia.com/gpu");
  bench->topology = bench->cluster.engine().add_topology({"default", {"block", "rack", kHostnameLabel}});
  const StringId block = strings.intern("block");
  const StringId rack = strings.intern("rack");
  const StringId hostname = strings.intern(kHostnameLabel);
  const std::vector<Label> common{{strings.intern("kubernetes.io/os"), strings.intern("linux")},
                                  {strings.intern("kubernetes.io/arch"), strings.intern("amd64")},
                                  {strings.intern("node.kubernetes.io/instance-type"), strings.intern("h100")},
                                  {strings.intern("cloud.provider.com/node-group"), strings.intern("tas")}};
  for (const BenchInput::Host& host : input.hosts) {
    Node node;
    node.name = host.name;
    node.labels = common;
    node.labels.push_back({block, strings.intern(host.block)});
    node.labels.push_back({rack, strings.intern(host.rack)});
    node.labels.push_back({hostname, strings.intern(host.name)});
    std::sort(node.labels.begin(), node.labels.end());
    node.allocatable.set(ResourceNames::kCpu, 192'000);
    node.allocatable.set(ResourceNames::kMemory, std::int64_t{2} << 40);
    node.allocatable.set(ResourceNames::kPods, 110);
    node.allocatable.set(bench->gpu, kGpus);
    bench->cluster.upsert_node(std::move(node));
    if (host.busy_gpus > 0) {
      Amounts requests;
      requests.set(bench->gpu, host.busy_gpus);
      requests.set(ResourceNames::kCpu, std::int64_t{8000} * host.busy_gpus);
      requests.set(ResourceNames::kPods, 1);
      bench->cluster.upsert_pod({"default/busy-" + host.name, host.name, requests});
    }
  }
  return bench;
}

const char* to_string(BenchAsk ask) {
  switch (ask) {
    case BenchAsk::kRequiredRack:
      return "required_rack";
    case BenchAsk::kRequiredBlock:
      return "required_block";
    case BenchAsk::kPreferredRack:
      return "preferred_rack";
    case BenchAsk::kUnconstrained:
      return "unconstrained";
    case BenchAsk::kSlices:
      return "slices_of_8_per_rack";
  }
  return "?";
}

Gang bench_gang(const BenchCluster& cluster, BenchAsk ask, int pods, int gpus_each) {
  PodSet set;
  set.name = "main";
  set.count = set.min_count = pods;
  set.shape.requests.set(cluster.gpu, gpus_each);
  set.shape.requests.set(ResourceNames::kCpu, std::int64_t{4000} * gpus_each);
  set.shape.requests.set(ResourceNames::kPods, 1);
  Constraint& constraint = set.constraint;
  constraint.packing = ask == BenchAsk::kUnconstrained ? Packing::kTightest : Packing::kPack;
  switch (ask) {
    case BenchAsk::kRequiredRack:
      constraint.required = 1;
      break;
    case BenchAsk::kRequiredBlock:
      constraint.required = 0;
      break;
    case BenchAsk::kPreferredRack:
      constraint.preferred = 1;
      break;
    case BenchAsk::kUnconstrained:
      break;
    case BenchAsk::kSlices:
      constraint.slices = {{1, 8}};
      break;
  }
  Gang gang;
  gang.key = {"default", "gang", "Job"};
  gang.topology = cluster.topology;
  gang.root.pod_sets.push_back(std::move(set));
  return gang;
}

Gang bench_group(const BenchCluster& cluster, BenchAsk ask, int workers) {
  Gang gang = bench_gang(cluster, ask, workers, 1);
  gang.root.constraint = std::exchange(gang.root.pod_sets.front().constraint, {});
  PodSet leader = bench_gang(cluster, BenchAsk::kUnconstrained, 1, 2).root.pod_sets.front();
  leader.name = "leader";
  gang.root.pod_sets.push_back(std::move(leader));
  return gang;
}

std::vector<BenchGroups> bench_groups(const BenchCluster& cluster) {
  std::vector<BenchGroups> all;
  // So many groups like the root of a gang.
  const auto add = [&](const std::string& name, int groups, const Gang& one) {
    BenchGroups what{name, one};
    what.gang.exclusive_kind = "replicas";
    what.gang.root = {};
    for (int g = 0; g < groups; ++g) {
      Group group = one.root;
      group.name = fmt::format("group-{}", g);
      for (PodSet& set : group.pod_sets) {
        set.name = fmt::format("{}-{}", group.name, set.name);
      }
      what.gang.root.groups.push_back(std::move(group));
    }
    all.push_back(std::move(what));
  };
  Gang eight = bench_gang(cluster, BenchAsk::kRequiredRack, 8, 1);
  eight.root.constraint = std::exchange(eight.root.pod_sets.front().constraint, {});
  add("alike_in_racks/groups:16/pods:8", 16, eight);
  eight.root.constraint.exclusive = eight.root.constraint.required;
  add("alone_in_racks/groups:64/pods:8", 64, eight);
  add("leader_in_block/workers:511", 1, bench_group(cluster, BenchAsk::kRequiredBlock, 511));
  add("leaders_in_racks/groups:256/workers:7", 256, bench_group(cluster, BenchAsk::kRequiredRack, 7));
  return all;
}

}  // namespace gantree
