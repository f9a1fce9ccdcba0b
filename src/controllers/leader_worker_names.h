// Names of LeaderWorkerSet's labels and annotations, and what its webhook adds to the pods of its StatefulSets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controllers/item.h"

namespace gantree::controllers::lws {

inline constexpr std::string_view kName = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
inline constexpr std::string_view kGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
inline constexpr std::string_view kRevisionKey = "leaderworkerset.sigs.k8s.io/template-revision-hash";
inline constexpr std::string_view kSubgroupIndex = "leaderworkerset.sigs.k8s.io/subgroup-index";
inline constexpr std::string_view kSubgroupKey = "leaderworkerset.sigs.k8s.io/subgroup-key";
inline constexpr std::string_view kSize = "leaderworkerset.sigs.k8s.io/size";
inline constexpr std::string_view kReplicas = "leaderworkerset.sigs.k8s.io/replicas";
inline constexpr std::string_view kLeaderName = "leaderworkerset.sigs.k8s.io/leader-name";
inline constexpr std::string_view kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kSubgroupExclusive = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";
inline constexpr std::string_view kSubgroupSize = "leaderworkerset.sigs.k8s.io/subgroup-size";
inline constexpr std::string_view kSubgroupPolicy = "leaderworkerset.sigs.k8s.io/subgroup-policy-type";
inline constexpr std::string_view kSubdomainPolicy = "leaderworkerset.sigs.k8s.io/subdomainPolicy";

// A pod that a StatefulSet of a LeaderWorkerSet is about to make: its place in the group as labels and environment,
// and the affinities of exclusive placement. Other pods are left as they are.
void dress_member(Object& pod, std::int64_t ordinal);

// SHA-1, in hexadecimal digits.
[[nodiscard]] std::string digest(std::string_view text);

}  // namespace gantree::controllers::lws
