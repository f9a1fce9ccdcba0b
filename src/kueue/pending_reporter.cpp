#include "kueue/pending_reporter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kueue/queue_membership.h"
#include "kueue/submissions.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

using std::chrono::seconds;

// Many start at once, and need not be told that they wait; a changed sentence is told more seldom than a changed
// reason, and changed numbers in it, which are never the same for long, more seldom still. All of them together get so
// many a second, since an API server has better things to store.
constexpr seconds kTellAfter{1};
constexpr seconds kTellReasonEvery{5};
constexpr seconds kTellEvery{10};
constexpr seconds kTellNumbersEvery{300};
constexpr int kFirstPerSecond = 50;
constexpr int kAgainPerSecond = 20;
constexpr double kMostSaved = 200;

// The reasons of QuotaReserved=False, as those know them who watch Kueue's.
std::string_view pending_reason(Reason reason, bool ever) {
  switch (reason) {
    case Reason::kTopologyBusy:
    case Reason::kTopologyTooLarge:
    case Reason::kSearchLimit:
      return "TopologyPlacementFailed";
    case Reason::kQuotaExceeded:
      return ever ? "WaitingForQuota" : "ExceedsMaxQuota";
    case Reason::kNoMatchingFlavor:
      return "NoMatchingFlavor";
    case Reason::kQueueStopped:
      return "Suspended";
    case Reason::kQueueNotFound:
    case Reason::kNamespaceMismatch:
    case Reason::kPriorityClassNotFound:
    case Reason::kUnknownOwner:
    case Reason::kInvalidRequest:  // that waits to be mended
      return "Misconfigured";
    case Reason::kPreempting:
      return "WaitingForPreemptedWorkloads";
    case Reason::kPodsNotReady:
      return "WaitingForPodsReady";
    case Reason::kGated:
      return "AdmissionGated";
    case Reason::kQueueBlocked:
    case Reason::kGangIncomplete:
    case Reason::kDeactivated:
    case Reason::kSuspended:
    case Reason::kEvicted:
    case Reason::kExcessPods:
      break;
  }
  return kToBeTried;
}

// Whether there would be quota for it if nothing were in use.
bool is_within_all_quota(const Entry& entry, const Quota& quota) {
  return entry.least.empty() ||
         some_are_allowed(entry.least, [&](const QuotaDemand& least) { return quota.could_fit(least); });
}

bool differ_in_numbers_alone(std::string_view a, std::string_view b) {
  const auto without_numbers = [](std::string_view text) {
    std::string rest(text);
    std::erase_if(rest, [](char c) { return c >= '0' && c <= '9'; });
    return rest;
  };
  return without_numbers(a) == without_numbers(b);
}

}  // namespace

// Those that wait for their turn are not asked again before it comes, however many they are.
bool PendingReporter::may_tell(Entry& entry, Time now) {
  if (entry.tell_turn) {
    if (now < *entry.tell_turn) {
      ledger_.later.add(*entry.tell_turn, entry.key());
      return false;
    }
    entry.tell_turn.reset();
    return true;
  }
  Allowance& allowance = entry.told ? again_ : first_;
  const int per_second = entry.told ? kAgainPerSecond : kFirstPerSecond;
  const std::chrono::duration<double> passed = now - std::exchange(allowance.since, now);
  allowance.left = std::min(kMostSaved, allowance.left + std::max(0.0, passed.count()) * per_second);
  if (allowance.left >= 1 && allowance.last_turn <= now) {
    allowance.left -= 1;
    return true;
  }
  allowance.last_turn = std::max(allowance.last_turn, now) + std::chrono::milliseconds(seconds(1)) / per_second;
  entry.tell_turn = allowance.last_turn;
  ledger_.later.add(allowance.last_turn, entry.key());
  return false;
}

void PendingReporter::tell(Entry& entry, Time now, Step& step) {
  if (!entry.object.active) {
    tell_inactive(entry, now, step);
    return;
  }
  if (!entry.verdict) {
    return;
  }
  const std::optional<Wanted> again = queued_again(entry, ledger_.setup, now);
  json::Out::Object fields;
  if (entry.object.requeue_at && !entry.pauses(now)) {
    fields.emplace_back("requeueState", write_requeues(entry.object.requeues));
  }
  if (again || !fields.empty()) {
    status_.write(entry, again ? std::vector{*again} : std::vector<Wanted>(), std::move(fields), now, step);
    return;
  }
  const Verdict& verdict = *entry.verdict;
  if (verdict.state == GangState::kRejected) {
    reject(entry, now, step);
    return;
  }
  if (entry.told == verdict) {
    return;
  }
  const bool same_reason = entry.told && entry.told->reason == verdict.reason;
  const Time due = !entry.told                                                     ? entry.waits_since + kTellAfter
                   : !same_reason                                                  ? entry.told_at + kTellReasonEvery
                   : differ_in_numbers_alone(entry.told->message, verdict.message) ? entry.told_at + kTellNumbersEvery
                                                                                   : entry.told_at + kTellEvery;
  if (now < due) {
    ledger_.later.add(due, entry.key());
    return;
  }
  if (!may_tell(entry, now)) {
    return;
  }
  entry.told = verdict;
  entry.told_at = now;
  const std::string message = condition_message(verdict);
  const std::string_view reason = pending_reason(verdict.reason, is_within_all_quota(entry, ledger_.quota));
  status_.write(entry,
                {{.type = kQuotaReserved, .holds = false, .reason = reason, .message = message},
                 {.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = kNoReservation}},
                {}, now, step);
  if (!same_reason) {
    announcer_.announce(entry, {.warning = true, .reason = "Pending", .action = "Admit", .note = message}, now, step);
  }
}

// Somebody deactivated it while it waited.
void PendingReporter::tell_inactive(Entry& entry, Time now, Step& step) {
  entry.told.reset();  // why it waits is told anew when it is active again
  // What its user has suspended stays so when it is active again.
  const Condition* evicted = entry.object.condition(kEvicted);
  if (entry.suspended() ||
      (entry.object.holds(kEvicted) && std::string_view(evicted->reason).starts_with(kDeactivatedReason))) {
    const auto& rejection = submission_for(entry, ledger_).rejection;
    if (entry.is_turned_down() && (!rejection || rejection->waits)) {
      status_.set_active(entry, true, step);  // an administrator has mended what was in its way
    } else if (!entry.is_turned_down()) {
      write_inactive(entry, {}, now, step);
    }
    return;  // it was told why
  }
  write_inactive(entry,
                 {{.type = kEvicted, .holds = true, .reason = kDeactivatedReason, .message = kInactive},
                  {.type = kRequeued, .holds = false, .reason = kDeactivatedReason, .message = kInactive}},
                 now, step);
  announcer_.announce(
      entry, {.warning = true, .reason = "EvictedDueToDeactivated", .action = "Evict", .note = kInactive}, now, step);
}

// Who activates it again lets it begin anew.
void PendingReporter::write_inactive(Entry& entry, std::vector<Wanted> more, Time now, Step& step) {
  more.push_back({.type = kQuotaReserved, .holds = false, .reason = kDeactivatedReason, .message = kInactive});
  more.push_back({.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = kNoReservation});
  json::Out::Object fields;
  if (entry.object.requeues > 0 || entry.object.requeue_at) {
    fields.emplace_back("requeueState", json::Out());
  }
  status_.write(entry, more, std::move(fields), now, step);
}

// It asks for what makes no sense: it is deactivated, so that it neither waits for ever nor holds up others. It is
// activated again when its job, or what it names, is mended.
void PendingReporter::reject(Entry& entry, Time now, Step& step) {
  const std::string message = condition_message(*entry.verdict);
  if (!entry.object.holds(kEvicted) || entry.object.condition(kEvicted)->message != message) {
    status_.write(entry,
                  {{.type = kQuotaReserved, .holds = false, .reason = kInadmissible, .message = message},
                   {.type = kEvicted, .holds = true, .reason = kDeactivatedReason, .message = message}},
                  {}, now, step);
    announcer_.announce(entry, {.warning = true, .reason = kInadmissible, .action = "Admit", .note = message}, now,
                        step);
    return;
  }
  status_.set_active(entry, false, step);
}

}  // namespace gantree::kueue
