// The labels, annotations and names of the Koordinator family.
#pragma once

#include <string_view>

namespace gantree::koordinator {

inline constexpr std::string_view kFamily = "koordinator";
inline constexpr std::string_view kScheduler = "koord-scheduler";
inline constexpr std::string_view kPodGroupGroup = "scheduling.sigs.k8s.io";
inline constexpr std::string_view kSchedulingGroup = "scheduling.koordinator.sh";

// Labels by which a pod joins a gang, in this order; then the annotation kGangName.
inline constexpr std::string_view kPodGroupLabel = "pod-group.scheduling.sigs.k8s.io";
inline constexpr std::string_view kOldPodGroupLabel = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr std::string_view kOldMinAvailable = "pod-group.scheduling.sigs.k8s.io/min-available";

// Annotations of a PodGroup, or of the pods of a gang that has none.
inline constexpr std::string_view kGangPrefix = "gang.scheduling.koordinator.sh/";
inline constexpr std::string_view kGangName = "gang.scheduling.koordinator.sh/name";
inline constexpr std::string_view kMinAvailable = "gang.scheduling.koordinator.sh/min-available";
inline constexpr std::string_view kTotalNumber = "gang.scheduling.koordinator.sh/total-number";
inline constexpr std::string_view kWaitingTime = "gang.scheduling.koordinator.sh/waiting-time";
inline constexpr std::string_view kTimeout = "gang.scheduling.koordinator.sh/timeout";
inline constexpr std::string_view kMode = "gang.scheduling.koordinator.sh/mode";
inline constexpr std::string_view kGroups = "gang.scheduling.koordinator.sh/groups";
inline constexpr std::string_view kMatchPolicy = "gang.scheduling.koordinator.sh/match-policy";
inline constexpr std::string_view kOldMatchPolicy = "pod-group.scheduling.sigs.k8s.io/match-policy";
inline constexpr std::string_view kTopologySpec = "gang.scheduling.koordinator.sh/network-topology-spec";
inline constexpr std::string_view kTopologyIndex = "gang.scheduling.koordinator.sh/network-topology-index";

// Conditions of a PodGroup: whether its pods have a place, and whether it had its minimum once since its first pod got
// a node.
inline constexpr std::string_view kScheduledCondition = "Scheduled";
inline constexpr std::string_view kOnceSatisfiedCondition = "OnceSatisfied";

// Other marks of pods.
inline constexpr std::string_view kTopologySelector = "scheduling.koordinator.sh/network-topology-selector";
inline constexpr std::string_view kPreemptionPolicy = "scheduling.koordinator.sh/preemption-policy";
inline constexpr std::string_view kDisablePreemptible = "scheduling.koordinator.sh/disable-preemptible";
inline constexpr std::string_view kQuotaName = "quota.scheduling.koordinator.sh/name";
inline constexpr std::string_view kQuotaPreemptible = "quota.scheduling.koordinator.sh/preemptible";

// Topology.
inline constexpr std::string_view kTopologyKind = "ClusterNetworkTopology";
inline constexpr std::string_view kTopologyName = "default";  // the only one in use
inline constexpr std::string_view kClusterLayer = "ClusterTopologyLayer";
inline constexpr std::string_view kNodeLayer = "NodeTopologyLayer";

}  // namespace gantree::koordinator
