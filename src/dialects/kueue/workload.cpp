#include "dialects/kueue/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "dialects/core/metadata.h"
#include "dialects/core/pod.h"
#include "dialects/kueue/names.h"

namespace gantree::kueue {

namespace {

constexpr std::int64_t kMostPods = std::numeric_limits<int>::max();

// What the readers of one workload share.
struct Context {
  const Object& object;
  json::Reader& read;
  Objection& objection;
  Inventory& inventory;
};

// An integer that is an objection, not malformed, where it is negative.
std::int64_t read_count(Context context, json::Value parent, std::string_view key, std::int64_t fallback) {
  const std::int64_t count =
      context.read.integer(parent, key, std::numeric_limits<std::int32_t>::min(), kMostPods).value_or(fallback);
  if (count < 0) {
    context.objection.raise(parent[key], fmt::format("{} is {}, but must not be negative", key, count));
    return 0;
  }
  return count;
}

// The pods of a Job that run at the same time.
int read_parallelism(Context context, json::Value job_spec) {
  const std::int64_t parallelism = read_count(context, job_spec, "parallelism", 1);
  return static_cast<int>(std::min(parallelism, read_count(context, job_spec, "completions", kMostPods)));
}

std::string read_owner(Context context, json::Value metadata) {
  if (const json::Value owners = context.read.array(metadata, "ownerReferences")) {
    for (const json::NodeData& item : owners.items()) {
      const json::Value owner(&item);
      if (context.read.boolean(owner, "controller").value_or(false)) {
        return fmt::format("{}/{}", context.read.text(owner, "kind").value_or(""),
                           context.read.text(owner, "name").value_or(""));
      }
    }
  }
  return "";
}

json::Value text_of(Context context, json::Value parent, std::string_view key) {
  const auto text = context.read.text(parent, key);
  return text && !text->empty() ? parent[key] : json::Value();
}

Workload read_common(Context context, const NamedObject& named) {
  Workload workload;
  workload.key = {
      .ns = std::string(named.ns), .name = std::string(named.name), .kind = std::string(context.object.kind)};
  workload.place = context.object.place();
  const json::Value metadata = context.object.metadata();
  const json::Value labels = context.read.object(metadata, "labels");
  workload.queue_name = text_of(context, labels, kQueueName);
  if (!workload.queue_name) {
    workload.queue_name = text_of(context, context.read.object(metadata, "annotations"), kQueueName);
  }
  workload.priority_class = text_of(context, labels, kPriorityClass);
  workload.created_seconds = read_created(context.read, metadata);
  workload.over = context.read.text(metadata, "deletionTimestamp").has_value();
  workload.owner = read_owner(context, metadata);
  return workload;
}

// A pod set but for its count. `template_parent` is what holds the pod template.
PodSetRequest read_pod_set(Context context, std::string_view name, json::Value template_parent,
                           std::optional<int> default_slice_size) {
  const json::Value pod_template = context.read.require_object(template_parent, "template");
  const json::Value spec = context.read.require_object(pod_template, "spec");
  const json::Value annotations = context.read.object(context.read.object(pod_template, "metadata"), "annotations");
  PodSetRequest set;
  set.name = name;
  set.at = template_parent ? template_parent : context.object.value;
  set.shape = read_pod_shape(context.read, spec, context.inventory);
  set.topology =
      read_topology_request(context.read, context.objection, context.object.file, annotations, default_slice_size);
  set.priority_class = text_of(context, spec, "priorityClassName");
  set.priority = context.read.integer(spec, "priority", std::numeric_limits<std::int32_t>::min(),
                                      std::numeric_limits<std::int32_t>::max());
  return set;
}

int read_min_parallelism(Context context, int parallelism) {
  const json::Value annotations = context.read.object(context.object.metadata(), "annotations");
  const json::Value value = text_of(context, annotations, kMinParallelism);
  if (!value) {
    return parallelism;
  }
  const std::string_view text = value.text();
  int minimum = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), minimum);
  if (error != std::errc{} || end != text.data() + text.size() || minimum < 1 || minimum > parallelism) {
    context.objection.raise(value, fmt::format("{} must be a whole number from 1 to the parallelism of {}, not \"{}\"",
                                               kMinParallelism, parallelism, text));
    return parallelism;
  }
  return minimum;
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

void check_pod_sets(Objection& objection, const std::vector<PodSetRequest>& sets) {
  if (sets.size() > kMaxPodSets) {
    objection.raise(sets.front().at, fmt::format("{} pod sets; {} are allowed", sets.size(), kMaxPodSets));
    return;
  }
  for (auto set = sets.begin(); set != sets.end(); ++set) {
    const auto twin =
        std::find_if(sets.begin(), set, [&](const PodSetRequest& other) { return other.name == set->name; });
    if (twin != set) {
      objection.raise(set->at, fmt::format("replicatedJobs has the name \"{}\" twice", set->name));
    }
  }
  check_all_ask(objection, sets);
  for (const PodSetRequest& set : sets) {
    if (set.topology.group_at) {
      check_group(objection, sets, set);
    }
  }
}

Result<Workload> finish(Context context, Workload workload) {
  if (!context.read.ok()) {
    return context.read.error();
  }
  check_pod_sets(context.objection, workload.pod_sets);
  workload.objection = context.objection.first();
  return workload;
}

PodSetRequest read_replicated_job(Context context, json::Value replicated) {
  const std::string_view name = context.read.require_text(replicated, "name");
  const std::int64_t replicas = read_count(context, replicated, "replicas", 1);
  const json::Value job = context.read.require_object(context.read.require_object(replicated, "template"), "spec");
  const int parallelism = read_parallelism(context, job);
  PodSetRequest set = read_pod_set(context, name, job, parallelism);
  set.at = replicated;
  std::int64_t count = std::int64_t{parallelism} * replicas;
  if (count > kMostPods) {
    context.objection.raise(replicated,
                            fmt::format("replicatedJob \"{}\" asks for {} pods, more than {}", name, count, kMostPods));
    count = 0;
  }
  set.count = static_cast<int>(count);
  set.min_count = set.count;
  return set;
}

bool any_replica_active(Context context, json::Value status) {
  const json::Value list = context.read.array(status, "replicatedJobsStatus");
  if (!list) {
    return false;
  }
  const auto items = list.items();
  return std::any_of(items.begin(), items.end(), [&](const json::NodeData& item) {
    const json::Value entry(&item);
    return read_count(context, entry, "active", 0) > 0 || read_count(context, entry, "ready", 0) > 0;
  });
}

}  // namespace

Result<Workload> read_job(const NamedObject& named, Inventory& inventory) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Job \"{}/{}\"", named.ns, named.name));
  Objection objection(object.file);
  const Context context{object, read, objection, inventory};
  Workload workload = read_common(context, named);
  const json::Value spec = read.require_object(object.value, "spec");
  const json::Value status = read.object(object.value, "status");
  workload.over = workload.over || condition(read, status, "Complete").value_or(false) ||
                  condition(read, status, "Failed").value_or(false);
  const bool started = read_count(context, status, "active", 0) > 0 || read.text(status, "startTime").has_value();
  workload.running = started && !read.boolean(spec, "suspend").value_or(false);
  PodSetRequest set = read_pod_set(context, "main", spec, std::nullopt);
  set.count = read_parallelism(context, spec);
  set.min_count = set.count == 0 ? 0 : read_min_parallelism(context, set.count);
  workload.pod_sets.push_back(std::move(set));
  return finish(context, std::move(workload));
}

Result<Workload> read_jobset(const NamedObject& named, Inventory& inventory) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("JobSet \"{}/{}\"", named.ns, named.name));
  Objection objection(object.file);
  const Context context{object, read, objection, inventory};
  Workload workload = read_common(context, named);
  const json::Value spec = read.require_object(object.value, "spec");
  const json::Value status = read.object(object.value, "status");
  workload.over = workload.over || condition(read, status, "Completed").value_or(false) ||
                  condition(read, status, "Failed").value_or(false);
  workload.running = !read.boolean(spec, "suspend").value_or(false) && any_replica_active(context, status);
  if (const json::Value replicated = read.array(spec, "replicatedJobs")) {
    for (const json::NodeData& item : replicated.items()) {
      workload.pod_sets.push_back(read_replicated_job(context, json::Value(&item)));
    }
  }
  if (workload.pod_sets.empty()) {
    objection.raise(spec, "replicatedJobs is empty");
  }
  return finish(context, std::move(workload));
}

}  // namespace gantree::kueue
