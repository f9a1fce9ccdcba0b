// The labels and annotations of the KAI family.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace gantree::kai {

inline constexpr std::string_view kFamily = "kai";
inline constexpr std::string_view kTopologyGroup = "kai.scheduler";
inline constexpr std::string_view kSchedulingGroup = "scheduling.run.ai";
inline constexpr std::string_view kPrefix = "kai.scheduler/";
inline constexpr std::string_view kPodGroupVersion = "v2alpha2";
inline constexpr std::string_view kScheduler = "kai-scheduler";
inline constexpr std::string_view kOurScheduler = "gantree";

// Annotations on what makes the pods; on a JobSet's replicatedJob and on a Ray group also on the template.
inline constexpr std::string_view kTopology = "kai.scheduler/topology";
inline constexpr std::string_view kRequired = "kai.scheduler/topology-required-placement";
inline constexpr std::string_view kPreferred = "kai.scheduler/topology-preferred-placement";
inline constexpr std::string_view kMinMember = "kai.scheduler/batch-min-member";
inline constexpr std::string_view kSkipPodGrouper = "kai.scheduler/skip-podgrouper";
inline constexpr std::string_view kPreemptionDelay = "kai.scheduler/preemption-delay";
inline constexpr std::string_view kLastEviction = "kai.scheduler/last-eviction-timestamp";  // on PodGroups
inline constexpr std::string_view kStalenessGrace = "kai.scheduler/staleness-grace-period";
inline constexpr std::string_view kPlacement = "gantree.dev/placement";  // ours: pack, spread or balanced

// Annotations on a pod template.
inline constexpr std::string_view kSegmentSize = "kai.scheduler/segment-size";
inline constexpr std::string_view kSegmentRequired = "kai.scheduler/segment-topology-required-placement";
inline constexpr std::string_view kSegmentPreferred = "kai.scheduler/segment-topology-preferred-placement";
inline constexpr std::string_view kPodGroupName = "pod-group-name";
inline constexpr std::string_view kGpuFraction = "gpu-fraction";
inline constexpr std::string_view kGpuMemory = "gpu-memory";

// All annotations and labels of the prefix that are known here, or that others write for their own use.
inline constexpr std::string_view kKnown[] = {"kai.scheduler/topology",
                                              "kai.scheduler/topology-required-placement",
                                              "kai.scheduler/topology-preferred-placement",
                                              "kai.scheduler/batch-min-member",
                                              "kai.scheduler/skip-podgrouper",
                                              "kai.scheduler/segment-size",
                                              "kai.scheduler/segment-topology-required-placement",
                                              "kai.scheduler/segment-topology-preferred-placement",
                                              "kai.scheduler/subgroup-name",
                                              "kai.scheduler/queue",
                                              "kai.scheduler/node-pool",
                                              "kai.scheduler/preemptibility",
                                              "kai.scheduler/top-owner-metadata",
                                              "kai.scheduler/last-start-timestamp",
                                              "kai.scheduler/last-eviction-timestamp",
                                              "kai.scheduler/stale-podgroup-timestamp"};

// On PodGroups that the grouper made: for whom, in YAML.
inline constexpr std::string_view kTopOwner = "kai.scheduler/top-owner-metadata";

// Labels.
inline constexpr std::string_view kSubgroup = "kai.scheduler/subgroup-name";  // on pods
inline constexpr std::string_view kQueue = "kai.scheduler/queue";
inline constexpr std::string_view kOldQueue = "runai/queue";
inline constexpr std::string_view kProject = "project";
inline constexpr std::string_view kNodePool = "kai.scheduler/node-pool";
inline constexpr std::string_view kPriorityClass = "priorityClassName";
inline constexpr std::string_view kRayPriorityClass = "ray.io/priority-class-name";
inline constexpr std::string_view kPreemptibility = "kai.scheduler/preemptibility";

// More gangs than this are not made of one workload: no cluster starts so many.
inline constexpr int kMaxParts = 100'000;
// Queues below each other, and subgroups below each other.
inline constexpr int kMaxDepth = 64;

// No longer does a gang run before it may be evicted, or wait before others are evicted for it.
inline constexpr std::chrono::hours kLongestDelay{24 * 366};

inline constexpr std::string_view kDefaultQueue = "default-queue";
inline constexpr std::string_view kDefaultParentQueue = "default-parent-queue";
inline constexpr std::string_view kPreemptible = "preemptible";
inline constexpr std::string_view kNonPreemptible = "non-preemptible";
inline constexpr std::int64_t kNonPreemptibleFrom = 100;  // priorities, where nothing else is said

}  // namespace gantree::kai
