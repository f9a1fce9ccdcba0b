#include "kueue/workload_reconciler.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <utility>

#include "base/timestamp.h"
#include "dialects/kueue/names.h"
#include "kueue/queue_membership.h"

namespace gantree::kueue {

namespace {

constexpr const char* kOrphaned = "The job that it was made for is gone, and has left it behind";

}  // namespace

void WorkloadReconciler::reconcile(const std::string& key, Time now, Step& step) {
  Entry* found = ledger_.workload(key);
  if (found == nullptr) {
    return;
  }
  Entry& entry = *found;
  if (entry.object.deleting) {
    let_go(entry, now, step);
    return;
  }
  if (entry.object.holds(kFinished)) {
    return;
  }
  staff_.ungater.ungate(entry, step);
  if (entry.guard.closed(entry.object.resource_version, now)) {
    if (!entry.guard.in_flight()) {
      ledger_.look_again(entry, now);
    }
    return;
  }
  if (entry.missed && entry.waits()) {
    entry.missed = false;
    ledger_.waiting_changed.insert(key);
    step.wake_by(now);
  }
  JobEntry* job = ledger_.job_of(entry);
  if (job != nullptr && job->kind == nullptr && entry.may_run() && job->progress.suspended) {
    staff_.announcer.tell_started(entry, *job, now, step);
  }
  if (job != nullptr && job->progress.end) {
    finish(entry, *job->progress.end, now, step);
    return;
  }
  if (entry.object.orphaned) {
    staff_.status.write(entry, {{.type = kFinished, .holds = true, .reason = "OwnerNotFound", .message = kOrphaned}},
                        {}, now, step);
    return;
  }
  // What was sent comes first: another write would overtake it, and its room may be somebody else's by then.
  if (!(entry.assumed && entry.sent) && settle_priority(entry, step)) {
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
  if (entry.object.holds(kAdmitted)) {
    staff_.evictions.settle_returned(entry, now, step);
    return;
  }
  if (job != nullptr && settle_over(entry, *job, now, step)) {
    return;
  }
  staff_.pending.tell(entry, now, step);
}

void WorkloadReconciler::finish(Entry& entry, const JobEnd& end, Time now, Step& step) {
  staff_.status.write(entry,
                      {{.type = kFinished,
                        .holds = true,
                        .reason = end.success ? "Succeeded" : "Failed",
                        .message = end.message.empty() ? std::string("The job is over") : end.message}},
                      {}, now, step);
}

void WorkloadReconciler::hold(Entry& entry, Time now, Step& step) {
  std::erase_if(entry.blockers, [&](const std::string& id) { return !ledger_.account.still_leaves(id); });
  if (entry.blockers.empty()) {
    staff_.grants.write(entry, now, step);
    return;
  }
  if (entry.held_until && *entry.held_until <= now) {
    entry.drop_assumed();  // they do not leave: others may have to
    entry.verdict.reset();
    ledger_.held.erase(entry.key());
    ledger_.waiting_changed.insert(entry.key());
    ledger_.unbooked.insert(entry.key());
    step.wake_by(now);
    return;
  }
  if (entry.held_until) {
    ledger_.later.add(*entry.held_until, entry.key());
  }
  staff_.pending.tell(entry, now, step);
}

// It may run so long, all its starts together.
void WorkloadReconciler::watch_time(Entry& entry, Time now, Step& step) {
  if (!entry.object.most_seconds || entry.evicting) {
    return;
  }
  const std::int64_t left = *entry.object.most_seconds - entry.object.spent_seconds;
  const Condition* admitted = entry.object.condition(kAdmitted);
  const auto since = admitted == nullptr ? std::nullopt : parse_time(admitted->since);
  const Time end = since ? Time(std::chrono::seconds(*since)) + std::chrono::seconds(left) : now;
  if (now < end) {
    ledger_.later.add(end, entry.key());
    return;
  }
  staff_.evictions.evict(
      entry,
      {.reason = kTimeIsUp,
       .message = fmt::format("The maximum execution time of {}s is exceeded", *entry.object.most_seconds)},
      now, step);
}

// What Kueue made does not go before its finalizer is taken away: when nothing of it runs any more.
void WorkloadReconciler::let_go(Entry& entry, Time now, Step& step) {
  if (!entry.object.in_use || staff_.evictions.runs(entry, ledger_.job_of(entry))) {
    return;
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    if (!entry.guard.in_flight()) {
      ledger_.look_again(entry, now);
    }
    return;
  }
  staff_.status.remove_finalizer(entry, kInUse, step);
}

void WorkloadReconciler::look_after(Entry& entry, const JobEntry* job, Time now, Step& step) {
  if (entry.object.holds(kEvicted)) {
    entry.evicting.reset();
    const std::string& reason = entry.object.condition(kEvicted)->reason;
    if (entry.object.active && (reason == kGivenUp || reason == kTimeIsUp)) {
      staff_.status.set_active(entry, false, step);
      return;
    }
    if (!entry.object.active && (entry.object.requeues > 0 || entry.object.requeue_at)) {
      json::Out::Object fields;
      fields.emplace_back("requeueState", json::Out());  // who activates it again lets it begin anew
      staff_.status.write(entry, {}, std::move(fields), now, step);
      return;
    }
    // What nothing owns is over when its maker says so, by taking the admission away, or by the condition alone: who
    // applies fields on the server cannot take away those that others wrote.
    if (!entry.object.unowned || !entry.object.holds(kQuotaReserved)) {
      staff_.evictions.release(entry, job, now, step);
    }
    return;
  }
  if (!entry.object.holds(kAdmitted) && entry.object.holds(kQuotaReserved) && entry.object.checks_pass) {
    // Somebody else has reserved its quota.
    staff_.status.write(entry, {{.type = kAdmitted, .holds = true, .reason = "Admitted", .message = kAdmittedMessage}},
                        {}, now, step);
    return;
  }
  if (!entry.object.active) {
    staff_.evictions.evict(entry, {.reason = kDeactivatedReason, .message = "The workload is deactivated"}, now, step);
  }
  if (const std::optional<Drain> stopped = drain(entry, ledger_.setup); stopped && !entry.evicting) {
    staff_.evictions.evict(entry, {.reason = stopped->reason, .message = stopped->message}, now, step);
  }
  watch_time(entry, now, step);
  if (entry.evicting) {
    staff_.evictions.write(entry, now, step);
    return;
  }
  staff_.ungater.remove_stranded(entry, now, step);
  if (staff_.hosts.mend(entry, now, step)) {
    return;
  }
  // Those for which there are no others yet.
  if (entry.object.unhealthy != entry.failed_hosts) {
    json::Out::Object fields;
    fields.emplace_back("unhealthyNodes", write_unhealthy(entry.failed_hosts));
    staff_.status.write(entry, {}, std::move(fields), now, step);
    return;
  }
  if (job != nullptr) {
    staff_.readiness.watch(entry, *job, now, step);
  } else if (entry.object.unowned) {
    staff_.readiness.watch_unowned(entry, now, step);
  }
}

bool WorkloadReconciler::settle_priority(Entry& entry, Step& step) {
  const auto known = ledger_.setup.priority_classes.find(entry.object.class_name);
  if (known == ledger_.setup.priority_classes.end() || entry.class_value == known->second) {
    return false;
  }
  if (entry.object.request.priority != known->second) {
    staff_.status.set_priority(entry, known->second, step);
    return true;
  }
  entry.class_value = known->second;  // from now on whatever somebody writes there stays
  return false;
}

bool WorkloadReconciler::settle_over(Entry& entry, const JobEntry& job, Time now, Step& step) {
  if (!entry.waits() || !job.progress.suspended) {
    return false;
  }
  const std::map<std::string, int> over = pods_over(entry.object, job);
  if (over == entry.object.reclaimable) {
    return false;
  }
  json::Out::Object fields;
  fields.emplace_back("reclaimablePods", write_reclaimable(over));
  staff_.status.write(entry, {}, std::move(fields), now, step);
  return true;
}

}  // namespace gantree::kueue
