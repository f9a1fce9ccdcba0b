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

constexpr std::string_view kMain = "main";
constexpr std::string_view kWorker = "worker";  // beside the leader of a replica

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
    if (kind && name && uid && kind.text() == "StatefulSet") {
      return ObjectRef{.group = "apps",
                       .version = "v1",
                       .kind = "StatefulSet",
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
  one.role = single || role.empty() ? kMain : role;
  one.held = has_gate(spec, kAdmissionGate);
  one.released = !one.held && !annotation_of(pod, kWorkloadAnnotation).empty();
  one.finalizer = has_finalizer(pod);
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

// A pod as the template of a pod set: without what is its alone.
json::Out template_of(const Object& pod, bool single) {
  const json::Value metadata = pod.metadata();
  json::Out marks = json::Out::object();
  for (const std::string_view key : {"labels", "annotations"}) {
    if (const json::Value map = map_at(metadata, key)) {
      marks.add(key, json::copy(map));
    }
  }
  json::Out spec = json::Out::object();
  const json::Value own = map_at(pod.value, "spec");
  for (const json::MemberData& member : own ? own.members() : std::span<const json::MemberData>()) {
    const bool alone = member.key == "schedulingGates" || (member.key == "volumes" && !single);
    if (!alone) {
      spec.add(member.key, json::copy(json::Value(&member.value)));
    }
  }
  return std::move(json::Out::object().add("metadata", std::move(marks)).add("spec", std::move(spec)));
}

// By which label pods like this one tell their rank.
std::string index_label_of(const Object& pod) {
  if (!label_of(pod, kPodGroupIndex).empty()) {
    return std::string(kPodGroupIndex);
  }
  return std::string(annotation_of(pod, kPodGroupIndexLabel));
}

std::optional<SetSpec> set_of(const GroupPod& pod, bool single, std::vector<json::Document>& documents) {
  const auto parsed = parse(pod.text);
  if (!parsed) {
    return std::nullopt;
  }
  auto copied = json::read_documents(std::string(kNoFile), template_of(parsed->object, single).to_json(false));
  if (!copied || copied->size() != 1) {
    return std::nullopt;
  }
  SetSpec set;
  set.name = pod.role;
  set.index_label = single ? std::string() : index_label_of(parsed->object);
  documents.push_back(std::move(copied->front()));
  set.pod_template = documents.back().root();
  return set;
}

// Those that are members, the eldest first; not more than there should be.
std::vector<const GroupPod*> members_of(const PodGroup& group) {
  std::vector<const GroupPod*> members;
  for (const auto& [key, pod] : group.pods) {
    if (pod.counts()) {
      members.push_back(&pod);
    }
  }
  std::stable_sort(members.begin(), members.end(), [](const GroupPod* a, const GroupPod* b) {
    return a->held != b->held ? b->held : a->created < b->created;
  });
  members.resize(std::min(members.size(), static_cast<std::size_t>(group.total)));
  return members;
}

}  // namespace

std::string group_uid(std::string_view ns, std::string_view name) {
  return fmt::format("pods of {}/{}", ns, name);
}

bool PodGroup::complete() const {
  const std::vector<const GroupPod*> members = members_of(*this);
  // The first pod of a replica does not tell what the others ask for, unless all are alike or that is known.
  const bool known = replica_of.empty() || (!members.empty() && members.front()->role == kMain) || !worker.empty();
  return members.size() >= static_cast<std::size_t>(fast && known ? 1 : total);
}

bool PodGroup::asks_for_total(const std::map<std::string, int>& counts) const {
  int sum = 0;
  for (const auto& [set, count] : counts) {
    sum += count;
  }
  return sum == total;
}

bool PodGroup::asks_for(const std::map<std::string, int>& counts) const {
  const std::vector<const GroupPod*> members = members_of(*this);
  if (!asks_for_total(counts) || members.size() < static_cast<std::size_t>(total)) {
    return asks_for_total(counts);
  }
  std::map<std::string, int> here;
  for (const GroupPod* pod : members) {
    ++here[pod->role];
  }
  return here == counts;
}

std::vector<std::string> PodGroup::excess(const std::map<std::string, int>& counts) const {
  std::map<std::string, int> left = counts;
  std::vector<std::pair<std::int64_t, std::string>> waiting;
  for (const auto& [key, pod] : pods) {
    if (pod.counts() && pod.held) {
      waiting.emplace_back(pod.created, key);
    } else if (pod.counts()) {
      --left[pod.role];
    }
  }
  std::sort(waiting.begin(), waiting.end());
  std::vector<std::string> excess;
  for (const auto& [created, key] : waiting) {
    if (--left[pods.at(key).role] < 0) {
      excess.push_back(key);
    }
  }
  return excess;
}

JobProgress progress_of(const PodGroup& group, const std::map<std::string, int>& over) {
  JobProgress progress;
  progress.suspended = true;
  progress.expected = group.total;
  std::map<std::string, int> succeeded;
  int failed = 0;
  bool active = false;
  bool last_try = false;
  for (const auto& [key, pod] : group.pods) {
    progress.suspended = progress.suspended && (!pod.released || pod.ended());
    progress.ready += pod.ready && !pod.ended() ? 1 : 0;
    succeeded[pod.role] += pod.succeeded ? 1 : 0;
    failed += pod.failed ? 1 : 0;
    active = active || !pod.ended();
    last_try = last_try || pod.last_try;
  }
  if (group.serving) {
    return progress;
  }
  int done = 0;
  for (const auto& [set, count] : over) {
    succeeded[set] = std::max(succeeded[set], count);
  }
  for (const auto& [set, count] : succeeded) {
    done += count;
    if (count > 0) {
      progress.reclaimable.emplace_back(set, count);
    }
  }
  progress.ready += done;
  const bool gave_up = !active && failed > 0 && (group.single || last_try);
  if (done >= group.total || gave_up) {
    progress.end = {.success = done >= group.total,
                    .message = fmt::format("{} of {} pods have succeeded", done, group.total)};
  }
  return progress;
}

std::vector<SetSpec> sets_of(const PodGroup& group, std::vector<json::Document>& documents) {
  const std::vector<const GroupPod*> members = members_of(group);
  std::map<std::string, SetSpec> sets;
  std::map<std::string, int> counts;
  for (const GroupPod* pod : members) {
    ++counts[pod->role];
    if (pod->held && !sets.contains(pod->role)) {
      if (auto set = set_of(*pod, group.single, documents)) {
        sets.emplace(pod->role, std::move(*set));
      }
    }
  }
  const int missing = group.total - static_cast<int>(members.size());
  if (missing > 0 && !group.worker.empty() && !sets.contains(std::string(kMain))) {
    counts[std::string(kWorker)] += missing;
    GroupPod worker;
    worker.role = kWorker;
    worker.text = group.worker;
    auto set = sets.contains(worker.role) ? std::nullopt : set_of(worker, false, documents);
    if (set) {
      set->index_label = kPodGroupIndex;
      sets.emplace(worker.role, std::move(*set));
    }
  } else if (missing > 0 && !sets.empty()) {
    counts[sets.begin()->first] += missing;
  }
  std::vector<SetSpec> list;
  for (auto& [role, set] : sets) {
    set.count = counts[role];
    list.push_back(std::move(set));
  }
  return list;
}

std::vector<std::string> PodGroups::see(const LiveObject& pod, const Object& object) {
  const std::string key = fmt::format("{}/{}", pod.ns, pod.name);
  const bool ours = label_of(object, kManaged) == "true" && controller_of(object).kind != "Job";
  if (!ours) {
    return lose(key);
  }
  const std::string_view label = label_of(object, kPodGroup);
  const bool single = label.empty();
  GroupPod one = read_pod(pod, object, single);
  const std::string name = single ? workload_name(one.ref) : std::string(label);
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
