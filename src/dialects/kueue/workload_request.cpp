// A Workload object as a request.
#include <fmt/format.h>

#include <limits>

#include "dialects/core/metadata.h"
#include "dialects/core/pod.h"
#include "dialects/kueue/job_request.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pod_rules.h"
#include "dialects/pod_count.h"

namespace gantree::kueue {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<int>::max();

json::Value text_field(json::Reader& read, json::Value parent, std::string_view key) {
  return read.text(parent, key) ? parent[key] : json::Value();
}

void read_slices(json::Reader& read, json::Value request, TopologyRequest& topology) {
  if (const json::Value layers = read.array(request, "podsetSliceRequiredTopologyConstraints");
      layers && !layers.items().empty()) {
    topology.slices.clear();
    topology.slices_at = layers;
    topology.slices_annotation = kSliceLayers;
    for (const json::NodeData& item : layers.items()) {
      const json::Value layer = read.as_object(json::Value(&item), "layer");
      topology.slices.push_back({.level = std::string(read.require_text(layer, "topology")),
                                 .size = static_cast<int>(read.integer(layer, "size", 1, kMost).value_or(1))});
    }
    return;
  }
  const json::Value level = text_field(read, request, "podSetSliceRequiredTopology");
  const auto size = read.integer(request, "podSetSliceSize", 1, kMost);
  if (level && size) {
    topology.slices = {{.level = std::string(level.text()), .size = static_cast<int>(*size)}};
    topology.slices_at = level;
    topology.slices_annotation = kSliceLevel;
  }
}

// What the object itself asks for counts before the annotations of the template it was made from.
void read_own_words(json::Reader& read, json::Value request, TopologyRequest& topology) {
  if (!request) {
    return;
  }
  if (const json::Value required = text_field(read, request, "required")) {
    topology.required = required;
  }
  if (const json::Value preferred = text_field(read, request, "preferred")) {
    topology.preferred = preferred;
  }
  if (read.boolean(request, "unconstrained").value_or(false)) {
    topology.unconstrained = request["unconstrained"];
  }
  read_slices(read, request, topology);
  if (const json::Value group = text_field(read, request, "podSetGroupName")) {
    topology.group_at = group;
    topology.group_name = group.text();
  }
}

// None are counted of what asks for more than can be meant.
void check_counts(Objection& objection, std::vector<PodSetRequest>& sets) {
  std::int64_t pods = 0;
  for (const PodSetRequest& set : sets) {
    pods += set.count;
  }
  if (pods <= kMostPods) {
    return;
  }
  objection.raise(sets.front().at, too_many_pods(pods));
  for (PodSetRequest& set : sets) {
    set.count = 0;
    set.min_count = 0;
  }
}

// The Workload of a group of pods has many owners, of which none controls it: it has the group's name itself.
std::optional<GangKey> read_job(json::Reader& read, json::Value metadata, std::string_view ns) {
  const json::Value owners = read.array(metadata, "ownerReferences");
  for (const json::NodeData& item : owners ? owners.items() : std::span<const json::NodeData>()) {
    const json::Value owner = read.as_object(json::Value(&item), "ownerReference");
    if (read.boolean(owner, "controller").value_or(false)) {
      return GangKey{.ns = std::string(ns),
                     .name = std::string(read.text(owner, "name").value_or("")),
                     .kind = std::string(read.text(owner, "kind").value_or(""))};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string too_many_pods(std::int64_t pods) {
  return fmt::format("spec.podSets: the counts of all are {} pods together; at most {} are allowed", pods, kMostPods);
}

Result<JobRequest> read_workload_request(const NamedObject& named, Inventory& inventory) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Workload \"{}/{}\"", named.ns, named.name));
  Objection objection(object.file);
  JobRequest request;
  request.key = {.ns = std::string(named.ns), .name = std::string(named.name), .kind = "Workload"};
  request.made_for = read_job(read, object.metadata(), named.ns);
  request.place = object.place();
  request.created_seconds = read_created(read, object.metadata());
  const json::Value spec = read.require_object(object.value, "spec");
  request.queue_name = text_field(read, spec, "queueName");
  request.priority = read.integer(spec, "priority", std::numeric_limits<std::int32_t>::min(), kMost);
  const json::Value sets = read.require_array(spec, "podSets");
  for (const json::NodeData& item : sets ? sets.items() : std::span<const json::NodeData>()) {
    const json::Value at = read.as_object(json::Value(&item), "podSet");
    const json::Value pod_template = read.require_object(at, "template");
    PodSetRequest& set = request.pod_sets.emplace_back();
    set.name = read.text(at, "name").value_or("main");
    set.at = at;
    set.spec = read.require_object(pod_template, "spec");
    if (!read.ok()) {
      break;
    }
    set.shape = read_pod_shape(read, set.spec, inventory);
    if (const auto unfit = unfit_pod(set.spec)) {
      objection.raise(at, fmt::format("pod set \"{}\": {}", set.name, *unfit));
    }
    const json::Value own = read.object(at, "topologyRequest");
    const json::Value annotations = read.texts(read.object(pod_template, "metadata"), "annotations");
    const auto default_size = read.integer(own, "podSetSliceSize", 1, kMost);
    set.topology = read_topology_request(read, objection, object.file, annotations,
                                         default_size ? std::optional(static_cast<int>(*default_size)) : std::nullopt);
    read_own_words(read, own, set.topology);
    set.count = static_cast<int>(read.integer(at, "count", 0, kMost).value_or(1));
    set.min_count = std::min(set.count, static_cast<int>(read.integer(at, "minCount", 0, kMost).value_or(set.count)));
  }
  if (!read.ok()) {
    return read.error();
  }
  check_counts(objection, request.pod_sets);
  check_pod_sets(objection, request.pod_sets);
  request.objection = objection.first();
  return request;
}

}  // namespace gantree::kueue
