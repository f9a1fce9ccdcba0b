// The labels, annotations and fields of LeaderWorkerSet, and those of JobSet that mean the same.
#pragma once

#include <string_view>

namespace gantree::lws {

inline constexpr std::string_view kFamily = "lws";
inline constexpr std::string_view kGroup = "leaderworkerset.x-k8s.io";
inline constexpr std::string_view kKind = "LeaderWorkerSet";

// On a LeaderWorkerSet.
inline constexpr std::string_view kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kSubGroupExclusive = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

// On its pods.
inline constexpr std::string_view kName = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
inline constexpr std::string_view kSize = "leaderworkerset.sigs.k8s.io/size";  // annotation

// On a JobSet or the template of a replicatedJob, and on the pods that come of it.
inline constexpr std::string_view kJobSetExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kJobSetNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector";
inline constexpr std::string_view kNamespacedJob = "alpha.jobset.sigs.k8s.io/namespaced-job";
inline constexpr std::string_view kNoSchedule = "alpha.jobset.sigs.k8s.io/no-schedule";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";

// What else is known to stand there; it has no part in placement.
inline constexpr std::string_view kPrefix = "leaderworkerset.sigs.k8s.io/";
inline constexpr std::string_view kJobSetPrefix = "alpha.jobset.sigs.k8s.io/";
inline constexpr std::string_view kHarmless[] = {"leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start",
                                                 "leaderworkerset.sigs.k8s.io/replicas",
                                                 "leaderworkerset.sigs.k8s.io/subdomainPolicy"};

// More groups or child Jobs than this are refused: no cluster has so many domains.
inline constexpr int kMaxGroups = 100'000;

}  // namespace gantree::lws
