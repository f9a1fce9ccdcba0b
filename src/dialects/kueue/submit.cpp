#include "dialects/kueue/submit.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/priority.h"
#include "dialects/gangs.h"
#include "dialects/kueue/alternatives.h"
#include "dialects/kueue/names.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";  // set by Kubernetes itself

std::string at(const JobRequest& workload, json::Value value) {
  return json::to_string({workload.place.file, value ? value.line() : workload.place.line});
}

// The priority by class of workloads, else by class or number of a pod template, else the default.
Result<std::int64_t> priority_of(const JobRequest& workload, const Setup& setup, const Intake& intake,
                                 Unresolved& unresolved) {
  if (workload.priority) {
    return *workload.priority;
  }
  if (const auto own = workload_priority(workload, setup)) {
    return *own;
  }
  if (workload.priority_class) {
    if (!setup.priority_classes.empty()) {
      return fail(Errc::kNotFound,
                  fmt::format("{}: {}: there is no WorkloadPriorityClass \"{}\"", at(workload, workload.priority_class),
                              kPriorityClass, workload.priority_class.text()));
    }
    ++unresolved.workload_priorities;
  } else if (const auto common = setup.priority_classes.find(std::string(kDefaultPriorityClass));
             common != setup.priority_classes.end() && workload.key.kind != "Workload") {
    return common->second;
  }
  std::vector<json::Value> specs;
  for (const PodSetRequest& set : workload.pod_sets) {
    specs.push_back(set.spec);
  }
  return gang_priority(workload.place.file, specs, intake.core, unresolved.priorities);
}

// Of a namespace that is not in the input only the name is known: what else is asked of it is
// taken to hold.
bool admits_namespace(const ClusterQueue& queue, const std::string& ns, const CoreObjects& core) {
  const auto known = core.namespaces.find(ns);
  LabelMap labels = known == core.namespaces.end() ? LabelMap{} : known->second;
  labels.insert_or_assign(std::string(kNamespaceNameLabel), ns);
  return std::all_of(queue.namespace_selector.begin(), queue.namespace_selector.end(),
                     [&](const LabelRequirement& requirement) {
                       const bool unknown = known == core.namespaces.end() && requirement.key != kNamespaceNameLabel;
                       return unknown || requirement.holds(labels);
                     });
}

Rejection rejected(std::string message) {
  return {.reason = Reason::kInvalidRequest, .message = std::move(message), .waits = false};
}

// What administrators may mend.
Rejection lacking(Reason reason, std::string message) {
  return {.reason = Reason::kInvalidRequest,
          .message = std::move(message),
          .waits = false,
          .mendable = true,
          .lacking = reason};
}

Rejection stopped(std::string_view kind, std::string_view name, std::string_view policy) {
  return {.reason = Reason::kQueueStopped,
          .message = fmt::format("{} \"{}\" is stopped (stopPolicy {})", kind, name, policy),
          .waits = true};
}

// Whether the queue takes jobs of that namespace at all. A plan passes over a selector that is not there: of its
// namespaces little is known.
std::optional<Rejection> closed_to_namespace(const JobRequest& workload, const ClusterQueue& queue,
                                             const Intake& intake) {
  const bool live = intake.quota_alone;
  if (live && queue.no_namespace) {
    return Rejection{.reason = Reason::kNamespaceMismatch,
                     .message = fmt::format("ClusterQueue \"{}\" has no namespaceSelector, so no namespace may use it "
                                            "({{}} is for all)",
                                            queue.name),
                     .waits = true};
  }
  if (!admits_namespace(queue, workload.key.ns, intake.core)) {
    return lacking(Reason::kNamespaceMismatch,
                   fmt::format("{}: namespaceSelector of ClusterQueue \"{}\" does not admit namespace \"{}\"",
                               at(workload, workload.queue_name), queue.name, workload.key.ns));
  }
  return std::nullopt;
}

// Why the queue takes nothing, or not this; nothing where it does.
std::optional<Rejection> closed(const JobRequest& workload, const LocalQueue& local, const Intake& intake) {
  if (!local.inactive.empty()) {
    // A plan says of every queue that is not active the same.
    const bool missing = local.cluster_queue == nullptr && intake.quota_alone;
    return Rejection{.reason = missing ? Reason::kQueueNotFound : Reason::kQueueStopped,
                     .message = fmt::format("its queue is not active: {}", local.inactive),
                     .waits = true};
  }
  const ClusterQueue& queue = *local.cluster_queue;
  if (auto refused = closed_to_namespace(workload, queue, intake)) {
    return refused;
  }
  if (!local.stop_policy.empty()) {
    return stopped("LocalQueue", workload.queue_name ? workload.queue_name.text() : kDefaultQueue, local.stop_policy);
  }
  if (!queue.stop_policy.empty()) {
    return stopped("ClusterQueue", queue.name, queue.stop_policy);
  }
  return std::nullopt;
}

// What runs of the job has used its quota, and fixes the domain of a required level.
void resume(Alternative& alternative, const JobRequest& workload, Cluster& cluster) {
  for (QuotaDemand& demand : alternative.demand) {
    demand.clear();
  }
  for (PodSet& pods : alternative.gang.root.pod_sets) {
    const TopologyId topology = pods.constraint.topology.value_or(alternative.gang.topology);
    if (!pods.constraint.required) {
      continue;
    }
    if (const auto path = common_domain(cluster.engine(), topology, *pods.constraint.required, workload.runs_on)) {
      confine(pods.shape, cluster.engine().topology(topology), *path, cluster.inventory().strings());
    }
  }
}

void find_ways(const JobRequest& workload, const Setup& setup, Intake& intake, Unresolved& unresolved,
               Submission& submission) {
  const LocalQueue* queue = queue_of(workload, setup);
  if (queue == nullptr && workload.queue_name) {
    // Where there are Workloads, somebody is in charge of queues.
    if (setup.has_queues() || !intake.reading.records.empty()) {
      submission.rejection =
          lacking(Reason::kQueueNotFound, fmt::format("{}: {}: there is no LocalQueue \"{}\" in namespace \"{}\"",
                                                      at(workload, workload.queue_name), kQueueName,
                                                      workload.queue_name.text(), workload.key.ns));
      return;
    }
    ++unresolved.queues;
  } else if (queue == nullptr && setup.has_queues()) {
    ++unresolved.no_queue;
  }
  if (queue != nullptr && queue->inactive.empty()) {
    submission.queue = queue->cluster_queue->id;
    submission.own_quota_first = queue->cluster_queue->policy.own_quota_first;
    submission.evicts_before_next = queue->cluster_queue->policy.evicts_before_next;
    submission.evicts_before_borrowing = queue->cluster_queue->policy.evicts_before_borrowing;
  }
  if (queue != nullptr) {
    submission.rejection = closed(workload, *queue, intake);
    if (submission.rejection) {
      return;
    }
  }
  auto parts = queue != nullptr ? ways_in_queue(workload, *queue->cluster_queue, intake)
                                : ways_without_queue(workload, setup, intake);
  if (!parts) {
    const bool mendable = parts.error().code == Errc::kNotFound;
    submission.rejection = mendable ? lacking(Reason::kNoMatchingFlavor, std::move(parts.error().message))
                                    : rejected(std::move(parts.error().message));
    return;
  }
  submission.parts = std::move(*parts);
  for (std::vector<Alternative>& ways : submission.parts) {
    if (ways.size() > kMostWays) {
      ways.resize(kMostWays);
      submission.has_more_ways = true;
    }
    for (Alternative& way : ways) {
      way.gang.dialect = submission.dialect;
      way.gang.priority = submission.priority;
      if (!workload.runs_on.empty()) {
        resume(way, workload, intake.cluster);
      }
    }
  }
}

}  // namespace

std::vector<std::string> Unresolved::notes() const {
  std::vector<std::string> notes;
  const auto jobs = [](int count) {
    return count == 1 ? std::string("1 job names") : fmt::format("{} jobs name", count);
  };
  if (queues > 0) {
    notes.push_back(fmt::format("{} a queue, but no LocalQueue or ClusterQueue is in the input: planned without quota",
                                jobs(queues)));
  }
  if (no_queue > 0) {
    notes.push_back(fmt::format("{} no queue (label {}): planned without quota", jobs(no_queue), kQueueName));
  }
  if (workload_priorities > 0) {
    notes.push_back(fmt::format("{} a WorkloadPriorityClass, but none is in the input: it does not count",
                                jobs(workload_priorities)));
  }
  if (priorities > 0) {
    notes.push_back(fmt::format("{} a PriorityClass, but none is in the input: it does not count", jobs(priorities)));
  }
  return notes;
}

std::optional<std::int64_t> workload_priority(const JobRequest& workload, const Setup& setup) {
  if (!workload.priority_class) {
    return std::nullopt;
  }
  const auto it = setup.priority_classes.find(workload.priority_class.text());
  return it == setup.priority_classes.end() ? std::nullopt : std::optional(it->second);
}

const LocalQueue* queue_of(const JobRequest& workload, const Setup& setup) {
  const std::string name(workload.queue_name ? workload.queue_name.text() : kDefaultQueue);
  const auto it = setup.local_queues.find(std::pair(workload.key.ns, name));
  return it == setup.local_queues.end() ? nullptr : &it->second;
}

Submission submission_of(const JobRequest& workload, const Setup& setup, Intake& intake, Unresolved& unresolved) {
  Submission submission;
  submission.key = workload.key;
  submission.made_for = workload.made_for;
  submission.dialect = "kueue";
  submission.created_seconds = workload.created_seconds;
  for (const PodSetRequest& set : workload.pod_sets) {
    submission.pod_sets.emplace_back(set.name, set.count);
  }
  submission.may_evict = std::none_of(workload.pod_sets.begin(), workload.pod_sets.end(),
                                      [&](const PodSetRequest& set) { return never_preempts(set.spec, intake.core); });
  const auto priority = priority_of(workload, setup, intake, unresolved);
  submission.priority = priority.value_or(0);
  if (workload.objection) {
    submission.rejection = rejected(*workload.objection);
  } else if (!priority) {
    submission.rejection = lacking(Reason::kPriorityClassNotFound, priority.error().message);
  } else if (workload.incomplete) {
    submission.rejection = {.reason = Reason::kGangIncomplete, .message = *workload.incomplete, .waits = true};
  } else {
    find_ways(workload, setup, intake, unresolved, submission);
  }
  return submission;
}

}  // namespace gantree::kueue
