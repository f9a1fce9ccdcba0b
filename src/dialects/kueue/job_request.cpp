#include "dialects/kueue/job_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/core/pod.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pod_rules.h"
#include "dialects/kueue/pods_over.h"

namespace gantree::kueue {

namespace {

// A pod set. Where only a slice level is given, a slice is a child Job of a JobSet.
PodSetRequest read_pod_set(json::Reader& read, Objection& objection, const Workload& workload, const PodTemplate& part,
                           Inventory& inventory) {
  PodSetRequest set;
  set.name = part.role;
  set.at = part.at;
  set.spec = part.spec;
  set.shape = read_pod_shape(read, part.spec, inventory);
  if (const auto unfit = unfit_pod(part.spec)) {
    objection.raise(part.at, fmt::format("pod set \"{}\": {}", part.role, *unfit));
  }
  set.topology = read_topology_request(read, objection, workload.object.file, read.object(part.metadata, "annotations"),
                                       workload.key.kind == "JobSet" ? std::optional(part.each) : std::nullopt);
  set.count = part.count();
  set.min_count = set.count;
  return set;
}

// If one template asks for a topology, the others must say what they want too.
void check_all_ask(Objection& objection, const std::vector<PodSetRequest>& sets) {
  const auto asks_for_level = [](const PodSetRequest& set) { return set.topology.required || set.topology.preferred; };
  const auto asking = std::find_if(sets.begin(), sets.end(), asks_for_level);
  const auto silent =
      std::find_if(sets.begin(), sets.end(), [](const PodSetRequest& set) { return !set.topology.asks(); });
  if (asking != sets.end() && silent != sets.end()) {
    const std::string_view annotation = asking->topology.asking_annotation();
    objection.raise(asking->topology.asking_at(),
                    fmt::format("pod set \"{}\" has {}, but pod set \"{}\" asks for no topology: every template of a "
                                "job must have such an annotation, or none",
                                asking->name, annotation, silent->name));
  }
}

std::string_view text_or_empty(json::Value value) {
  return value ? value.text() : std::string_view{};
}

// The pod sets of a group share their wishes. Required levels may differ: the coarsest is that of the group, and a
// finer one that of the pod set alone.
void check_group(Objection& objection, const std::vector<PodSetRequest>& sets, const PodSetRequest& first) {
  const TopologyRequest& wanted = first.topology;
  int members = 0;
  for (const PodSetRequest& set : sets) {
    const TopologyRequest& request = set.topology;
    if (request.group_name != wanted.group_name) {
      continue;
    }
    ++members;
    if (!request.slices.empty()) {
      objection.raise(request.group_at, fmt::format("{} excludes {}", kGroupName, request.slices_annotation));
    }
    if (!request.required && !request.preferred) {
      objection.raise(request.group_at, fmt::format("{} needs {} or {} beside it", kGroupName, kRequired, kPreferred));
    }
    if (request.required.present() != wanted.required.present() ||
        text_or_empty(request.preferred) != text_or_empty(wanted.preferred) || request.packing != wanted.packing) {
      objection.raise(request.group_at,
                      fmt::format("{} \"{}\": pod sets \"{}\" and \"{}\" ask for different topologies", kGroupName,
                                  wanted.group_name, first.name, set.name));
    }
  }
  if (members < 2) {
    objection.raise(wanted.group_at, fmt::format("{} \"{}\" is given to pod set \"{}\" alone: a group has at least two",
                                                 kGroupName, wanted.group_name, first.name));
  }
}

}  // namespace

int read_min_parallelism(Objection& objection, const Workload& workload, int parallelism) {
  const json::Value value = text_at(workload.annotations, kMinParallelism);
  if (!value) {
    return parallelism;
  }
  const auto minimum = whole_number(value.text(), 1);
  if (!minimum || *minimum > parallelism) {
    objection.raise(value, fmt::format("{} must be a whole number from 1 to the parallelism of {}, not \"{}\"",
                                       kMinParallelism, parallelism, value.text()));
    return parallelism;
  }
  return *minimum;
}

void check_groups(Objection& objection, const std::vector<PodSetRequest>& sets) {
  for (const PodSetRequest& set : sets) {
    if (set.topology.group_at) {
      check_group(objection, sets, set);
    }
  }
}

void check_pod_sets(Objection& objection, const std::vector<PodSetRequest>& sets) {
  if (sets.size() > kMaxPodSets) {
    objection.raise(sets.front().at, fmt::format("{} pod sets; {} are allowed", sets.size(), kMaxPodSets));
    return;
  }
  check_all_ask(objection, sets);
  check_groups(objection, sets);
}

json::Value queue_name_of(const Workload& workload) {
  if (const json::Value own = workload.mark(kQueueName)) {
    return own;
  }
  const bool makes_jobs = workload.key.kind == "CronJob" && !workload.templates.empty();
  return makes_jobs ? text_at(workload.templates.front().job_metadata["labels"], kQueueName) : json::Value();
}

Result<JobRequest> read_request(const Workload& workload, Inventory& inventory) {
  const Object& object = workload.object;
  json::Reader read(object.file, object.value,
                    fmt::format("{} \"{}/{}\"", workload.key.kind, workload.key.ns, workload.key.name));
  Objection objection(object.file, workload.objection);
  JobRequest request;
  request.key = workload.key;
  request.place = workload.place();
  request.queue_name = queue_name_of(workload);
  request.priority_class = text_at(workload.labels, kPriorityClass);
  request.created_seconds = workload.created_seconds;
  for (const PodTemplate& part : workload.templates) {
    PodSetRequest& set = request.pod_sets.emplace_back(read_pod_set(read, objection, workload, part, inventory));
    if (workload.key.kind == "Job" && set.count > 0) {
      set.min_count = read_min_parallelism(objection, workload, set.count);
    }
    // Of one with slices it is not known whether whole slices are over: the others need the places of their own.
    if (set.topology.slices.empty()) {
      set.count -= pods_over(read, workload, part);
      set.min_count = std::min(set.min_count, set.count);
    }
  }
  if (!read.ok()) {
    return read.error();
  }
  check_pod_sets(objection, request.pod_sets);
  request.objection = objection.first();
  return request;
}

}  // namespace gantree::kueue
