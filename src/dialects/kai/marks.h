// By what a workload or a pod is known to speak KAI.
#pragma once

#include <string_view>

#include "dialects/workloads/workload.h"
#include "json/value.h"

namespace gantree::kai {

// Whether one of these labels or annotations is the family's. The map may be absent.
[[nodiscard]] bool has_marks(json::Value map);
// The same of pods and of the Jobs that make them.
[[nodiscard]] bool has_marks(const PodTemplate& pods);
// Whether any pods of the workload name that scheduler.
[[nodiscard]] bool scheduled_by(const Workload& workload, std::string_view scheduler);
// Whether it, its pods or its child Jobs carry marks, or its pods name KAI's scheduler.
[[nodiscard]] bool is_marked(const Workload& workload);
// Whether annotations tell the pod grouper to leave something alone.
[[nodiscard]] bool skips_grouper(json::Value annotations);

}  // namespace gantree::kai
