#include "kueue/workload_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/digest.h"
#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/request.h"
#include "json/copy.h"

namespace gantree::kueue {

namespace {

constexpr std::size_t kLongestName = 253;

json::Out slices_body(const TopologyRequest& request) {
  json::Out layers = json::Out::array();
  for (const SliceRequest& slice : request.slices) {
    layers.push(std::move(json::Out::object().add("topology", slice.level).add("size", slice.size)));
  }
  return layers;
}

// `topologyRequest`; nothing where the template asks for nothing, or for what makes no sense: then the annotations,
// which are in the template, tell the mistake when the Workload is looked at.
std::optional<json::Out> topology_body(const SetSpec& set) {
  json::Reader read("template", set.pod_template, "pod template");
  Objection objection("template");
  const json::Value annotations = map_at(map_at(set.pod_template, "metadata"), "annotations");
  const int each = set.subgroups > 0 ? set.count / set.subgroups : set.count;
  const TopologyRequest request = read_topology_request(
      read, objection, "template", annotations, set.subgroup_index_label.empty() ? std::nullopt : std::optional(each));
  if (!read.ok() || objection.first()) {
    return std::nullopt;
  }
  json::Out out = json::Out::object();
  if (request.required) {
    out.add("required", request.required.text());
  }
  if (request.preferred) {
    out.add("preferred", request.preferred.text());
  }
  if (request.unconstrained) {
    out.add("unconstrained", true);
  }
  if (request.slices.size() == 1) {
    out.add("podSetSliceRequiredTopology", request.slices.front().level);
    out.add("podSetSliceSize", request.slices.front().size);
  } else if (!request.slices.empty()) {
    out.add("podsetSliceRequiredTopologyConstraints", slices_body(request));
  }
  if (!request.group_name.empty()) {
    out.add("podSetGroupName", request.group_name);
  }
  // How pods are distinguished is told in any case: a queue of topologies places all that comes to it.
  if (!set.index_label.empty()) {
    out.add("podIndexLabel", set.index_label);
  }
  if (!set.subgroup_index_label.empty()) {
    out.add("subGroupIndexLabel", set.subgroup_index_label).add("subGroupCount", set.subgroups);
  }
  return out;
}

json::Out reference_to(const ObjectRef& object) {
  json::Out out = json::Out::object();
  out.add("apiVersion", object.group.empty() ? object.version : object.group + "/" + object.version);
  out.add("kind", object.kind).add("name", object.name).add("uid", object.uid);
  return out;
}

}  // namespace

std::optional<std::int64_t> most_seconds(const Workload& job) {
  const json::Value label = text_at(job.labels, kMaxSeconds);
  const auto seconds = label ? whole_number(label.text(), 1) : std::nullopt;
  return seconds ? std::optional<std::int64_t>(*seconds) : std::nullopt;
}

std::string workload_name(const ObjectRef& job) {
  std::string kind = job.kind;
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::tolower(c); });
  // As Kueue names them.
  constexpr std::size_t kDigits = 5;
  const std::string digest = sha1_hex(fmt::format("{}\n{}\n{}\n{}", job.kind, job.group, job.name, job.uid));
  const std::string end = "-" + digest.substr(0, kDigits);
  return fmt::format("{}-{}", kind, job.name).substr(0, kLongestName - end.size()) + end;
}

json::Out pod_sets_body(const std::vector<SetSpec>& sets) {
  json::Out out = json::Out::array();
  for (const SetSpec& set : sets) {
    json::Out one = json::Out::object();
    one.add("name", set.name).add("count", set.count).add("template", json::copy(set.pod_template));
    if (set.min_count) {
      one.add("minCount", *set.min_count);
    }
    if (auto topology = topology_body(set)) {
      one.add("topologyRequest", std::move(*topology));
    }
    out.push(std::move(one));
  }
  return out;
}

json::Out owners_body(const std::vector<ObjectRef>& owners) {
  json::Out out = json::Out::array();
  for (const ObjectRef& owner : owners) {
    out.push(reference_to(owner));
  }
  return out;
}

Write create_workload(const WorkloadSeed& seed, const std::vector<SetSpec>& sets) {
  const ObjectRef& job = seed.job;
  const std::string name = seed.group ? job.name : workload_name(job);
  json::Out metadata = json::Out::object();
  metadata.add("name", name).add("namespace", job.ns);
  if (seed.group) {
    metadata.add("annotations", std::move(json::Out::object().add(kOfGroup, "true")));
    // What makes the pods is the job; pods of a group that nothing else stands for have none.
    if (seed.owners.size() == 1 && seed.owners.front().kind != "Pod") {
      metadata.add("labels", std::move(json::Out::object().add(kJobUid, seed.owners.front().uid)));
    }
    metadata.add("ownerReferences", owners_body(seed.owners));
  } else {
    json::Out owner = reference_to(job);
    owner.add("controller", true);
    metadata.add("labels", std::move(json::Out::object().add(kJobUid, job.uid)));
    metadata.add("ownerReferences", json::Out::Array{std::move(owner)});
  }
  json::Out spec = json::Out::object();
  spec.add("queueName", seed.queue).add("active", true).add("podSets", pod_sets_body(sets));
  if (!seed.priority_class.empty() || !seed.pod_priority_class.empty()) {
    const bool own = !seed.priority_class.empty();
    spec.add("priorityClassRef", std::move(json::Out::object()
                                               .add("group", own ? kGroup : "scheduling.k8s.io")
                                               .add("kind", own ? "WorkloadPriorityClass" : "PriorityClass")
                                               .add("name", own ? seed.priority_class : seed.pod_priority_class)));
  }
  if (seed.priority) {
    spec.add("priority", *seed.priority);
  }
  if (seed.most_seconds) {
    spec.add(kMaximumTime, *seed.most_seconds);
  }
  json::Out body = json::Out::object();
  body.add("apiVersion", std::string(kGroup) + "/v1beta2").add("kind", "Workload");
  body.add("metadata", std::move(metadata)).add("spec", std::move(spec));
  return {.verb = WriteVerb::kCreate,
          .object = {.group = std::string(kGroup),
                     .version = "v1beta2",
                     .kind = "Workload",
                     .ns = job.ns,
                     .name = name,
                     .uid = {}},
          .node = {},
          .body = body.to_json(false)};
}

}  // namespace gantree::kueue
