// Leader election as a pure state machine: instants and replies in, requests out.
//
//   follower ── the lease is free, or ran out on our clock ──► claims it ── written ──► leader
//      ▲                                                          │ refused               │
//      └──────────────────────────────────────────────────────────┴── renew deadline ◄────┘
//
// Never two leaders at work:
//  - the leader leads until `renew_deadline` after the instant before it *sent* the last renewal that succeeded;
//  - a follower takes over when `lease_duration` (or what the record says, if longer) has passed, on its own clock,
//    since it first saw the record as it is now, and only if the record is still that one (resourceVersion).
// So clocks of different machines are never compared; only their speed must agree to within
// renew_deadline : lease_duration.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "kube/lease.h"

namespace gantree::kube {

using Instant = std::chrono::steady_clock::time_point;

struct ElectionOptions {
  std::string name_space;
  std::string name = "gantree";
  std::string identity;  // of this process: must differ between replicas, and after a restart
  std::chrono::milliseconds lease_duration{10'000};  // whole seconds
  std::chrono::milliseconds renew_deadline{7'000};   // below lease_duration
  std::chrono::milliseconds retry_period{2'000};     // below renew_deadline
};

// One sentence if the options make no sense.
[[nodiscard]] Result<void> check(const ElectionOptions& options);

// What to do next. At most one request is under way.
struct ElectionStep {
  enum class Request : std::uint8_t { kNone, kGet, kCreate, kUpdate };
  Request request = Request::kNone;
  Lease lease;      // to write
  Instant wake_at;  // call tick() then at the latest
};

// How a request ended.
struct ElectionReply {
  enum class Kind : std::uint8_t {
    kRecord,    // read or written: `lease` is the record as it is now
    kMissing,   // there is no such lease
    kConflict,  // another wrote first
    kFailed,    // anything else, an unknown outcome too
  };
  Kind kind = Kind::kFailed;
  Lease lease;
};

class Election {
 public:
  explicit Election(ElectionOptions options);

  // What to do at this instant. `wall` is only written into the record.
  [[nodiscard]] ElectionStep tick(Instant now, WallTime wall);
  // The answer to the request of the last step that had one. Call tick() afterwards.
  void answer(Instant now, const ElectionReply& reply);
  // From now on we are no leader and do not become one before `until`.
  void resign(Instant until = Instant::max());
  // After resign(), when no request is under way: the update that gives the lease up, if we hold it.
  [[nodiscard]] std::optional<Lease> release(WallTime wall) const;

  // Until when we lead; nothing where we do not.
  [[nodiscard]] std::optional<Instant> leads_until(Instant now) const;
  [[nodiscard]] bool leading(Instant now) const { return leads_until(now).has_value(); }
  [[nodiscard]] bool resigned() const { return resigned_; }
  [[nodiscard]] bool waiting() const { return pending_ != Pending::kNothing; }
  // Who holds the lease as far as we know; empty: nobody.
  [[nodiscard]] const std::string& holder() const { return seen_.holder; }

 private:
  enum class Pending : std::uint8_t { kNothing, kRead, kWrite };

  [[nodiscard]] Lease claim(WallTime wall) const;
  [[nodiscard]] Instant runs_out() const;  // when a lease of somebody else is free
  [[nodiscard]] Instant wake_at() const;
  void saw(Instant now, const Lease& lease);

  ElectionOptions options_;
  Lease seen_;           // the record as last seen
  Instant seen_at_{};    // when it was first seen like this
  bool known_ = false;   // nothing happened since that makes us doubt it
  bool exists_ = false;  // there is a record
  bool resigned_ = false;
  Instant resigned_until_{};
  Pending pending_ = Pending::kNothing;
  Instant sent_at_{};  // before the request under way was sent
  Instant next_try_{};
  std::optional<Instant> led_until_;
};

}  // namespace gantree::kube
