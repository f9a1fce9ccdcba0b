// The pod grouper: from workloads to the gangs that KAI would make of them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dialects/kai/draft.h"
#include "dialects/kai/group_spec.h"

namespace gantree::kai {

// The gangs of a workload that speaks for itself: one, or one for each of its parts (a Deployment's pods, a
// LeaderWorkerSet's replicas). `bound` are its pods that run; what is left to ask for is in the drafts. None where
// nothing is.
[[nodiscard]] std::vector<Draft> group_workload(const Workload& workload, std::span<const PodRecord* const> bound,
                                                Inventory& inventory);

// One part of a workload on a live cluster, whatever of it runs.
[[nodiscard]] Draft draft_live(const Workload& workload, const LivePods& live);

// The gang of a pod that a divided workload (a Deployment, a LeaderWorkerSet) made; nothing where the workload is
// one gang.
[[nodiscard]] std::optional<GangKey> part_of(const Workload& workload, const PodRecord& pod);

// A workload that the pod grouper is told to leave alone, and that joins no PodGroup: it waits.
[[nodiscard]] Draft draft_ungrouped(const Workload& workload);

// A draft with all that does not depend on the kind: key, standing, queue. Its root is empty.
[[nodiscard]] Draft draft_for(const Workload& workload);

}  // namespace gantree::kai
