#include "kueue/evictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/timestamp.h"
#include "kueue/queue_membership.h"

namespace gantree::kueue {

namespace {

// Seconds that it has run by now, all its starts together.
std::int64_t spent(const WorkloadObject& workload, Time now) {
  const Condition* admitted = workload.condition(kAdmitted);
  const Condition* evicted = workload.condition(kEvicted);
  const auto from = admitted == nullptr || !admitted->holds ? std::nullopt : parse_time(admitted->since);
  const auto to = evicted == nullptr || !evicted->holds ? std::nullopt : parse_time(evicted->since);
  const std::int64_t end =
      to.value_or(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  return workload.spent_seconds + (from ? std::max<std::int64_t>(0, end - *from) : 0);
}

// What it has run so far counts for the time that it may run, unless that begins anew.
void add_spent(const WorkloadObject& workload, Time now, json::Out::Object& fields) {
  const std::int64_t seconds = workload.active ? spent(workload, now) : 0;
  if (seconds != workload.spent_seconds) {
    fields.emplace_back("accumulatedPastExecutionTimeSeconds", seconds == 0 ? json::Out() : json::Out(seconds));
  }
}

}  // namespace

void Evictions::evict(Entry& entry, Removal removal, Time now, Step& step) {
  if (entry.leaves()) {
    return;
  }
  ++step.figures.gangs_evicted;
  step.news.push_back(fmt::format("evicting workload \"{}\": {}", entry.key(), removal.message));
  const std::string reason = fmt::format("EvictedDueTo{}", removal.reason);
  announcer_.announce(entry, {.warning = true, .reason = reason, .action = "Evict", .note = removal.message}, now,
                      step);
  entry.evicting = std::move(removal);
  ledger_.dirty.insert(entry.key());
}

void Evictions::write(Entry& entry, Time now, Step& step) {
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
  if (!entry.object.unhealthy.empty()) {
    fields.emplace_back("unhealthyNodes", write_unhealthy({}));  // no others are looked for
  }
  status_.write(entry, wanted, std::move(fields), now, step, Urgency::kBinding);
}

// A pod that was deleted on a host that is down: nobody there tells that it has ended, for as long as the host is down.
bool Evictions::is_cut_off(const StartedPod& pod) const {
  const auto host = pod.node.empty() ? std::nullopt : ledger_.cluster.inventory().find(pod.node);
  return pod.deleting && !pod.node.empty() && (!host || !ledger_.cluster.inventory().node(*host).ready);
}

bool Evictions::runs(const Entry& entry, const JobEntry* job) const {
  int cut_off = 0;
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    if (pod.ended || pod.held) {
      continue;
    }
    if (!is_cut_off(pod)) {
      return true;
    }
    ++cut_off;
  }
  // The job may know of pods that no event has told of yet. It counts those that are cut off, too.
  const bool known = job != nullptr && !job->progress.end;
  return known && (!job->progress.suspended || job->progress.active > cut_off);
}

void Evictions::release(Entry& entry, const JobEntry* job, Time now, Step& step) {
  if (runs(entry, job)) {
    return;
  }
  const Condition* evicted = entry.object.condition(kEvicted);
  const std::string why = evicted == nullptr ? std::string() : evicted->message;
  json::Out::Object fields;
  fields.emplace_back("admission", json::Out());
  entry.failed_hosts.clear();
  if (!entry.object.unhealthy.empty()) {
    fields.emplace_back("unhealthyNodes", write_unhealthy({}));
  }
  // Pods that it did without, and which are not over, it asks for again.
  if (const auto over = job == nullptr ? entry.object.reclaimable : pods_over(entry.object, *job);
      over != entry.object.reclaimable) {
    fields.emplace_back("reclaimablePods", write_reclaimable(over));
  }
  add_spent(entry.object, now, fields);
  const bool active = entry.object.active;
  status_.write(entry,
                {{.type = kQuotaReserved,
                  .holds = false,
                  .reason = active ? kToBeTried : kDeactivatedReason,
                  .message = active ? why : kInactive},
                 {.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = why},
                 {.type = kPodsReady, .holds = false, .reason = "WaitForStart", .message = "The job is stopped"},
                 requeued(entry, ledger_.setup, now)},
                std::move(fields), now, step, Urgency::kBinding);
  entry.told.reset();  // why it waits is told anew
}

void Evictions::settle_returned(Entry& entry, Time now, Step& step) {
  std::vector<Wanted> wanted = {
      {.type = kAdmitted, .holds = false, .reason = "NoReservation", .message = kNoReservation}};
  if (entry.object.holds(kQuotaReserved)) {
    wanted.push_back({.type = kQuotaReserved, .holds = false, .reason = kToBeTried, .message = kNoReservation});
  }
  if (entry.object.holds(kEvicted)) {
    wanted.push_back(requeued(entry, ledger_.setup, now));
  }
  json::Out::Object fields;
  add_spent(entry.object, now, fields);
  status_.write(entry, wanted, std::move(fields), now, step);
}

}  // namespace gantree::kueue
