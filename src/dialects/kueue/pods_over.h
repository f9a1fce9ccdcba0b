// Pods of a job that are over and will not be made again, by its own status: queued again, it asks for the others.
#pragma once

#include <string_view>

#include "dialects/workloads/workload.h"
#include "json/decode.h"

namespace gantree::kueue {

// Of the pods that a Job may have at once: those beyond what is left of its completions. `failed` lists indexes, as in
// "1,3-5".
[[nodiscard]] int pods_over(int pods, int completions, int succeeded, std::string_view failed);

// Of a template of a Job or a JobSet; 0 of other kinds.
[[nodiscard]] int pods_over(json::Reader& read, const Workload& workload, const PodTemplate& part);

}  // namespace gantree::kueue
