// A gang as it stands in the queue, and the order in which gangs are taken.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/decision.h"
#include "model/gang.h"
#include "queue/combinations.h"
#include "queue/quota.h"

namespace gantree {

// One way to start a gang, or a part of it: with a flavor chosen for each pod set, so that node
// labels, tolerations and levels are resolved. Lists by pod set follow the gang's depth-first order.
struct Alternative {
  Gang gang;
  std::vector<QuotaDemand> demand;   // by pod set, per pod
  std::vector<std::string> flavors;  // by pod set; "" where there is none
  // By pod set: whether only quota is asked for it, since others find its pods a place. Empty: of none.
  std::vector<bool> elsewhere = {};
};

struct Rejection {
  Reason reason = Reason::kInvalidRequest;
  std::string message;
  bool waits = false;     // not the gang's own fault (say, its queue is stopped): Waiting, not Rejected
  bool mendable = false;  // a change of what administrators set up may let it in: on a live cluster it waits for that
  Reason lacking = Reason::kInvalidRequest;  // told instead of the reason where it waits for that

  // What becomes of it on a live cluster.
  void wait_to_be_mended() {
    if (mendable) {
      waits = true;
      reason = lacking;
    }
  }
};

// What a gang has already. One that holds room with which it cannot start yet goes before all others.
enum class Begun : std::uint8_t {
  kTooFew,  // pods run, and further ones have to start with each other
  kEnough,  // pods run, and further ones may join them
  kNot,
};

struct Submission {
  GangKey key;
  // The object that it was made for, where that is another (a Workload's job). By its name people know the gang, so
  // that decides between two that are as old.
  std::optional<GangKey> made_for = {};
  std::string dialect;
  Begun begun = Begun::kNot;
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;  // Unix time; 0: not created yet, so it comes after all that waits
  std::int64_t now_seconds = 0;      // Unix time, by which others have run so long; 0: that does not count (in plans)
  std::int64_t evicts_from_seconds = 0;  // Unix time: nobody is evicted for it before
  std::optional<QueueId> queue;          // none: no quota, and whatever comes counts as within it
  bool may_evict = true;                 // false: it waits rather than have others evicted (preemptionPolicy Never)
  // Where false, nobody is evicted for it by share. So it is where it was evicted itself and nothing has ended since:
  // else several could drive each other out in a circle for ever.
  bool may_evict_by_share = true;
  // What others of its queue need of quota that wait and could evict it once it runs. Nobody is evicted for it by
  // share where one of them could then start in its place: that one would get by it more than its share allows.
  std::vector<WayDemands> outranked_by = {};
  // At most one such gang starts in a cycle: nothing is decided of the others then.
  bool one_by_one = false;
  // It is known to wait. At its turn nothing is decided, and only its quota is kept: see queue/own_quota.h.
  bool stands_by = false;
  Borrowing borrowing = Borrowing::kAllowed;
  bool own_quota_first = false;     // ways that do not borrow go before those that do
  bool evicts_before_next = false;  // each way is tried with evictions before the next one is looked at
  // With own_quota_first: ways that do not borrow are tried with evictions before one that does is looked at.
  bool evicts_before_borrowing = false;
  // Evictions are for another time: what would come after them in the order of preference is not tried.
  bool evicts_later = false;
  std::vector<std::pair<std::string, int>> pod_sets;  // name and count, for reports
  // What has to start together, each part in one of its ways, which are in order of preference. Whatever has to be
  // chosen for the gang as a whole is one part.
  std::vector<std::vector<Alternative>> parts;
  bool has_more_ways = false;          // than are listed: there are too many
  std::optional<Rejection> rejection;  // then there are no parts
};

// Whether it is in line at all: neither sent away nor told to stay away.
[[nodiscard]] bool is_in_line(const Submission& submission);

// All pods of an alternative, by cell; and the fewest with which it may start.
[[nodiscard]] QuotaDemand demand_of(const Alternative& alternative);
[[nodiscard]] QuotaDemand least_demand_of(const Alternative& alternative);

// The same of every way, by part.
[[nodiscard]] WayDemands demands_of(const Submission& submission);
[[nodiscard]] WayDemands least_demands_of(const Submission& submission);

// How many ways there are to start the whole, at most kMostCounted.
inline constexpr std::size_t kMostCounted = 1'000'000;
[[nodiscard]] std::size_t ways_to_start(const Submission& submission);

// One way of each part as a whole. Pod sets of no group come before those in groups.
[[nodiscard]] Alternative together(std::span<const Alternative* const> ways);

// Whether a goes before b where they are in the same queue: who has begun first, then by priority (high first), then
// creation time, then namespace, name and kind.
[[nodiscard]] bool goes_before(const Submission& a, const Submission& b);

}  // namespace gantree
