#include "kueue/pending_reporter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kueue/queue_membership.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

using std::chrono::seconds;

// Many start at once, and need not be told that they wait; a changed sentence is told more seldom than a changed
// reason. All of them together get so many a second, since an API server has better things to store.
constexpr seconds kTellAfter{1};
constexpr seconds kTellReasonEvery{5};
constexpr seconds kTellEvery{30};
constexpr double kTellsPerSecond = 50;
constexpr double kMostTells = 200;

// The reasons of QuotaReserved=False, as those know them who watch Kueue's.
std::string_view pending_reason(Reason reason) {
  switch (reason) {
    case Reason::kTopologyBusy:
    case Reason::kTopologyTooLarge:
    case Reason::kSearchLimit:
      return "TopologyPlacementFailed";
    case Reason::kQuotaExceeded:
      return "WaitingForQuota";
    case Reason::kQueueStopped:
      return "Misconfigured";
    case Reason::kPreempting:
      return "WaitingForPreemptedWorkloads";
    case Reason::kQueueBlocked:
    case Reason::kGangIncomplete:
    case Reason::kInvalidRequest:
      break;
  }
  return "Pending";
}

}  // namespace

bool PendingReporter::may_tell(Time now) {
  const std::chrono::duration<double> passed = now - std::exchange(tells_since_, now);
  tells_ = std::min(kMostTells, tells_ + std::max(0.0, passed.count()) * kTellsPerSecond);
  if (tells_ < 1) {
    return false;
  }
  tells_ -= 1;
  return true;
}

void PendingReporter::tell(Entry& entry, Time now, Step& step) {
  if (!entry.verdict || !entry.object.active) {
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
  const Time due = !entry.told   ? entry.waits_since + kTellAfter
                   : same_reason ? entry.told_at + kTellEvery
                                 : entry.told_at + kTellReasonEvery;
  if (now < due || !may_tell(now)) {
    ledger_.later.add(std::max(due, now + kTellAfter), entry.key());
    return;
  }
  entry.told = verdict;
  entry.told_at = now;
  const std::string message = condition_message(verdict);
  status_.write(
      entry,
      {{.type = kQuotaReserved, .holds = false, .reason = pending_reason(verdict.reason), .message = message},
       {.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = "The workload has no reservation"}},
      {}, now, step);
  if (!same_reason) {
    outbox_.notify(
        step, {.about = entry.object.ref, .warning = true, .reason = "Pending", .action = "Admit", .note = message},
        now);
  }
}

// It asks for what makes no sense: it is deactivated, so that it neither waits for ever nor holds up others. Whoever
// mends it activates it again.
void PendingReporter::reject(Entry& entry, Time now, Step& step) {
  const std::string message = condition_message(*entry.verdict);
  if (!entry.object.holds(kEvicted) || entry.object.condition(kEvicted)->message != message) {
    status_.write(entry,
                  {{.type = kQuotaReserved, .holds = false, .reason = kInadmissible, .message = message},
                   {.type = kEvicted, .holds = true, .reason = "Deactivated", .message = message}},
                  {}, now, step);
    outbox_.notify(
        step,
        {.about = entry.object.ref, .warning = true, .reason = "Inadmissible", .action = "Admit", .note = message},
        now);
    return;
  }
  status_.deactivate(entry, step);
}

}  // namespace gantree::kueue
