// What Workloads are told, and what becomes of them after admission.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/kueue/names.h"
#include "kueue/controller.h"
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

void Controller::write_status(Entry& entry, const std::vector<Wanted>& wanted, json::Out::Object fields, Time now,
                              Step& step, Urgency urgency) {
  auto conditions = with_conditions(entry.object.conditions, wanted, now);
  if (!conditions && fields.empty()) {
    return;
  }
  json::Out status = json::Out::object();
  status.add("conditions", write_conditions(conditions ? *conditions : entry.object.conditions));
  const bool given = entry.assumed && entry.sent;
  for (auto& [name, value] : fields) {
    status.add(name, std::move(value));
  }
  json::Out metadata = json::Out::object();
  metadata.add("uid", entry.object.ref.uid).add("resourceVersion", entry.object.resource_version);
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata)).add("status", std::move(status));
  const std::uint64_t id =
      order(step, urgency,
            {.verb = WriteVerb::kPatchStatus, .object = entry.object.ref, .node = {}, .body = body.to_json(false)},
            {.workload = entry.key(), .job = {}, .pod = {}, .admission = given});
  entry.guard.sent(id, entry.object.resource_version);
}

void Controller::reconcile(const std::string& key, Time now, Step& step) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) {
    return;
  }
  Entry& entry = it->second;
  if (entry.object.deleting || entry.object.holds(kFinished)) {
    return;
  }
  ungate(key, entry, step);
  if (entry.guard.closed(entry.object.resource_version, now)) {
    if (!entry.guard.in_flight()) {
      later_.emplace(std::max(entry.guard.opens(), now + std::chrono::milliseconds(100)), key);
    }
    return;
  }
  if (entry.missed && entry.waits()) {
    entry.missed = false;
    waiting_changed_.insert(key);
    step.wake_by(now);
  }
  const auto owner = jobs_by_uid_.find(entry.object.owner_uid);
  const JobEntry* job = owner == jobs_by_uid_.end() ? nullptr : &jobs_.at(owner->second);
  if (job != nullptr && job->progress.end) {
    const JobEnd& end = *job->progress.end;
    write_status(entry,
                 {{.type = kFinished,
                   .holds = true,
                   .reason = end.success ? "Succeeded" : "Failed",
                   .message = end.message.empty() ? std::string("The job is over") : end.message}},
                 {}, now, step);
    return;
  }
  if (entry.assumed) {
    // Others have still to leave; or its write failed, or its answer was lost: the same once more, for the same
    // version of the object.
    hold(entry, now, step);
    return;
  }
  if (entry.object.admission) {
    look_after(entry, job, now, step);
    return;
  }
  tell_waiting(entry, now, step);
}

// A Workload that has been admitted.
void Controller::look_after(Entry& entry, const JobEntry* job, Time now, Step& step) {
  if (entry.object.holds(kEvicted)) {
    entry.evicting.reset();
    if (entry.object.active && entry.object.condition(kEvicted)->reason == kGivenUp) {
      deactivate(entry, step);
      return;
    }
    release(entry, job, now, step);
    return;
  }
  if (!entry.object.active && !entry.evicting) {
    entry.evicting = Removal{.reason = "Deactivated", .message = "The workload is deactivated"};
  }
  if (const std::optional<Drain> stopped = drain(entry); stopped && !entry.evicting) {
    evict(entry, {.reason = stopped->reason, .message = stopped->message}, now, step);
  }
  if (entry.evicting) {
    write_eviction(entry, now, step);
    return;
  }
  remove_stranded_pods(entry, step);
  if (mend(entry, now, step)) {
    return;
  }
  if (job != nullptr) {
    watch_readiness(entry, *job, now, step);
  }
}

void Controller::write_eviction(Entry& entry, Time now, Step& step) {
  const Removal& removal = *entry.evicting;
  std::vector<Wanted> wanted = {
      {.type = kEvicted, .holds = true, .reason = removal.reason, .message = removal.message}};
  if (!removal.preempted.empty()) {
    wanted.push_back({.type = kPreempted, .holds = true, .reason = removal.preempted, .message = removal.message});
  }
  json::Out::Object fields;
  if (removal.requeue_at) {
    json::Out requeue = json::Out::object();
    requeue.add("count", entry.object.requeues + 1).add("requeueAt", rfc3339(*removal.requeue_at));
    fields.emplace_back("requeueState", std::move(requeue));
  }
  write_status(entry, wanted, std::move(fields), now, step, Urgency::kBinding);
}

// What it was given comes back once nothing of it runs any more.
void Controller::release(Entry& entry, const JobEntry* job, Time now, Step& step) {
  const auto pods = pods_of_.find(entry.object.ref.ns + "/" + entry.object.ref.name);
  const bool runs = pods != pods_of_.end() &&
                    std::any_of(pods->second.begin(), pods->second.end(),
                                [&](const std::string& pod) { return !pods_.at(pod).ended && !pods_.at(pod).held; });
  if (runs || (job != nullptr && !job->progress.suspended)) {
    return;
  }
  const Condition* evicted = entry.object.condition(kEvicted);
  const std::string why = evicted == nullptr ? std::string() : evicted->message;
  const std::optional<Drain> stopped = drain(entry);
  const bool again = entry.object.active && !stopped;
  json::Out::Object fields;
  fields.emplace_back("admission", json::Out());
  write_status(entry,
               {{.type = kQuotaReserved, .holds = false, .reason = "Pending", .message = why},
                {.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = why},
                {.type = kPodsReady, .holds = false, .reason = "WaitForStart", .message = "The job is stopped"},
                {.type = kRequeued,
                 .holds = again,
                 .reason = again     ? std::string_view("Requeued")
                           : stopped ? stopped->reason
                                     : "Deactivated",
                 .message = why}},
               std::move(fields), now, step, Urgency::kBinding);
}

bool Controller::may_tell(Time now) {
  const std::chrono::duration<double> passed = now - std::exchange(tells_since_, now);
  tells_ = std::min(kMostTells, tells_ + std::max(0.0, passed.count()) * kTellsPerSecond);
  if (tells_ < 1) {
    return false;
  }
  tells_ -= 1;
  return true;
}

void Controller::tell_waiting(Entry& entry, Time now, Step& step) {
  if (!entry.verdict || !entry.object.active) {
    return;
  }
  if (const std::optional<Wanted> again = queued_again(entry)) {
    write_status(entry, {*again}, {}, now, step);
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
    later_.emplace(std::max(due, now + kTellAfter), entry.key());
    return;
  }
  entry.told = verdict;
  entry.told_at = now;
  const std::string message = condition_message(verdict);
  write_status(
      entry,
      {{.type = kQuotaReserved, .holds = false, .reason = pending_reason(verdict.reason), .message = message},
       {.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = "The workload has no reservation"}},
      {}, now, step);
  if (!same_reason) {
    notify(step, {.about = entry.object.ref, .warning = true, .reason = "Pending", .action = "Admit", .note = message},
           now);
  }
}

// It asks for what makes no sense: it is deactivated, so that it neither waits for ever nor holds up others. Whoever
// mends it activates it again.
void Controller::reject(Entry& entry, Time now, Step& step) {
  const std::string message = condition_message(*entry.verdict);
  if (!entry.object.holds(kEvicted) || entry.object.condition(kEvicted)->message != message) {
    write_status(entry,
                 {{.type = kQuotaReserved, .holds = false, .reason = kInadmissible, .message = message},
                  {.type = kEvicted, .holds = true, .reason = "Deactivated", .message = message}},
                 {}, now, step);
    notify(step,
           {.about = entry.object.ref, .warning = true, .reason = "Inadmissible", .action = "Admit", .note = message},
           now);
    return;
  }
  deactivate(entry, step);
}

void Controller::deactivate(Entry& entry, Step& step) {
  json::Out body = json::Out::object();
  body.add("metadata", std::move(json::Out::object().add("uid", entry.object.ref.uid)));
  body.add("spec", std::move(json::Out::object().add("active", false)));
  const std::uint64_t id =
      order(step, Urgency::kStatus,
            {.verb = WriteVerb::kPatch, .object = entry.object.ref, .node = {}, .body = body.to_json(false)},
            {.workload = entry.key(), .job = {}, .pod = {}});
  entry.guard.sent(id, entry.object.resource_version);
}

}  // namespace gantree::kueue
