// The ways to start a workload: flavors for its pod sets, and what follows from
// them: node labels, tolerations, topology levels, quota.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "dialects/dialects.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/job_request.h"
#include "queue/submission.h"

namespace gantree::kueue {

// More combinations of flavors are not tried.
inline constexpr std::size_t kMaxAlternatives = 64;

// With a queue: every combination of its flavors that suits the pods, in lexicographic order of the
// queue's own. Pod sets of one group share their flavors. Fails, in one sentence with file:line,
// where a resource is not covered or no flavor suits.
[[nodiscard]] Result<std::vector<Alternative>> alternatives_in_queue(const JobRequest& workload,
                                                                     const ClusterQueue& queue, Intake& intake);

// Without: one alternative, or two where a job that asks for no topology may also use nodes outside
// the only one there is. Fails where the topology meant cannot be told.
[[nodiscard]] Result<std::vector<Alternative>> alternatives_without_queue(const JobRequest& workload,
                                                                          const Setup& setup, Intake& intake);

// What a workload that runs already uses of its queue. Which flavors those are is told by the node
// labels in its templates; the first where they tell nothing.
[[nodiscard]] QuotaDemand quota_used(const JobRequest& workload, const ClusterQueue& queue);

}  // namespace gantree::kueue
