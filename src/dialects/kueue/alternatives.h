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

// So many ways are listed for a pod set, or for a group of them. (Flavors of several resource groups multiply.)
inline constexpr std::size_t kMostWays = 512;

// By part: a pod set, or those of one group, which share their flavors.
using WaysByPart = std::vector<std::vector<Alternative>>;

// With a queue: all its flavors that suit the pods, in its order; where several resource groups are in use, the first
// of them counts most. One more than kMostWays tells that there are more. Fails, in one sentence with file:line, where
// a resource is not covered or no flavor suits.
[[nodiscard]] Result<WaysByPart> ways_in_queue(const JobRequest& workload, const ClusterQueue& queue, Intake& intake);

// Without: one way, or two where a job that asks for no topology may also use nodes outside
// the only one there is. Fails where the topology meant cannot be told.
[[nodiscard]] Result<WaysByPart> ways_without_queue(const JobRequest& workload, const Setup& setup, Intake& intake);

// What a workload that runs already uses of its queue. Which flavors those are is told by the node
// labels in its templates; the first where they tell nothing.
[[nodiscard]] QuotaDemand quota_used(const JobRequest& workload, const ClusterQueue& queue);

}  // namespace gantree::kueue
