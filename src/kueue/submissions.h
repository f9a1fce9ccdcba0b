// Workloads as the cycle takes them.
#pragma once

#include <cstdint>

#include "kueue/ledger.h"
#include "queue/submission.h"

namespace gantree::kueue {

// Since when a Workload has its place in its queue: since its creation, or since it was evicted because its pods were
// not ready in time.
[[nodiscard]] std::int64_t queued_seconds(const WorkloadObject& workload, const Ledger& ledger);

// What a Workload asks for under the setup of now. Kept in the entry until either changes.
const Submission& submission_for(Entry& entry, const Ledger& ledger);

}  // namespace gantree::kueue
