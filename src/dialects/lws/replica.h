// One group of a LeaderWorkerSet as a gang.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "dialects/intake.h"
#include "dialects/lws/policy.h"
#include "model/gang.h"
#include "model/running.h"

namespace gantree::lws {

// A group's pods that have a node, by their index in the group.
using BoundMembers = std::map<int, const PodRecord*>;

// The levels that a policy speaks of, in a topology that has them.
struct Levels {
  TopologyId topology;
  std::optional<int> replica;
  std::optional<int> subgroup;
};
// Nothing where the policy asks for none.
[[nodiscard]] std::optional<Levels> levels_of(const Policy& policy, Engine& engine);

// The gang of group number `index`: leader and workers, less those that are bound; subgroups nested
// in it. Has no pods where all are bound. Fails where a template is malformed.
[[nodiscard]] Result<Gang> gang_of_replica(const Workload& workload, const Policy& policy, int index,
                                           const BoundMembers& bound, TopologyId open_topology, Intake& intake);

// The domains that a group and its subgroups have to themselves by the pods that run.
[[nodiscard]] std::vector<ExclusiveHold> holds_of(const Workload& workload, const Policy& policy,
                                                  const BoundMembers& bound, Intake& intake);

// The same where only the pods are in the input: they carry the annotation, too.
[[nodiscard]] std::vector<ExclusiveHold> holds_by_annotation(std::span<const PodRecord* const> pods, Intake& intake);

// The name of the leader of a group, which is the name of the gang.
[[nodiscard]] std::string leader_name(const Workload& workload, int index);

// Groups of one namespace exclude each other.
[[nodiscard]] std::string exclusive_kind(const Workload& workload);

}  // namespace gantree::lws
