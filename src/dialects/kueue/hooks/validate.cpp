// What is refused of a job of any kind when it is stored.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "base/whole_number.h"
#include "dialects/kueue/hooks/hooks.h"
#include "dialects/kueue/hooks/job_object.h"
#include "dialects/kueue/job_request.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pod_rules.h"
#include "dialects/kueue/request.h"
#include "dialects/kueue/waiting_job.h"
#include "dialects/workloads/workload.h"

namespace gantree::kueue {

namespace {

std::optional<std::string> wrong_labels(const Object& object) {
  if (!is_object_name(queue_of(object))) {
    return fmt::format("{} \"{}\" is no name of a LocalQueue: small letters, digits, dashes and dots", kQueueName,
                       queue_of(object));
  }
  const std::string_view seconds = label_of(object, kMaxSeconds);
  if (!seconds.empty() && !whole_number(seconds, 1)) {
    return fmt::format("{} must be a whole number of at least 1, not \"{}\"", kMaxSeconds, seconds);
  }
  return std::nullopt;
}

// What the templates ask for, each for itself and within its group.
std::optional<std::string> wrong_templates(const Workload& workload) {
  const Object& object = workload.object;
  json::Reader read(object.file, object.value, workload.key.kind);
  Objection objection(object.file);
  std::vector<PodSetRequest> sets;
  for (const PodTemplate& part : workload.templates) {
    PodSetRequest& set = sets.emplace_back();
    set.name = part.role;
    if (const auto unfit = unfit_pod(part.spec)) {
      objection.raise(part.at, workload.templates.size() == 1 ? *unfit : fmt::format("\"{}\": {}", part.role, *unfit));
    }
    set.topology = read_topology_request(read, objection, object.file, part.annotations(),
                                         workload.key.kind == "JobSet" ? std::optional(part.each) : std::nullopt);
    if (workload.key.kind == "Job" && part.count() > 0) {
      static_cast<void>(read_min_parallelism(objection, workload, part.count()));
    }
  }
  // Of a pod it is the group that has pod sets, and that is not known yet.
  if (workload.key.kind != "Pod") {
    check_groups(objection, sets);
  }
  return read.ok() ? objection.first() : std::optional(read.error().value().message);
}

// What cannot be counted, or would outlive its Workload.
std::optional<std::string> wrong_roles(const Workload& workload) {
  const Object& object = workload.object;
  if (workload.objection && !is_guest(object)) {
    return workload.objection;
  }
  const json::Value spec = map_at(object.value, "spec");
  const json::Value cluster = object.kind == "RayJob" ? map_at(spec, "rayClusterSpec") : spec;
  if (object.group != kRayGroup || !cluster) {
    return std::nullopt;
  }
  const auto holds = [](json::Value parent, std::string_view key) {
    const json::Value flag = parent[key];
    return flag && flag.kind() == json::Kind::kBool && flag.text() == "true";
  };
  if (holds(cluster, "enableInTreeAutoscaling")) {
    return "enableInTreeAutoscaling cannot be true in a queue: quota is given for so many pods as are asked for";
  }
  if (object.kind == "RayJob" && !holds(spec, "shutdownAfterJobFinishes")) {
    return "shutdownAfterJobFinishes must be true in a queue: the cluster would go on without quota";
  }
  return std::nullopt;
}

// The first annotation of a template by which a topology is asked for; "" where there is none.
std::string_view asking_annotation(const Workload& workload) {
  for (const PodTemplate& part : workload.templates) {
    const json::Value annotations = part.annotations();
    for (const std::string_view key : {kRequired, kPreferred, kUnconstrained, kSliceLevel, kSliceLayers}) {
      if (annotations && annotations[key]) {
        return key;
      }
    }
  }
  return {};
}

}  // namespace

std::string unheeded_topology(const NamedObject& named) {
  if (!queue_of(named.object).empty() || !waits_itself(named.object)) {
    return "";
  }
  const auto workload = read_workload(named);
  const std::string_view asks = workload ? asking_annotation(*workload) : std::string_view();
  return asks.empty() ? ""
                      : fmt::format(
                            "{} has no effect: this {} names no queue (label {}), so its pods are placed one by "
                            "one, wherever there is room",
                            asks, named.object.kind, kQueueName);
}

Admission validate_job(const NamedObject& named) {
  const Object& object = named.object;
  if (queue_of(object).empty() || !prebuilt_of(object).empty()) {
    return {};
  }
  if (auto wrong = wrong_labels(object)) {
    return {.refusal = std::move(wrong), .warnings = {}};
  }
  const auto workload = read_workload(named);
  if (!workload) {
    return {.refusal = without_place(object.file, workload.error().message), .warnings = {}};
  }
  if (auto wrong = wrong_roles(*workload)) {
    return {.refusal = without_place(object.file, std::move(*wrong)), .warnings = {}};
  }
  if (auto wrong = wrong_templates(*workload)) {
    return {.refusal = without_place(object.file, std::move(*wrong)), .warnings = {}};
  }
  return {};
}

}  // namespace gantree::kueue
