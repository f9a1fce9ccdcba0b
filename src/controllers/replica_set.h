// What replica-like controllers share: which pods go first, which count as available.
#pragma once

#include <vector>

#include "controllers/turn.h"

namespace gantree::controllers {

// No more pods are made or deleted at a time.
inline constexpr std::size_t kMostPodsAtATime = 500;

// Ready for at least minReadySeconds; where it will be, the turn looks again then.
[[nodiscard]] bool available(const Item& pod, std::int64_t min_ready_seconds, Turn& turn);
// Those that have come least far come first.
void sort_for_removal(std::vector<const Item*>& pods);

}  // namespace gantree::controllers
