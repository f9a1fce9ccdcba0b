// What of a pod template must not hold quota: pods that nobody could make, and what is not counted.
#pragma once

#include <optional>
#include <string>

#include "json/value.h"

namespace gantree::kueue {

// Why a job with pods of this spec cannot wait in a queue, in one sentence:
//   - a container, or the pod, asks for more of a resource than its own limit: the API server would refuse every pod;
//   - it has resource claims (DRA), which are not counted against any quota yet.
// Nothing where it can. What is malformed is for others to say.
[[nodiscard]] std::optional<std::string> unfit_pod(json::Value spec);
// The first of these alone.
[[nodiscard]] std::optional<std::string> above_limits(json::Value spec);

}  // namespace gantree::kueue
