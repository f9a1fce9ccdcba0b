// Which pods of a gang that runs are above its minimum, and in which order they go.
#pragma once

#include <span>
#include <vector>

#include "dialects/core/objects.h"
#include "dialects/kai/group_spec.h"
#include "dialects/kai/pod_group.h"
#include "dialects/workloads/workload.h"

namespace gantree::kai {

using PodsThatRun = std::vector<const PodRecord*>;

struct Spare {
  bool has_minimum = false;
  // Each goes by itself: a pod above the minimum of its subgroup (or of all), or a subgroup above the minimum of
  // subgroups. The first go first: single pods, those with the highest names before others. Masters and leaders stay as
  // long as anybody does, and so do subgroups with one.
  std::vector<PodsThatRun> parts = {};
};

// Pods on their way out count as gone.
[[nodiscard]] Spare spare_of(const PodGroup& group, std::span<const PodRecord* const> pods);
[[nodiscard]] Spare spare_of(const Workload& workload, std::span<const PodRecord* const> pods);

}  // namespace gantree::kai
