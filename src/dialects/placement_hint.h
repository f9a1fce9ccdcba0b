// What a pod of a gang learns of its place when it is bound: annotations that come with its Binding, so that no
// container starts without them. A container gets them through the downward API.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace gantree {

// Its number among the pods of its gang, in the order of the topology: pods of consecutive ranks are close to each
// other.
inline constexpr std::string_view kRankHint = "gantree.dev/rank";
// The levels of the topology by which it was placed, coarse to fine, and its domain of each; both separated by commas.
inline constexpr std::string_view kLevelsHint = "gantree.dev/topology-levels";
inline constexpr std::string_view kDomainHint = "gantree.dev/topology-domain";

// The annotations as a JSON object. `path` has a value for each level.
[[nodiscard]] std::string placement_hint(int rank, const std::vector<std::string>& levels,
                                         const std::vector<std::string>& path);

// The rank that a pod was told; nothing where it was told none.
[[nodiscard]] std::optional<int> told_rank(json::Value metadata);

}  // namespace gantree
