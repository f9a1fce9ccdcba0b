#include "support/large_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree::test {

LargeCluster::LargeCluster(const LargeScale& scale) : scale_(scale), engine_(inventory_) {
  gpu_ = inventory_.resources().intern("nvidia.com/gpu");
  topology_ = engine_.add_topology({"default", {"block", "rack", kHostnameLabel}});
  Interner& strings = inventory_.strings();
  for (int h = 0; h < scale.hosts; ++h) {
    const int rack = h / scale.hosts_per_rack;
    Node node;
    node.name = fmt::format("host-{:06}", h);
    node.labels = {{strings.intern("block"), strings.intern(fmt::format("block-{:04}", rack / scale.racks_per_block))},
                   {strings.intern("rack"), strings.intern(fmt::format("rack-{:05}", rack))},
                   {strings.intern(kHostnameLabel), strings.intern(node.name)}};
    std::sort(node.labels.begin(), node.labels.end());
    node.allocatable.set(ResourceNames::kCpu, std::int64_t{1000} * kCpus);
    node.allocatable.set(ResourceNames::kPods, 110);
    node.allocatable.set(gpu_, kGpus);
    inventory_.upsert(std::move(node));
  }
}

void LargeCluster::fill(int percent, Choices& choices) {
  for (int h = 0; h < hosts(); ++h) {
    int busy = 0;
    for (std::int64_t gpu = inventory_.free(host(h), gpu_); gpu > 0; --gpu) {
      busy += choices.between(1, 100) <= percent ? 1 : 0;
    }
    const PodShape one = shape(1, kCpus / kGpus);
    const auto room = std::min<std::int64_t>(busy, inventory_.room(host(h), one.requests));
    inventory_.take(host(h), one.requests, room);
  }
}

std::vector<RunningGang> LargeCluster::fill_with_gangs(Choices& choices) {
  std::vector<RunningGang> gangs;
  for (int first = 0; first < hosts();) {
    RunningGang& gang = gangs.emplace_back();
    gang.key = {"default", fmt::format("running-{:06}", gangs.size()), "Job"};
    gang.priority = choices.up_to(9);
    gang.started_seconds = 1'700'000'000 + choices.up_to(1'000'000);
    gang.evictable = !choices.one_in(10);
    // What is left of a host is for the gangs that follow.
    const auto gpus = std::min<std::int64_t>(1 << choices.up_to(3), inventory_.free(host(first), gpu_));
    const PodShape one = shape(static_cast<int>(gpus), static_cast<int>(gpus));
    const int spread = choices.between(1, 4);
    for (int h = first; h < std::min(first + spread, hosts()); ++h) {
      if (const auto room = static_cast<int>(inventory_.room(host(h), one.requests)); room > 0) {
        const int count = choices.between(1, room);
        inventory_.take(host(h), one.requests, count);
        gang.holdings.push_back({host(h), one.requests, count});
      }
    }
    while (first < hosts() && inventory_.free(host(first), gpu_) == 0) {
      ++first;
    }
  }
  return gangs;
}

PodShape LargeCluster::shape(int gpus, int cpus) const {
  PodShape shape;
  if (gpus > 0) {
    shape.requests.set(gpu_, gpus);
  }
  shape.requests.set(ResourceNames::kCpu, std::int64_t{1000} * cpus);
  shape.requests.set(ResourceNames::kPods, 1);
  return shape;
}

PodSet LargeCluster::pods(const std::string& name, int count, int gpus, int cpus) const {
  PodSet set;
  set.name = name;
  set.shape = shape(gpus, cpus);
  set.count = set.min_count = count;
  return set;
}

Gang LargeCluster::gang(Group root) const {
  Gang gang;
  gang.key = {"default", "gang", "Job"};
  gang.topology = topology_;
  gang.exclusive_kind = "gang";
  gang.root = std::move(root);
  return gang;
}

Constraint in_one(int level) {
  Constraint constraint;
  constraint.required = level;
  constraint.packing = Packing::kPack;
  return constraint;
}

Constraint alone_in_one(int level) {
  Constraint constraint = in_one(level);
  constraint.exclusive = level;
  return constraint;
}

}  // namespace gantree::test
