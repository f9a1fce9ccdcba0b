// The rank of a pod in its pod set. Pure.
#pragma once

#include <optional>

#include "dialects/kueue/job_request.h"
#include "kueue/started_pod.h"

namespace gantree::kueue {

// Its index, behind those of the parts before its own. Nothing where it has none, or none that a pod set could have.
[[nodiscard]] std::optional<int> rank_in_set(const StartedPod& pod, const PodSetRequest& set);

}  // namespace gantree::kueue
