// What the administrators of a queue decided: in which order it starts its gangs, and whom they may evict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// Up to where fair sharing may take from a queue (or cohort) for another that borrows as well. Shares are compared
// with the newcomer counted in and all victims gone, at the two children of the lowest cohort that both belong to.
enum class ShareStrategy : std::uint8_t {
  kFinalShare,    // the one that takes ends with no more than the one that gives ends with
  kInitialShare,  // it ends with less than the other would have, were any one of its victims still there
};

// How long a gang of a queue runs before it may be evicted: by others of its own queue, and of others.
struct LeastRun {
  std::string queue;  // that says so, or one above which does
  std::optional<std::int64_t> within_seconds = {};
  std::optional<std::int64_t> reclaim_seconds = {};
};

struct QueueRules {
  std::string name;  // as messages name it: ClusterQueue "team-a"
  // Queues of one tree lend to each other, and may take back by eviction. A name that no other family uses.
  std::string tree = {};
  bool strict = false;  // the first gang that waits holds back all behind it
  WithinRule within = WithinRule::kNever;
  ReclaimRule reclaim = ReclaimRule::kNever;
  // What is a parent's own is for the queues below it to take back: it is enough that a gang stays within the quota of
  // its queue, or of one parent on the way up. Else it has to stay within that of all of them.
  bool takes_back_for_parents = false;
  // Whether a gang that has to borrow may evict gangs of lower priority in queues that borrow too, and up to
  // which priority of theirs; none: any.
  bool evicts_to_borrow = false;
  std::optional<std::int64_t> evicts_to_borrow_up_to = {};
  std::int64_t weight = 1000;             // thousandths, for its part of what is beyond all quotas; 0: the last of all
  bool knows_shares = false;              // gangs may be evicted by fair shares, where that is switched on
  std::vector<LeastRun> least_runs = {};  // the queue's own, then those of the queues above, lowest first
  std::int64_t priority = 0;              // among queues that borrow: the higher one first; 0 is the usual one

  // Whether others may be evicted for its gangs at all.
  [[nodiscard]] bool evicts() const {
    return within != WithinRule::kNever || reclaim != ReclaimRule::kNever || evicts_to_borrow;
  }
};

}  // namespace gantree
