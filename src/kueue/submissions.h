// Workloads as the cycle takes them.
#pragma once

#include "kueue/ledger.h"
#include "queue/submission.h"

namespace gantree::kueue {

// What a Workload asks for under the setup of now. Kept in the entry until either changes.
const Submission& submission_for(Entry& entry, const Ledger& ledger);

}  // namespace gantree::kueue
