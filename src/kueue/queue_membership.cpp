#include "kueue/queue_membership.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace gantree::kueue {

namespace {

constexpr std::string_view kDefaultQueue = "default";

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

std::optional<Wanted> queued_again(const Entry& entry, const Setup& setup, Time now) {
  const Condition* requeued = entry.object.condition(kRequeued);
  if (requeued == nullptr || requeued->holds) {
    return std::nullopt;
  }
  if (requeued->reason == kPausesForPods && (!entry.object.requeue_at || *entry.object.requeue_at <= now)) {
    return Wanted{
        .type = kRequeued, .holds = true, .reason = "BackoffFinished", .message = "The pause before it is over"};
  }
  const bool cluster_queue = requeued->reason == kClusterQueueStopped;
  if (!cluster_queue && requeued->reason != kLocalQueueStopped) {
    return std::nullopt;
  }
  const LocalQueue* queue = nullptr;
  if (const auto it = setup.local_queues.find(std::pair(entry.object.ref.ns, std::string(local_queue_of(entry))));
      it != setup.local_queues.end()) {
    queue = &it->second;
  }
  if (queue == nullptr || queue->cluster_queue == nullptr || !queue->stop_policy.empty() ||
      !queue->cluster_queue->stop_policy.empty()) {
    return std::nullopt;
  }
  return Wanted{.type = kRequeued,
                .holds = true,
                .reason = cluster_queue ? "ClusterQueueRestarted" : "LocalQueueRestarted",
                .message = fmt::format("The {} runs again", cluster_queue ? "ClusterQueue" : "LocalQueue")};
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
