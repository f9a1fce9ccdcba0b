// Where a Workload stands in its queue.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "base/id.h"
#include "queue/submission.h"

namespace gantree::kueue {

// Those that ask for the same in one queue, or all of a strict queue.
struct LineKey {
  std::optional<QueueId> queue = {};
  bool in_order = false;    // of a strict queue
  std::uint64_t shape = 0;  // of what is asked for; of a strict queue 0
  friend auto operator<=>(const LineKey&, const LineKey&) = default;
};

// Its rank there. A copy of what decides it, so that the order of a line holds whatever becomes of the Workload.
struct Rank {
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;
  GangKey key = {};
  friend bool operator==(const Rank&, const Rank&) = default;
};
[[nodiscard]] Rank rank_of(const Submission& submission);
// As goes_before() has it.
[[nodiscard]] bool operator<(const Rank& a, const Rank& b);

struct Place {
  LineKey line;
  Rank rank;
  friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace gantree::kueue
