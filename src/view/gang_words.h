// A decision in words and numbers, for tables and legends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/decision.h"
#include "state/cluster.h"

namespace gantree::view {

// "namespace/name", printable.
[[nodiscard]] std::string gang_name(const GangKey& key, bool unicode);
[[nodiscard]] std::string gang_name(const Decision& decision, bool unicode);

// "16"; "16/24" where it starts with fewer pods than it would like.
[[nodiscard]] std::string pods_text(std::span<const PodSetDecision> sets);

// How much of a resource the placed pods have; never overflows.
[[nodiscard]] std::int64_t amount_of(std::span<const PodSetDecision> sets, ResourceId resource);

// Where the placed pods are, in at most about `width` columns; "" for a gang of no pods.
[[nodiscard]] std::string gang_where(Cluster& cluster, std::span<const PodSetDecision> sets, int width, bool unicode);

// "9 placed, 2 waiting, 1 rejected", and ", 3 evicted" where some are.
[[nodiscard]] std::string summary(const Plan& plan);

}  // namespace gantree::view
