#include "kube/election.h"

#include <algorithm>
#include <utility>

namespace gantree::kube {
namespace {

constexpr std::chrono::seconds kLongAway{3600};
// After a failure the leader does not wait for the next turn: the deadline is near.
constexpr int kQuicker = 4;

}  // namespace

Result<void> check(const ElectionOptions& options) {
  if (options.identity.empty() || options.name.empty() || options.name_space.empty()) {
    return invalid("leader election needs a namespace, a name and an identity");
  }
  if (options.lease_duration < std::chrono::seconds(1) || options.lease_duration.count() % 1000 != 0) {
    return invalid("the lease duration must be whole seconds, at least one");
  }
  if (options.renew_deadline >= options.lease_duration || options.retry_period >= options.renew_deadline ||
      options.retry_period.count() <= 0) {
    return invalid("leader election needs 0 < retry period < renew deadline < lease duration");
  }
  return {};
}

Election::Election(ElectionOptions options) : options_(std::move(options)) {}

std::optional<Instant> Election::leads_until(Instant now) const {
  return led_until_.has_value() && now < *led_until_ ? led_until_ : std::nullopt;
}

Instant Election::runs_out() const {
  const std::chrono::milliseconds theirs = std::chrono::seconds(seen_.duration_seconds);
  return seen_at_ + std::max(options_.lease_duration, theirs);
}

Instant Election::wake_at() const {
  return led_until_.has_value() ? std::min(next_try_, *led_until_) : next_try_;
}

Lease Election::claim(WallTime wall) const {
  Lease lease = exists_ ? seen_ : Lease{};
  lease.name_space = options_.name_space;
  lease.name = options_.name;
  lease.duration_seconds = options_.lease_duration.count() / 1000;
  lease.renew_time = to_micro_time(wall);
  if (lease.holder != options_.identity) {
    lease.acquire_time = lease.renew_time;
    lease.transitions = exists_ ? seen_.transitions + 1 : 0;
    lease.holder = options_.identity;
  }
  return lease;
}

ElectionStep Election::tick(Instant now, WallTime wall) {
  using Request = ElectionStep::Request;
  if (led_until_.has_value() && now >= *led_until_) {
    led_until_.reset();
  }
  if (resigned_ && now < resigned_until_) {
    return {.request = Request::kNone, .lease = {}, .wake_at = std::min(resigned_until_, now + kLongAway)};
  }
  if (std::exchange(resigned_, false)) {
    known_ = false;  // we gave it up, and others may have had it since
  }
  if (waiting()) {
    return {.request = Request::kNone, .lease = {}, .wake_at = led_until_.value_or(now + kLongAway)};
  }
  if (now < next_try_) {
    return {.request = Request::kNone, .lease = {}, .wake_at = wake_at()};
  }
  const bool theirs = exists_ && !seen_.holder.empty() && seen_.holder != options_.identity;
  sent_at_ = now;
  ElectionStep step{.request = Request::kGet, .lease = {}, .wake_at = led_until_.value_or(now + kLongAway)};
  if (!known_ || (theirs && now < runs_out())) {
    pending_ = Pending::kRead;
    return step;
  }
  pending_ = Pending::kWrite;
  step.request = exists_ ? Request::kUpdate : Request::kCreate;
  step.lease = claim(wall);
  return step;
}

void Election::saw(Instant now, const Lease& lease) {
  if (!exists_ || seen_ != lease) {
    seen_at_ = now;
  }
  seen_ = lease;
  exists_ = true;
  known_ = true;
}

void Election::answer(Instant now, const ElectionReply& reply) {
  using Kind = ElectionReply::Kind;
  const bool wrote = pending_ == Pending::kWrite;
  pending_ = Pending::kNothing;
  switch (reply.kind) {
    case Kind::kRecord: {
      saw(now, reply.lease);
      const bool ours = seen_.holder == options_.identity;
      if (ours && wrote && !resigned_) {
        led_until_ = sent_at_ + options_.renew_deadline;
        next_try_ = sent_at_ + options_.retry_period;
      } else if (ours || seen_.holder.empty()) {
        next_try_ = now;
      } else {
        led_until_.reset();  // somebody took it: our clock was stopped longer than we know
        next_try_ = std::min(now + options_.retry_period, std::max(now, runs_out()));
      }
      return;
    }
    case Kind::kMissing:
      seen_ = {};
      exists_ = false;
      known_ = true;
      // Where it cannot even be made, say because there is no such namespace, asking at once is no use.
      next_try_ = wrote ? now + options_.retry_period : now;
      return;
    case Kind::kConflict:
      known_ = false;
      next_try_ = now;
      return;
    case Kind::kFailed:
      known_ = false;
      next_try_ = now + (led_until_.has_value() ? options_.retry_period / kQuicker : options_.retry_period);
      return;
  }
}

void Election::resign(Instant until) {
  resigned_ = true;
  resigned_until_ = until;
  led_until_.reset();
}

std::optional<Lease> Election::release(WallTime wall) const {
  if (!resigned_ || waiting() || !exists_ || seen_.holder != options_.identity) {
    return std::nullopt;
  }
  Lease lease = seen_;
  lease.holder.clear();
  lease.duration_seconds = 1;
  lease.renew_time = to_micro_time(wall);
  return lease;
}

}  // namespace gantree::kube
