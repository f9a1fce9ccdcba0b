#include "kueue/pod_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/hooks/job_object.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "json/copy.h"
#include "json/read.h"
#include "kueue/workload_body.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

json::Value list_in(json::Value parent, std::string_view key) {
  const json::Value list = parent ? parent[key] : json::Value();
  return list && list.kind() == json::Kind::kArray ? list : json::Value();
}

bool has_gate(json::Value spec, std::string_view gate) {
  const json::Value gates = list_in(spec, "schedulingGates");
  return gates && std::any_of(gates.items().begin(), gates.items().end(), [&](const json::NodeData& item) {
           const json::Value name = text_at(json::Value(&item), "name");
           return name && name.text() == gate;
         });
}

bool has_finalizer(const Object& pod) {
  const json::Value list = list_in(pod.metadata(), "finalizers");
  return list && std::any_of(list.items().begin(), list.items().end(), [](const json::NodeData& item) {
           return item.kind == json::Kind::kString && json::Value(&item).text() == kManaged;
         });
}

bool is_ready(json::Value status) {
  const json::Value conditions = list_in(status, "conditions");
  return conditions &&
         std::any_of(conditions.items().begin(), conditions.items().end(), [](const json::NodeData& item) {
           const json::Value type = text_at(json::Value(&item), "type");
           const json::Value holds = text_at(json::Value(&item), "status");
           return type && holds && type.text() == "Ready" && holds.text() == "True";
         });
}

// The StatefulSet that controls a pod.
std::optional<ObjectRef> stateful_set_of(const Object& pod, std::string_view ns) {
  const json::Value owners = list_in(pod.metadata(), "ownerReferences");
  for (const json::NodeData& item : owners ? owners.items() : std::span<const json::NodeData>()) {
    const json::Value owner(&item);
    const json::Value kind = text_at(owner, "kind");
    const json::Value name = text_at(owner, "name");
    const json::Value uid = text_at(owner, "uid");
    if (kind && name && uid && kind.text() == kStatefulSet) {
      return ObjectRef{.group = "apps",
                       .version = "v1",
                       .kind = std::string(kStatefulSet),
                       .ns = std::string(ns),
                       .name = std::string(name.text()),
                       .uid = std::string(uid.text())};
    }
  }
  return std::nullopt;
}

GroupPod read_pod(const LiveObject& live, const Object& pod, bool single) {
  const json::Value spec = map_at(pod.value, "spec");
  const json::Value status = map_at(pod.value, "status");
  const json::Value phase = status ? text_at(status, "phase") : json::Value();
  const json::Value created = text_at(pod.metadata(), "creationTimestamp");
  GroupPod one;
  one.ref = {.group = {}, .version = "v1", .kind = "Pod", .ns = live.ns, .name = live.name, .uid = live.uid};
  const std::string_view role = annotation_of(pod, kRoleHash);
  one.role = single || role.empty() ? kMainSet : role;
  one.held = has_gate(spec, kAdmissionGate);
  one.released = !one.held && !annotation_of(pod, kWorkloadAnnotation).empty();
  one.finalizer = has_finalizer(pod);
  one.bound = spec && text_at(spec, "nodeName").present();
  one.deleting = text_at(pod.metadata(), "deletionTimestamp").present();
  one.succeeded = phase && phase.text() == "Succeeded";
  one.failed = phase && phase.text() == "Failed";
  one.ready = is_ready(status);
  one.last_try = annotation_of(pod, kRetriable) == "false";
  one.created = created ? parse_time(created.text()).value_or(0) : 0;
  if (one.held) {
    one.text = live.text;
  }
  return one;
}

}  // namespace

std::string group_uid(std::string_view ns, std::string_view name) {
  return fmt::format("pods of {}/{}", ns, name);
}

std::vector<std::string> PodGroups::see(const LiveObject& pod, const Object& object) {
  const std::string key = fmt::format("{}/{}", pod.ns, pod.name);
  const bool ours = label_of(object, kManaged) == "true" && controller_of(object).kind != "Job";
  if (!ours) {
    return lose(key);
  }
  const std::string_view named = pod_group_of(object);
  const bool single = named.empty();
  GroupPod one = read_pod(pod, object, single);
  const std::string name = single ? workload_name(one.ref) : std::string(named);
  const std::string group_key = fmt::format("{}/{}", pod.ns, name);
  std::vector<std::string> changed;
  if (const auto before = group_of_.find(key); before != group_of_.end() && before->second != group_key) {
    changed = lose(key);
  }
  PodGroup& group = groups_[group_key];
  group.ns = pod.ns;
  group.name = name;
  group.uid = single ? pod.uid : group_uid(pod.ns, name);
  group.single = single;
  if (one.held || group.queue.empty()) {  // the youngest word counts
    group.serving = annotation_of(object, kPodGroupServing) == "true";
    group.fast = annotation_of(object, kPodGroupFast) == "true";
    group.total = single ? 1 : whole_number(annotation_of(object, kPodGroupTotal), 1).value_or(1);
    group.queue = queue_of(object);
    group.priority_class = label_of(object, kPriorityClass);
    group.replica_of = group.serving ? label_of(object, lws::kName) : std::string_view();
    group.owner = group.serving && group.replica_of.empty() ? stateful_set_of(object, pod.ns) : std::nullopt;
    join(group);
  }
  const auto [it, fresh] = group.pods.try_emplace(key, one);
  if (!fresh) {
    const bool same = it->second.ref.uid == one.ref.uid;
    one.told = same && it->second.told;
    one.told_incomplete = same && it->second.told_incomplete;
    it->second = std::move(one);
  }
  group_of_.insert_or_assign(key, group_key);
  changed.push_back(group_key);
  return changed;
}

std::vector<std::string> PodGroups::lose(std::string_view pod) {
  const auto it = group_of_.find(pod);
  if (it == group_of_.end()) {
    return {};
  }
  const std::string key = it->second;
  groups_.at(key).pods.erase(it->first);
  group_of_.erase(it);
  return {key};
}

void PodGroups::join(PodGroup& group) const {
  const auto set = replicated_.find(fmt::format("{}/{}", group.ns, group.replica_of));
  if (!group.replica_of.empty() && set != replicated_.end()) {
    group.owner = set->second.ref;
    group.worker = set->second.worker;
  }
  if (group.stateful()) {
    const auto replicas = stateful_.find(fmt::format("{}/{}", group.ns, group.owner->name));
    group.total = replicas == stateful_.end() ? group.total : replicas->second;
  }
}

std::vector<std::string> PodGroups::see_stateful(const LiveObject& set, const Object& object) {
  const std::string key = fmt::format("{}/{}", set.ns, set.name);
  const json::Value spec = map_at(object.value, "spec");
  const json::Value number = spec ? spec["replicas"] : json::Value();
  const int replicas = number && number.kind() == json::Kind::kNumber ? whole_number(number.text(), 0).value_or(0) : 0;
  const auto known = stateful_.find(key);
  const int before = known == stateful_.end() ? 0 : known->second;
  // One that has no pods, or is in no queue, says nothing.
  const int after = queue_of(object).empty() ? 0 : replicas;
  if (before == after) {
    return {};
  }
  if (after == 0) {
    stateful_.erase(known);
    return {};
  }
  stateful_.insert_or_assign(key, after);
  std::vector<std::string> changed;
  for (auto& [name, group] : groups_) {
    if (group.ns == set.ns && group.stateful() && group.owner->name == set.name) {
      join(group);
      changed.push_back(name);
    }
  }
  return changed;
}

void PodGroups::lose_stateful(std::string_view ns, std::string_view name) {
  stateful_.erase(fmt::format("{}/{}", ns, name));
}

std::vector<std::string> PodGroups::see_replicated(const LiveObject& set, const Object& object) {
  Replicated& known = replicated_[fmt::format("{}/{}", set.ns, set.name)];
  known.ref = {
      .group = set.group, .version = set.version, .kind = set.kind, .ns = set.ns, .name = set.name, .uid = set.uid};
  known.worker.clear();
  const json::Value templates = map_at(map_at(object.value, "spec"), "leaderWorkerTemplate");
  const json::Value worker = templates ? map_at(templates, "workerTemplate") : json::Value();
  if (worker && map_at(templates, "leaderTemplate")) {
    json::Out pod = json::Out::object();
    pod.add("apiVersion", "v1").add("kind", "Pod");
    for (const json::MemberData& member : worker.members()) {
      pod.add(member.key, json::copy(json::Value(&member.value)));
    }
    known.worker = pod.to_json(false);
  }
  std::vector<std::string> changed;
  for (auto& [key, group] : groups_) {
    if (group.ns == set.ns && group.replica_of == set.name) {
      join(group);
      changed.push_back(key);
    }
  }
  return changed;
}

void PodGroups::lose_replicated(std::string_view ns, std::string_view name) {
  replicated_.erase(fmt::format("{}/{}", ns, name));
}

void PodGroups::expect(std::string_view ns, std::string_view name) {
  const auto [it, fresh] = groups_.try_emplace(fmt::format("{}/{}", ns, name));
  if (fresh) {
    it->second.ns = ns;
    it->second.name = name;
    it->second.uid = group_uid(ns, name);
    it->second.serving = true;
  }
}

void PodGroups::forget(const std::string& key) {
  if (const auto it = groups_.find(key); it != groups_.end() && it->second.pods.empty()) {
    groups_.erase(it);
  }
}

PodGroup* PodGroups::find(const std::string& key) {
  const auto it = groups_.find(key);
  return it == groups_.end() ? nullptr : &it->second;
}

PodGroup* PodGroups::group_of_pod(const std::string& pod) {
  const auto it = group_of_.find(pod);
  return it == group_of_.end() ? nullptr : &groups_.at(it->second);
}

}  // namespace gantree::kueue
