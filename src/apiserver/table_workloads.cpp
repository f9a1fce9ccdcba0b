// Tables of pods, Jobs and the kinds of apps/v1.
#include <fmt/format.h>

#include <array>

#include "apiserver/table_cells.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

constexpr TableColumn kContainers{"Containers", "string", 1, "Names of each container in the template."};
constexpr TableColumn kImages{"Images", "string", 1, "Images referenced by each container in the template."};
constexpr TableColumn kSelector{"Selector", "string", 1, "Labels that choose the pods."};

void put_containers(const Value* pod_spec, Array& cells) {
  std::string names;
  std::string images;
  const Array* containers = pod_spec == nullptr ? nullptr : array_at(*pod_spec, {"containers"});
  for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    names += (i == 0 ? "" : ",") + std::string(text_at((*containers)[i], {"name"}));
    images += (i == 0 ? "" : ",") + std::string(text_at((*containers)[i], {"image"}));
  }
  cells.push_back(Value(names));
  cells.push_back(Value(images));
}

void put_template(const Value& object, Array& cells) {
  put_containers(find(object, {"spec", "template", "spec"}), cells);
}

void put_template_and_selector(const Value& object, Array& cells) {
  put_template(object, cells);
  cells.push_back(Value(text_of_selector(find(object, {"spec", "selector"}))));
}

std::string job_status(const Value& job) {
  for (const std::string_view end : {"Complete", "Failed"}) {
    if (has_condition(job, end)) {
      return std::string(end);
    }
  }
  if (!text_at(job, {"metadata", "deletionTimestamp"}).empty()) {
    return "Terminating";
  }
  for (const std::string_view state : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (has_condition(job, state)) {
      return std::string(state);
    }
  }
  return "Running";
}

void job_cells(const Value& job, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(job)));
  cells.push_back(Value(job_status(job)));
  const std::int64_t done = number_at(job, {"status", "succeeded"});
  const std::int64_t parallelism = number_at(job, {"spec", "parallelism"}, 1);
  if (const Value* completions = find(job, {"spec", "completions"});
      completions != nullptr && !completions->is_null()) {
    cells.push_back(Value(fmt::format("{}/{}", done, number_at(job, {"spec", "completions"}))));
  } else {
    cells.push_back(Value(parallelism > 1 ? fmt::format("{}/1 of {}", done, parallelism) : fmt::format("{}/1", done)));
  }
  const auto started = parse_time(text_at(job, {"status", "startTime"}));
  const auto ended = parse_time(text_at(job, {"status", "completionTime"}));
  cells.push_back(Value(started ? human_duration(ended.value_or(now) - *started) : std::string()));
  cells.push_back(Value(age_of(job, now)));
  put_template_and_selector(job, cells);
}

void cron_job_cells(const Value& job, std::int64_t now, Array& cells) {
  const std::string_view last = text_at(job, {"status", "lastScheduleTime"});
  const Array* active = array_at(job, {"status", "active"});
  const Value* suspend = find(job, {"spec", "suspend"});
  cells.push_back(Value(name_of(job)));
  cells.push_back(Value(text_at(job, {"spec", "schedule"})));
  cells.push_back(Value(or_none(text_at(job, {"spec", "timeZone"}))));
  cells.push_back(Value(suspend != nullptr && suspend->is_bool() && suspend->get_bool() ? "True" : "False"));
  cells.push_back(Value(active == nullptr ? 0 : static_cast<std::int64_t>(active->size())));
  cells.push_back(Value(last.empty() ? std::string("<none>") : age_of(last, now)));
  cells.push_back(Value(age_of(job, now)));
  put_containers(find(job, {"spec", "jobTemplate", "spec", "template", "spec"}), cells);
  cells.push_back(Value(text_of_selector(find(job, {"spec", "jobTemplate", "spec", "selector"}))));
}

void deployment_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(fmt::format("{}/{}", number_at(object, {"status", "readyReplicas"}),
                                    number_at(object, {"spec", "replicas"}, 1))));
  cells.push_back(Value(number_at(object, {"status", "updatedReplicas"})));
  cells.push_back(Value(number_at(object, {"status", "availableReplicas"})));
  cells.push_back(Value(age_of(object, now)));
  put_template_and_selector(object, cells);
}

void replica_set_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(number_at(object, {"spec", "replicas"}, 1)));
  cells.push_back(Value(number_at(object, {"status", "replicas"})));
  cells.push_back(Value(number_at(object, {"status", "readyReplicas"})));
  cells.push_back(Value(age_of(object, now)));
  put_template(object, cells);
  const Value* selector = find(object, {"spec", "selector"});
  const bool plain = selector != nullptr && selector->is_object() && find(*selector, {"matchLabels"}) == nullptr &&
                     find(*selector, {"matchExpressions"}) == nullptr;
  cells.push_back(Value(plain ? text_of_labels(selector->if_object()) : text_of_selector(selector)));
}

void stateful_set_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(fmt::format("{}/{}", number_at(object, {"status", "readyReplicas"}),
                                    number_at(object, {"spec", "replicas"}, 1))));
  cells.push_back(Value(age_of(object, now)));
  put_template(object, cells);
}

void daemon_set_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  for (const std::string_view key : {"desiredNumberScheduled", "currentNumberScheduled", "numberReady",
                                     "updatedNumberScheduled", "numberAvailable"}) {
    cells.push_back(Value(number_at(object, {"status", key})));
  }
  cells.push_back(Value(text_of_labels(object_at(object, {"spec", "template", "spec", "nodeSelector"}))));
  cells.push_back(Value(age_of(object, now)));
  put_template_and_selector(object, cells);
}

void revision_cells(const Value& object, std::int64_t now, Array& cells) {
  const Array* owners = array_at(object, {"metadata", "ownerReferences"});
  std::string controller = "<none>";
  if (owners != nullptr && !owners->empty()) {
    controller = fmt::format("{}.{}/{}", text_at((*owners)[0], {"kind"}), "apps", text_at((*owners)[0], {"name"}));
  }
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(controller));
  cells.push_back(Value(number_at(object, {"revision"})));
  cells.push_back(Value(age_of(object, now)));
}

constexpr auto kPod = std::to_array<TableColumn>({
    kName,
    {"Ready", "string", 0, "Containers that are ready, of all."},
    {"Status", "string", 0, "The state of the containers, taken together."},
    {"Restarts", "string", 0, "How often the containers were started again."},
    kAge,
    {"IP", "string", 1, "The pod's first address."},
    {"Node", "string", 1, "The node on which the pod runs."},
    {"Nominated Node", "string", 1, "The node on which room is being made for the pod."},
    {"Readiness Gates", "string", 1, "Further conditions of readiness that hold, of all."},
});
constexpr auto kReplicaSet = std::to_array<TableColumn>({kName,
                                                         {"Desired", "integer", 0, "Pods that are wanted."},
                                                         {"Current", "integer", 0, "Pods that are there."},
                                                         {"Ready", "integer", 0, "Pods that are ready."},
                                                         kAge,
                                                         kContainers,
                                                         kImages,
                                                         kSelector});
constexpr auto kDaemonSet =
    std::to_array<TableColumn>({kName,
                                {"Desired", "integer", 0, "Nodes that should run the pod."},
                                {"Current", "integer", 0, "Nodes that run the pod."},
                                {"Ready", "integer", 0, "Nodes whose pod is ready."},
                                {"Up-to-date", "integer", 0, "Nodes whose pod is of the newest template."},
                                {"Available", "integer", 0, "Nodes whose pod has been ready for long enough."},
                                {"Node Selector", "string", 0, "Labels of the nodes."},
                                kAge,
                                kContainers,
                                kImages,
                                kSelector});
constexpr auto kJob = std::to_array<TableColumn>({kName,
                                                  {"Status", "string", 0, "The state of the job."},
                                                  {"Completions", "string", 0, "Pods that succeeded, of those wanted."},
                                                  {"Duration", "string", 0, "How long the job took or has run."},
                                                  kAge,
                                                  kContainers,
                                                  kImages,
                                                  kSelector});
constexpr auto kCronJob = std::to_array<TableColumn>({kName,
                                                      {"Schedule", "string", 0, "When jobs are made."},
                                                      {"Timezone", "string", 0, "The time zone of the schedule."},
                                                      {"Suspend", "boolean", 0, "Whether no further jobs are made."},
                                                      {"Active", "integer", 0, "Jobs that run."},
                                                      {"Last Schedule", "string", 0, "How long ago a job was made."},
                                                      kAge,
                                                      kContainers,
                                                      kImages,
                                                      kSelector});
constexpr auto kDeployment =
    std::to_array<TableColumn>({kName,
                                {"Ready", "string", 0, "Pods that are ready, of those wanted."},
                                {"Up-to-date", "string", 0, "Pods of the newest template."},
                                {"Available", "string", 0, "Pods that have been ready for long enough."},
                                kAge,
                                kContainers,
                                kImages,
                                kSelector});
constexpr auto kStatefulSet = std::to_array<TableColumn>(
    {kName, {"Ready", "string", 0, "Pods that are ready, of those wanted."}, kAge, kContainers, kImages});
constexpr auto kRevision = std::to_array<TableColumn>({kName,
                                                       {"Controller", "string", 0, "What the revision belongs to."},
                                                       {"Revision", "string", 0, "Its number."},
                                                       kAge});

constexpr auto kWorkloadTables = std::to_array<KindTable>({
    {"", "Pod", kPod, pod_cells},
    {"", "ReplicationController", kReplicaSet, replica_set_cells},
    {"apps", "ReplicaSet", kReplicaSet, replica_set_cells},
    {"apps", "DaemonSet", kDaemonSet, daemon_set_cells},
    {"apps", "Deployment", kDeployment, deployment_cells},
    {"apps", "StatefulSet", kStatefulSet, stateful_set_cells},
    {"apps", "ControllerRevision", kRevision, revision_cells},
    {"batch", "Job", kJob, job_cells},
    {"batch", "CronJob", kCronJob, cron_job_cells},
});

}  // namespace

std::span<const KindTable> workload_tables() {
  return kWorkloadTables;
}

}  // namespace gantree::apiserver
