// Evictions: deletions of pods that budgets may refuse. Api thread only.
#pragma once

#include "apiserver/core.h"
#include "apiserver/task.h"

namespace gantree::apiserver {

[[nodiscard]] Task<Answer> evict_pod(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> bind_pod(Core& core, RequestPtr request);

}  // namespace gantree::apiserver
