// What queues are told, and what stopped queues mean for what runs in them.
#include <fmt/format.h>

#include <utility>

#include "dialects/kueue/names.h"
#include "kueue/controller.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kDefaultQueue = "default";

std::string_view local_queue_of(const Entry& entry) {
  const json::Value name = entry.object.request.queue_name;
  return name ? name.text() : kDefaultQueue;
}

}  // namespace

std::vector<std::string> Controller::look() {
  Step step;
  if (std::exchange(setup_changed_, false)) {
    read_setup(step);
  }
  stand_by();
  return step.remarks;
}

QueueStatuses Controller::queue_statuses() const {
  std::vector<QueueMember> members;
  members.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) {
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
  return kueue::queue_statuses(setup_, quota_, members);
}

void Controller::report_queues(Time now, Step& step) {
  if (const auto due = reporter_.due(); due && *due <= now) {
    reporter_.report(queue_statuses(), quota_, now, [&](const std::string& key, Write write) {
      return order(step, Urgency::kStatus, std::move(write), {.workload = {}, .job = {}, .pod = {}, .queue = key});
    });
  }
  if (const auto due = reporter_.due()) {
    step.wake_by(*due);
  }
}

std::optional<Drain> Controller::drain(const Entry& entry) const {
  const std::optional<Admission>& admission = entry.admission();
  if (!admission || entry.object.holds(kFinished)) {
    return std::nullopt;
  }
  return drain_of(setup_, entry.object.ref.ns, local_queue_of(entry), admission->cluster_queue);
}

std::optional<Wanted> Controller::queued_again(const Entry& entry) const {
  const Condition* requeued = entry.object.condition(kRequeued);
  if (requeued == nullptr || requeued->holds) {
    return std::nullopt;
  }
  const bool cluster_queue = requeued->reason == kClusterQueueStopped;
  if (!cluster_queue && requeued->reason != kLocalQueueStopped) {
    return std::nullopt;
  }
  const LocalQueue* queue = nullptr;
  if (const auto it = setup_.local_queues.find(std::pair(entry.object.ref.ns, std::string(local_queue_of(entry))));
      it != setup_.local_queues.end()) {
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

}  // namespace gantree::kueue
