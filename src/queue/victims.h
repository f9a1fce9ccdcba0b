// Who may be evicted for whom: docs/decisions/0007-one-order.md has the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/decision.h"
#include "model/running.h"
#include "queue/quota.h"
#include "queue/submission.h"

namespace gantree {

struct VictimCandidate {
  std::size_t position = 0;  // among the running gangs
  EvictionReason reason = EvictionReason::kPreempted;
};

// The running gangs that may be evicted so that a submission starts with that demand on quota, by ascending
// position. Any subset of them may go.
[[nodiscard]] std::vector<VictimCandidate> victim_candidates(const Quota& quota, const Submission& submission,
                                                             const QuotaDemand& demand,
                                                             std::span<const RunningGang> running);

}  // namespace gantree
