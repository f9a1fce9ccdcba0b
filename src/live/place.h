// Where a gang stands among those that wait.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/id.h"
#include "queue/submission.h"

namespace gantree {

// Those who share a turn: the gangs of one queue; of no queue, those of one namespace.
struct Crowd {
  std::optional<QueueId> queue = {};
  std::string ns = {};  // "" where there is a queue
  friend auto operator<=>(const Crowd&, const Crowd&) = default;
};

// Those of a crowd that ask for the same, or all of a strict queue.
struct LineKey {
  std::optional<QueueId> queue = {};
  std::string ns = {};      // as Crowd has it
  bool in_order = false;    // of a strict queue
  std::uint64_t shape = 0;  // of what is asked for; of a strict queue 0
  [[nodiscard]] Crowd crowd() const { return {.queue = queue, .ns = ns}; }
  friend auto operator<=>(const LineKey&, const LineKey&) = default;
};

// Its rank there. A copy of what decides it, so that the order of a line holds whatever becomes of the gang.
struct Rank {
  Begun begun = Begun::kNot;
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;
  GangKey known_as = {};      // Submission::made_for, or else its key
  std::string own_name = {};  // where that is another object's
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

}  // namespace gantree
