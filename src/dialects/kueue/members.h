// From workloads to the units that this family admits: a LeaderWorkerSet replica by replica, a
// Deployment pod by pod, plain pods by the group that they name, all else as it is.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "dialects/intake.h"
#include "dialects/kueue/job_request.h"

namespace gantree::kueue {

// The requests of the workloads of this family that ask, in order of the workloads; a group of pods
// stands where its first pod does. Fails where a pod template is malformed.
[[nodiscard]] Result<std::vector<JobRequest>> requests_of(const Intake& intake, Inventory& inventory);

// What plain pods that run, alone or as a group, have asked for: a pod set for each of them, at least one.
[[nodiscard]] Result<JobRequest> read_running_pods(std::span<const PodRecord* const> pods, Inventory& inventory);

// Whether a workload runs in part, and it cannot be told which of its pods are missing: it is not asked for.
[[nodiscard]] bool is_left_out(const Workload& workload);

// The group of plain pods to which a pod belongs; absent where it names none.
[[nodiscard]] json::Value pod_group_of(json::Value labels, json::Value annotations);

}  // namespace gantree::kueue
