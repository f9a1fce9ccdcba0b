#include "dialects/kueue/kueue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/kueue/admitted_room.h"
#include "dialects/kueue/alternatives.h"
#include "dialects/kueue/job_request.h"
#include "dialects/kueue/members.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/submit.h"
#include "dialects/kueue/workload_record.h"

namespace gantree::kueue {

namespace {

bool has_marks(json::Value map) {
  if (!map) {
    return false;
  }
  const auto members = map.members();
  return std::any_of(members.begin(), members.end(), [](const json::MemberData& member) {
    return member.key.starts_with(kPodSetPrefix) || member.key == kQueueName;
  });
}

Rejection out_of_line(Reason reason, std::string message) {
  return {.reason = reason, .message = std::move(message), .waits = true};
}

// What its Workload says of it counts before what could be done for it.
void heed(const GangRecord& record, const JobRequest& request, Submission& submission) {
  const std::string object = fmt::format("Workload \"{}/{}\"", record.key.ns, record.object);
  switch (record.standing) {
    case Standing::kDeactivated:
      // What is wrong with it is also why it was deactivated.
      if (!submission.rejection || submission.rejection->waits) {
        submission.rejection =
            out_of_line(Reason::kDeactivated, fmt::format("{} (spec.active of {} is false)", record.message, object));
      }
      break;
    case Standing::kSuspended:
      submission.rejection = out_of_line(
          Reason::kSuspended, fmt::format("{}; it is queued again when spec.suspend is false", record.message));
      break;
    case Standing::kEvicted:
      submission.rejection =
          out_of_line(Reason::kEvicted, fmt::format("it is queued again when its pods are gone: {}", record.message));
      break;
    case Standing::kAdmitted:
      if (!request.runs_on.empty() && static_cast<int>(request.runs_on.size()) >= record.admitted) {
        submission.rejection = out_of_line(
            Reason::kExcessPods,
            fmt::format(
                "{} was admitted with {} pods, which run; to have more, {} \"{}\" is scaled to 0 and from there "
                "to the number wanted",
                object, record.admitted, record.key.kind, record.key.name));
      }
      break;
    case Standing::kWaits:
      if (record.queued_seconds != 0) {
        submission.created_seconds = record.queued_seconds;
      }
      if (!record.pause.empty()) {
        submission.rejection =
            out_of_line(Reason::kEvicted, fmt::format("its pods were not ready in time: {}", record.pause));
      }
      break;
    case Standing::kFinished:
      break;
  }
  if (submission.rejection) {
    submission.parts.clear();
  }
}

// The record of a gang that has been admitted, and does not have to leave; nullptr where it has not.
const GangRecord* admission_of(const GangKey& key, const Reading& reading) {
  const auto record = reading.records.find(key);
  const bool admitted = record != reading.records.end() && record->second.standing == Standing::kAdmitted;
  return admitted ? &record->second : nullptr;
}

}  // namespace

std::span<const ApiKind> KueueDialect::kinds() const {
  static const ApiKind kKinds[] = {
      {.group = kGroup, .kind = "Topology", .versions = {"v1beta2", "v1beta1", "v1alpha1"}, .namespaced = false},
      {.group = kGroup, .kind = "ResourceFlavor", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "ClusterQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "Cohort", .versions = {"v1beta2", "v1beta1", "v1alpha1"}, .namespaced = false},
      {.group = kGroup, .kind = "LocalQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = true},
      {.group = kGroup, .kind = "WorkloadPriorityClass", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "Workload", .versions = {"v1beta2", "v1beta1"}, .namespaced = true},
  };
  return kKinds;
}

Result<> KueueDialect::read(const NamedObject& named, Intake& intake) {
  const std::string_view kind = named.object.kind;
  if (kind == "Topology") {
    return read_topology(named, intake, setup_);
  }
  if (kind == "ResourceFlavor") {
    return read_flavor(named, intake, setup_);
  }
  if (kind == "ClusterQueue") {
    return read_cluster_queue(named, intake, setup_);
  }
  if (kind == "Cohort") {
    return read_cohort(named, intake, setup_);
  }
  if (kind == "LocalQueue") {
    return read_local_queue(named, setup_);
  }
  if (kind == "Workload") {
    if (auto record = read_record(named)) {
      GangKey key = record->key;
      intake.reading.records.insert_or_assign(std::move(key), std::move(*record));
    }
    return {};
  }
  return read_priority_class(named, setup_);
}

Result<> KueueDialect::connect(Intake& intake) {
  return kueue::connect(setup_, intake);
}

Claim KueueDialect::claim(const Workload& workload, const Intake&) const {
  const bool marked = queue_name_of(workload) || workload.mark(kPriorityClass) ||
                      std::any_of(workload.templates.begin(), workload.templates.end(), [](const PodTemplate& part) {
                        return has_marks(part.labels()) || has_marks(part.annotations());
                      });
  if (marked) {
    return Claim::kMarked;
  }
  const bool batch = workload.key.kind == "Job" || workload.key.kind == "JobSet";
  return batch ? Claim::kDefault : Claim::kNone;
}

std::optional<GangKey> KueueDialect::gang_of(const PodRecord& pod, const Intake&) const {
  if (pod.owner.present()) {
    return std::nullopt;
  }
  const json::Value group = pod_group_of(pod.labels(), pod.annotations());
  if (!group && !text_at(pod.labels(), kQueueName)) {
    return std::nullopt;
  }
  return GangKey{.ns = std::string(pod.ns), .name = std::string(group ? group.text() : pod.name), .kind = "Pod"};
}

void KueueDialect::describe(const Workload* workload, std::span<const PodRecord* const> pods, Intake& intake,
                            RunningGang& gang) {
  Inventory& inventory = intake.cluster.inventory();
  const auto request = workload == nullptr ? read_running_pods(pods, inventory) : read_request(*workload, inventory);
  if (!request) {
    return;  // it runs, whatever is wrong with its template by now
  }
  gang.created_seconds = request->created_seconds;
  if (const auto own = workload_priority(*request, setup_)) {
    gang.priority = *own;
  }
  if (const LocalQueue* queue = queue_of(*request, setup_); queue != nullptr && queue->inactive.empty()) {
    gang.queue = queue->cluster_queue->id;
    gang.used = quota_used(*request, *queue->cluster_queue);
    // A pod of a Deployment is a gang by itself and has its part of the quota only.
    const bool part = workload != nullptr && gang.key.kind == "Pod" && workload->pods() > 0;
    for (auto& [cell, amount] : gang.used) {
      amount = part ? amount / workload->pods() * static_cast<std::int64_t>(pods.size()) : amount;
    }
  }
  // Those that have ended are not made again: where some run, what is to come is what waits.
  const GangRecord* record = admission_of(gang.key, intake.reading);
  if (record != nullptr && workload != nullptr) {
    const int missing = record->admitted - gang.pods();
    hold_rest(admitted_holdings(*record, *request, inventory),
              pods.empty() ? missing : std::min(missing, workload->pending_pods), gang, inventory);
  }
}

bool KueueDialect::hold(const JobRequest& request, const Submission& submission, Intake& intake) const {
  const GangRecord* record = admission_of(request.key, intake.reading);
  if (record == nullptr) {
    return false;
  }
  Inventory& inventory = intake.cluster.inventory();
  std::vector<Holding> holdings = admitted_holdings(*record, request, inventory);
  if (holdings.empty()) {
    return false;
  }
  if (!request.runs_on.empty()) {
    return !submission.rejection;  // described as running, with the room of all its pods
  }
  RunningGang gang;
  gang.key = request.key;
  gang.dialect = kFamily;
  gang.priority = submission.priority;
  gang.created_seconds = request.created_seconds;
  if (const LocalQueue* queue = queue_of(request, setup_); queue != nullptr && queue->inactive.empty()) {
    gang.queue = queue->cluster_queue->id;
    gang.used = quota_used(request, *queue->cluster_queue);
  }
  hold_rest(std::move(holdings), record->admitted, gang, inventory);
  intake.quota.take({gang.used}, {1});
  intake.cluster.add_running(std::move(gang));
  return true;
}

Result<> KueueDialect::submit(Intake& intake) {
  Unresolved unresolved;
  const auto requests = requests_of(intake, intake.cluster.inventory());
  if (!requests) {
    return tl::unexpected(requests.error());
  }
  for (const JobRequest& request : *requests) {
    Submission submission = submission_of(request, setup_, intake, unresolved);
    if (const auto record = intake.reading.records.find(request.key); record != intake.reading.records.end()) {
      heed(record->second, request, submission);
    }
    if (!hold(request, submission, intake)) {
      const GangRecord* record = admission_of(request.key, intake.reading);
      if (record != nullptr && request.runs_on.empty()) {
        keep_to_admission(*record, submission, intake.cluster.inventory().strings());
      }
      intake.reading.queue.push_back(std::move(submission));
    }
  }
  for (const Workload& workload : intake.workloads) {
    if (is_left_out(workload)) {
      intake.reading.notes.push_back(
          fmt::format("{} \"{}/{}\": {} of {} pods run; the rest of a started job is not planned", workload.key.kind,
                      workload.key.ns, workload.key.name, workload.bound_pods, workload.pods()));
    }
  }
  for (std::string& note : unresolved.notes()) {
    intake.reading.notes.push_back(std::move(note));
  }
  return {};
}

}  // namespace gantree::kueue
