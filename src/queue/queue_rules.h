// What the administrators of a queue decided: in which order it starts its gangs, and whom they may evict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gantree {

// Whom a gang may evict inside its own queue.
enum class WithinRule : std::uint8_t {
  kNever,
  kLowerPriority,
  kLowerOrNewerEqualPriority,  // also gangs of its own priority that are younger than it
};

// Whom it may evict in queues that use more than is theirs, while its own queue does not.
enum class ReclaimRule : std::uint8_t {
  kNever,
  kLowerPriority,
  kAny,  // whatever the priority
};

struct QueueRules {
  std::string name;  // as messages name it: ClusterQueue "team-a"
  // Queues of one tree lend to each other, and may take back by eviction. A name that no other family uses.
  std::string tree = {};
  bool strict = false;  // the first gang that waits holds back all behind it
  WithinRule within = WithinRule::kNever;
  ReclaimRule reclaim = ReclaimRule::kNever;
  // Whether a gang that has to borrow may evict gangs of lower priority in queues that borrow too, and up to
  // which priority of theirs; none: any.
  bool evicts_to_borrow = false;
  std::optional<std::int64_t> evicts_to_borrow_up_to = {};
  std::int64_t weight = 1000;  // thousandths, for its part of what is beyond all quotas; 0: the last of all
  std::int64_t priority = 0;   // among queues that borrow: the higher one first; 0 is the usual one
};

}  // namespace gantree
