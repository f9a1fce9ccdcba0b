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
// many a second, since an API server has better things to store; whoever comes when those are used up is given a turn.
constexpr seconds kTellAfter{1};
constexpr seconds kTellReasonEvery{5};
constexpr seconds kTellEvery{30};
constexpr seconds kTellNumbersEvery{300};
constexpr int kTellsPerSecond = 20;
constexpr double kMostTells = 200;

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
      return "Misconfigured";
    case Reason::kPreempting:
      return "WaitingForPreemptedWorkloads";
    case Reason::kQueueBlocked:
    case Reason::kGangIncomplete:
    case Reason::kDeactivated:
    case Reason::kSuspended:
    case Reason::kEvicted:
    case Reason::kExcessPods:
    case Reason::kInvalidRequest:
      break;
  }
  return "Pending";
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
  const std::chrono::duration<double> passed = now - std::exchange(tells_since_, now);
  tells_ = std::min(kMostTells, tells_ + std::max(0.0, passed.count()) * kTellsPerSecond);
  if (tells_ >= 1 && next_turn_ <= now) {
    tells_ -= 1;
    return true;
  }
  next_turn_ = std::max(next_turn_, now) + std::chrono::milliseconds(seconds(1)) / kTellsPerSecond;
  entry.tell_turn = next_turn_;
  ledger_.later.add(next_turn_, entry.key());
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
  if (const std::optional<Wanted> again = queued_again(entry, ledger_.setup, now)) {
    status_.write(entry, {*again}, {}, now, step);
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
  status_.write(
      entry,
      {{.type = kQuotaReserved, .holds = false, .reason = reason, .message = message},
       {.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = "The workload has no reservation"}},
      {}, now, step);
  if (!same_reason) {
    announcer_.announce(entry, {.warning = true, .reason = "Pending", .action = "Admit", .note = message}, now, step);
  }
}

// Somebody deactivated it while it waited.
void PendingReporter::tell_inactive(Entry& entry, Time now, Step& step) {
  if (entry.object.holds(kEvicted)) {
    const auto& rejection = submission_for(entry, ledger_).rejection;
    if (entry.is_turned_down() && (!rejection || rejection->waits)) {
      status_.set_active(entry, true, step);  // an administrator has mended what was in its way
    }
    return;  // it was told why
  }
  const std::string message = "The workload is deactivated";
  status_.write(entry,
                {{.type = kQuotaReserved, .holds = false, .reason = "Pending", .message = message},
                 {.type = kEvicted, .holds = true, .reason = kDeactivatedReason, .message = message},
                 {.type = kRequeued, .holds = false, .reason = kDeactivatedReason, .message = message}},
                {}, now, step);
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
