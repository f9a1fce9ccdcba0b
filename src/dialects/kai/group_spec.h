// The PodGroup that a live cluster has for a workload: the same gangs that a plan makes of it, in the words of KAI's
// API.
//
// A plan knows all pods of a workload from its templates. A live cluster sees them come, some of them only when others
// run; what would wait for pods that nobody makes asks for those that can be there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "dialects/core/objects.h"
#include "dialects/kai/levels.h"
#include "dialects/workloads/workload.h"

namespace gantree::kai {

// What the pods there are tell, and the workload does not.
struct LivePods {
  bool leader_has_node = false;  // of one replica of a LeaderWorkerSet
  bool has_launcher = false;     // of an MPIJob
};

// Some of the pods of one template.
struct LeafPods {
  const PodTemplate* pods = nullptr;
  int replica = -1;  // of one replica; -1: of all
  int first = 0;     // from that index on
  int count = 0;
};

struct SubGroupSpec {
  std::string name;
  std::string parent = {};             // "": the PodGroup itself
  std::optional<int> min_member = {};  // of leaves
  std::optional<int> min_groups = {};  // of all others
  LevelRequest levels = {};
  LeafPods pods = {};  // of leaves
};

struct GroupSpec {
  std::optional<int> min_member = {};
  std::optional<int> min_groups = {};
  LevelRequest levels = {};
  std::vector<SubGroupSpec> subgroups = {};  // parents before their children
};

// Of one part of the workload: a pod of a Deployment, a replica of a LeaderWorkerSet, else all of it. Its values point
// into the workload. Fails with one sentence where the workload asks for what cannot be.
[[nodiscard]] Result<GroupSpec> group_spec(const Workload& workload, const LivePods& live);

// The leaf of a pod among `spec.subgroups`, by role, replica and index. Where labels do not tell, the first of the
// right role that has room: `taken` counts the pods that each holds. Nothing where there is none.
[[nodiscard]] std::optional<std::size_t> leaf_of(const Workload& workload, const GroupSpec& spec, const PodRecord& pod,
                                                 std::span<const int> taken);

// A name as subgroups and labels may have it, of whatever text; equal texts have equal names.
[[nodiscard]] std::string subgroup_name(std::string_view text);

}  // namespace gantree::kai
