// The pod grouper: from workloads to the gangs that KAI would make of them.
#pragma once

#include <vector>

#include "dialects/kai/draft.h"

namespace gantree::kai {

// The gangs of a workload that speaks for itself: one, or one for each of its parts (a Deployment's pods, a
// LeaderWorkerSet's replicas). None where it has no pods at all.
[[nodiscard]] std::vector<Draft> group_workload(const Workload& workload);

// A draft with all that does not depend on the kind: key, standing, queue. Its root is empty.
[[nodiscard]] Draft draft_for(const Workload& workload);

}  // namespace gantree::kai
