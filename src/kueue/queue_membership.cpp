#include "kueue/queue_membership.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/timestamp.h"
#include "dialects/kueue/names.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kReactivated = "Reactivated";

}  // namespace

std::string_view local_queue_of(const Entry& entry) {
  const json::Value name = entry.object.request.queue_name;
  return name ? name.text() : kDefaultQueue;
}

std::optional<Drain> drain(const Entry& entry, const Setup& setup) {
  const std::optional<Admission>& admission = entry.admission();
  if (!admission || entry.object.holds(kFinished)) {
    return std::nullopt;
  }
  return drain_of(setup, entry.object.ref.ns, local_queue_of(entry), admission->cluster_queue);
}

namespace {

// Whether the queues of a Workload take and start jobs.
bool runs_again(const Entry& entry, const Setup& setup) {
  const auto it = setup.local_queues.find(std::pair(entry.object.ref.ns, std::string(local_queue_of(entry))));
  return it != setup.local_queues.end() && it->second.cluster_queue != nullptr && it->second.stop_policy.empty() &&
         it->second.cluster_queue->stop_policy.empty();
}

Wanted in_queue(std::string_view reason, std::string message) {
  return {.type = kRequeued, .holds = true, .reason = reason, .message = std::move(message)};
}

Wanted restarted(std::string_view stopped) {
  return stopped == kClusterQueueStopped ? in_queue("ClusterQueueRestarted", "The ClusterQueue runs again")
                                         : in_queue("LocalQueueRestarted", "The LocalQueue runs again");
}

Wanted out_of_queue(std::string_view reason, std::string message) {
  return {.type = kRequeued, .holds = false, .reason = reason, .message = std::move(message)};
}

}  // namespace

Wanted requeued(const Entry& entry, const Setup& setup, Time now) {
  const Condition* evicted = entry.object.condition(kEvicted);
  const std::string_view reason = evicted == nullptr ? std::string_view() : std::string_view(evicted->reason);
  if (!entry.object.active) {
    return out_of_queue(kDeactivatedReason, "It is not queued again before spec.active is true");
  }
  if (const std::optional<Drain> stopped = drain(entry, setup)) {
    return out_of_queue(stopped->reason, stopped->message);
  }
  if (reason == kSuspendedByUser) {
    return out_of_queue(reason, "It is not queued again before its user resumes the job");
  }
  // Whoever has to wait a while is queued again when that is over.
  if (entry.pauses(now)) {
    return out_of_queue(kPausesForPods, fmt::format("It is queued again at {}", rfc3339(*entry.object.requeue_at)));
  }
  if (reason == kClusterQueueStopped || reason == kLocalQueueStopped) {
    return runs_again(entry, setup) ? restarted(reason) : out_of_queue(reason, evicted->message);
  }
  if (reason == kResumedByUser) {
    return in_queue(reason, "The job was resumed by its user");
  }
  if (reason == kDeactivatedReason) {
    return in_queue(kReactivated, "The workload was activated again");
  }
  return in_queue(reason.empty() ? std::string_view("Requeued") : reason,
                  evicted == nullptr ? std::string("It is queued again")
                                     : fmt::format("It is queued again, after: {}", evicted->message));
}

std::optional<Wanted> queued_again(const Entry& entry, const Setup& setup, Time now) {
  const Condition* last = entry.object.condition(kRequeued);
  if (last == nullptr || last->holds || !entry.object.active) {
    return std::nullopt;
  }
  if (last->reason == kDeactivatedReason) {
    return in_queue(kReactivated, "The workload was activated again");
  }
  if (last->reason == kSuspendedByUser) {
    return entry.suspended() ? std::nullopt
                             : std::optional(in_queue(kResumedByUser, "The job was resumed by its user"));
  }
  if (last->reason == kPausesForPods) {
    return !entry.pauses(now) ? std::optional(in_queue("BackoffFinished", "The pause before it is over"))
                              : std::nullopt;
  }
  if ((last->reason == kClusterQueueStopped || last->reason == kLocalQueueStopped) && runs_again(entry, setup)) {
    return restarted(last->reason);
  }
  return std::nullopt;
}

QueueStatuses queue_statuses(const Ledger& ledger) {
  std::vector<QueueMember> members;
  members.reserve(ledger.entries.size());
  for (const auto& [key, entry] : ledger.entries) {
    if (entry.object.holds(kFinished)) {
      continue;
    }
    const std::optional<Admission>& admission = entry.admission();
    members.push_back({.ns = entry.object.ref.ns,
                       .local_queue = local_queue_of(entry),
                       .cluster_queue = admission ? std::string_view(admission->cluster_queue) : std::string_view(),
                       .waits = entry.waits(),
                       .admitted = entry.assumed ? entry.sent : entry.object.holds(kAdmitted),
                       .used = &entry.used});
  }
  return kueue::queue_statuses(ledger.setup, ledger.quota, members);
}

}  // namespace gantree::kueue
