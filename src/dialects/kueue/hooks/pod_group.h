// The groups of pods that serving workloads are made of, by name.
#pragma once

#include <string>
#include <string_view>

namespace gantree::kueue {

// Who holds a pod back through its template: values of the annotation pod-suspending-parent.
inline constexpr std::string_view kOfDeployment = "deployment";
inline constexpr std::string_view kOfReplicaSet = "replicaset";
inline constexpr std::string_view kOfStatefulSet = "statefulset";
inline constexpr std::string_view kOfLeaderWorkerSet = "leaderworkerset.x-k8s.io/leaderworkerset";

// All pods of a StatefulSet, and those of one replica of a LeaderWorkerSet. Fit for a label: names that would be too
// long are cut, with a hash of the whole.
[[nodiscard]] std::string stateful_set_group(std::string_view name);
[[nodiscard]] std::string replica_group(std::string_view set, std::string_view index);

}  // namespace gantree::kueue
