// Events to state.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/core/node.h"
#include "dialects/core/pod.h"
#include "dialects/not_live.h"
#include "dialects/placement_hint.h"
#include "live/notices.h"
#include "live/parsed.h"
#include "pods/pod_family.h"
#include "pods/pod_fields.h"

namespace gantree {

namespace {

constexpr std::string_view kDaemonSet = "DaemonSet";
constexpr std::string_view kBudget = Budgets::kKind;

std::string key_of(std::string_view ns, std::string_view name) {
  std::string key(ns);
  key += '/';
  key += name;
  return key;
}

std::string config_key(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name) {
  std::string key(group);
  key += ' ';
  key += kind;
  key += ' ';
  key += key_of(ns, name);
  return key;
}

PodPhase phase_of(json::Value pod) {
  const std::string_view phase = text_in(pod["status"], "phase");
  return phase == "Running"     ? PodPhase::kRunning
         : phase == "Succeeded" ? PodPhase::kSucceeded
         : phase == "Failed"    ? PodPhase::kFailed
                                : PodPhase::kPending;
}

std::int64_t created_of(const Object& object) {
  const json::Value created = text_at(object.metadata(), "creationTimestamp");
  return created ? parse_time(created.text()).value_or(0) : 0;
}

// What the pod's condition PodScheduled says.
void read_told(json::Value pod, LivePod& live) {
  const json::Value status = pod["status"];
  const json::Value conditions = status ? status["conditions"] : json::Value();
  if (!conditions || conditions.kind() != json::Kind::kArray) {
    return;
  }
  for (const json::NodeData& item : conditions.items()) {
    const json::Value condition(&item);
    if (text_in(condition, "type") == "PodScheduled" && text_in(condition, "status") == "False") {
      live.told_reason = text_in(condition, "reason");
      live.told_message = text_in(condition, "message");
    }
  }
}

bool is_gated(json::Value spec) {
  const json::Value gates = spec ? spec["schedulingGates"] : json::Value();
  return gates && gates.kind() == json::Kind::kArray && !gates.items().empty();
}

bool takes_kind(const LiveDialect& dialect, std::string_view group, std::string_view kind) {
  const std::span<const ApiKind> kinds = dialect.kinds();
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const ApiKind& known) { return known.group == group && known.kind == kind; });
}

// All that stands in the pod itself. It has a spec.
template <class ReadMarks>
LivePod read_pod(const LiveObject& object, const NamedObject& named, const ReadMarks& read_marks) {
  const json::Value value = named.object.value;
  const json::Value spec = value["spec"];
  LivePod pod;
  pod.phase = phase_of(value);
  pod.node = text_in(spec, "nodeName");
  pod.gated = is_gated(spec);
  pod.priority = priority_in(spec);
  pod.queued = is_of_queue(named.object);
  pod.deleting = text_at(named.object.metadata(), "deletionTimestamp").present();
  pod.created_seconds = created_of(named.object);
  pod.rank = told_rank(named.object.metadata()).value_or(-1);
  if (pod.node.empty()) {
    read_told(value, pod);
    pod.nominated = nominated_node(value);
    PodNeeds needs = read_needs(object.ns, object.name, spec);
    read_marks(named, needs);
    if (object.oversized) {
      needs.refusal = fmt::format(
          "takes more than {} KiB to describe, so it is not looked at: its labels, annotations, "
          "tolerations, selectors and affinity are too long",
          kLargestObject >> 10U);
    }
    if (!needs.refusal.empty() || !needs.lacks.empty() || !needs.claims.empty() || !needs.unsupported.empty()) {
      pod.needs = std::make_unique<PodNeeds>(std::move(needs));
    }
  }
  return pod;
}

}  // namespace

std::vector<ApiKind> PodFamily::kinds() const {
  std::vector<ApiKind> kinds = {
      {.group = "", .kind = "Node", .versions = {"v1"}, .namespaced = false},
      {.group = "", .kind = "Pod", .versions = {"v1"}, .namespaced = true},
      {.group = "", .kind = "PersistentVolumeClaim", .versions = {"v1"}, .namespaced = true},
      {.group = "", .kind = "PersistentVolume", .versions = {"v1"}, .namespaced = false},
      {.group = "apps", .kind = kDaemonSet, .versions = {"v1"}, .namespaced = true},
      {.group = "policy", .kind = kBudget, .versions = {"v1"}, .namespaced = true},
      {.group = "scheduling.k8s.io", .kind = "PriorityClass", .versions = {"v1"}, .namespaced = false},
  };
  for (const auto& dialect : dialects_) {
    const auto more = dialect->kinds();
    kinds.insert(kinds.end(), more.begin(), more.end());
  }
  return kinds;
}

bool PodFamily::takes(std::string_view group, std::string_view kind) const {
  return std::any_of(kinds_.begin(), kinds_.end(),
                     [&](const ApiKind& known) { return known.group == group && known.kind == kind; });
}

bool PodFamily::is_ours(std::string_view scheduler) const {
  return std::find(options_.schedulers.begin(), options_.schedulers.end(), scheduler) != options_.schedulers.end();
}

void PodFamily::touch(const std::string& gang) {
  dirty_.insert(gang);
  if (const auto known = running_.find(gang); known != running_.end()) {
    known->second->stale = true;
    running_.erase(known);
  }
  if (is_of_queues(gang)) {
    unmeasured_.insert(gang);
  }
  unreported_.insert(gang);
}

Result<> PodFamily::changed(LiveObject object, Time now) {
  if (object.group.empty() && object.kind == "Pod") {
    return pod_changed(std::move(object), now);
  }
  if (object.group.empty() && object.kind == "Node") {
    return node_changed(object, now);
  }
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (object.kind == kDaemonSet) {
    return daemons_.changed({.object = parsed->object, .ns = object.ns, .name = object.name}, object.text, now);
  }
  if (volume_changed(object, parsed->object.value)) {
    volumes_changed_ = true;
    return {};
  }
  const NamedObject named{.object = parsed->object, .ns = object.ns, .name = object.name};
  for (const auto& dialect : dialects_) {
    if (!takes_kind(*dialect, object.group, object.kind)) {
      continue;
    }
    if (const std::string gang = dialect->defines(named); !gang.empty()) {
      const bool oversized = object.oversized;
      table_.define(gang, *dialect, std::move(object.text), dialect->partners(named), created_of(named.object));
      table_.find(gang)->refusal =
          oversized ? fmt::format(
                          "{} \"{}\" takes more than {} KiB, so it is not looked at: its annotations, or its "
                          "status, are too long",
                          named.object.kind, gang, kLargestObject >> 10U)
                    : "";
      touch(gang);
      return {};
    }
  }
  if (object.kind == kBudget) {
    account_.budgets.see(object, parsed->object);
    account_.refused = true;  // others may be evicted now
    return {};
  }
  std::string& known = config_[config_key(object.group, object.kind, object.ns, object.name)];
  if (known == object.text) {
    return {};
  }
  known = std::move(object.text);
  // All gangs are read in its light, and its own status may be out of date.
  note_config(object.group, object.kind);
  reported_structure_.reset();
  return {};
}

void PodFamily::note_config(std::string_view group, std::string_view kind) {
  account_.room_changed = true;
  config_changed_ = true;
  account_.queues_changed =
      account_.queues_changed || std::any_of(dialects_.begin(), dialects_.end(), [&](const auto& dialect) {
        return dialect->has_queues() && takes_kind(*dialect, group, kind);
      });
}

bool PodFamily::volume_changed(const LiveObject& object, json::Value value) {
  if (!object.group.empty()) {
    return false;
  }
  if (object.kind == "PersistentVolumeClaim") {
    volumes_.put_claim(key_of(object.ns, object.name), value);
    return true;
  }
  if (object.kind == "PersistentVolume") {
    volumes_.put_volume(object.name, value);
    return true;
  }
  return false;
}

Result<> PodFamily::node_changed(const LiveObject& object, Time now) {
  const std::size_t hash = std::hash<std::string>{}(object.text);
  const auto [it, fresh] = node_texts_.try_emplace(object.name, hash);
  if (!fresh && it->second == hash) {
    return {};
  }
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  auto node = read_node({.object = parsed->object, .ns = "", .name = object.name}, cluster_.inventory());
  if (!node) {
    return tl::unexpected(node.error());
  }
  it->second = hash;
  cluster_.upsert_node(std::move(*node));
  daemons_.node_changed(object.name, Time(std::chrono::seconds(created_of(parsed->object))), now);
  account_.room_changed = true;
  return {};
}

Result<> PodFamily::pod_changed(LiveObject object, Time now) {
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  const NamedObject named{.object = parsed->object, .ns = object.ns, .name = object.name};
  auto record = read_pod(named, cluster_.inventory().resources());
  if (!record) {
    return tl::unexpected(record.error());
  }
  const std::string key = key_of(object.ns, object.name);
  const json::Value spec = parsed->object.value["spec"];
  const bool ours = is_ours(text_in(spec, "schedulerName"));
  const bool going = record->has_value() && (*record)->bound() && (*record)->deleting;
  if (going) {
    going_.try_emplace(key, now);
  } else {
    going_.erase(key);
  }
  if (!record->has_value()) {
    account_.ended += ours && !cluster_.node_of(key).empty() ? 1 : 0;
    leave(key, now);
  } else if ((*record)->bound()) {
    const std::string_view before = cluster_.node_of(key);
    account_.room_changed = account_.room_changed || (!before.empty() && before != (*record)->node);
    cluster_.upsert_pod({.key = key, .node = std::string((*record)->node), .requests = (*record)->requests});
    if ((*record)->owner.kind == kDaemonSet) {
      daemons_.pod_bound(key, key_of(object.ns, (*record)->owner.name), (*record)->node, (*record)->requests);
    }
  }
  if (!ours) {
    note_nomination(key, named, record->has_value() ? &**record : nullptr);
    return {};
  }
  return own_pod_changed(std::move(object), named, now);
}

Result<> PodFamily::own_pod_changed(LiveObject object, const NamedObject& named, Time now) {
  const std::string key = key_of(object.ns, object.name);
  if (const json::Value spec = named.object.value["spec"]; !spec || spec.kind() != json::Kind::kObject) {
    return invalid(fmt::format("Pod \"{}\" has no spec", key));
  }
  const std::string gang = gang_of(object.ns, object.name, named);
  LivePod pod = read_pod(object, named, [&](const NamedObject& marked, PodNeeds& needs) {
    read_marks(marked, gang == GangTable::alone(key), needs);
  });
  pod.uid = std::move(object.uid);
  pod.gang = gang;
  if (!pod.ended()) {
    pod.text = std::move(object.text);
  }
  if (const LivePod* before = table_.find_pod(key)) {
    pod.told_at = before->told_at;
    if (before->uid == pod.uid && before->assumed && pod.node.empty() && !pod.ended() && !pod.deleting) {
      // Some other change of it was seen before its binding.
      pod.node = before->node;
      pod.assumed = true;
      pod.rank = before->rank;
      pod.hint = before->hint;
      pod.text = with_node(pod.text, pod.node);
    } else if (before->assumed && pod.node.empty()) {
      cluster_.remove_pod(key);
      account_.room_changed = true;
    }
    if (before->gang != pod.gang) {
      touch(before->gang);
    }
  }
  if (pod.queued && pod.waits()) {
    queued_.insert(key);
  }
  if (pod.nominated.empty()) {
    own_nominated_.erase(key);
  } else {
    own_nominated_.insert(key);
  }
  table_.put_pod(key, std::move(pod), now);
  touch(gang);
  return {};
}

// Marks of families: those of one that is not live are not honoured, and with those of one that is a pod needs a gang.
void PodFamily::read_marks(const NamedObject& named, bool alone, PodNeeds& needs) const {
  const json::Value metadata = named.object.metadata();
  const json::Value spec = named.object.value["spec"];
  const bool all_live =
      std::any_of(dialects_.begin(), dialects_.end(), [](const auto& dialect) { return dialect->has_queues(); });
  needs.refusal = all_live ? "" : not_honoured_live(metadata, spec);
  for (const auto& dialect : dialects_) {
    if (alone && needs.lacks.empty()) {
      needs.lacks = dialect->ungrouped(metadata, spec);
    }
  }
}

// The gang that a pod says it belongs to, and whom it knows to belong to that gang; else a gang of itself alone.
std::string PodFamily::gang_of(const std::string& ns, const std::string& name, const NamedObject& named) {
  for (const auto& dialect : dialects_) {
    std::string gang = dialect->gang_of(ns, named.object.metadata());
    if (gang.empty()) {
      continue;
    }
    if (auto partners = dialect->partners(named); !partners.empty()) {
      table_.add_partners(gang, partners);
    }
    return gang;
  }
  return GangTable::alone(key_of(ns, name));
}

// A pod that has ended, or is gone, takes no room any more.
void PodFamily::leave(const std::string& key, Time now) {
  const std::string node(cluster_.node_of(key));
  cluster_.remove_pod(key);
  if (!node.empty()) {
    account_.room_changed = true;
    daemons_.pod_gone(key, node, now);
  }
}

std::set<std::string> PodFamily::take_freed_nodes(Time now) {
  daemons_.expire(now);
  std::set<std::string> freed = daemons_.take_freed();
  account_.room_changed = account_.room_changed || !freed.empty();
  return freed;
}

void PodFamily::pod_removed(const std::string& key, Time now) {
  const bool evicted =
      std::any_of(evicted_.begin(), evicted_.end(), [&](const auto& item) { return item.second.pods.contains(key); });
  account_.ended += table_.find_pod(key) != nullptr && !cluster_.node_of(key).empty() && !evicted ? 1 : 0;
  leave(key, now);
  going_.erase(key);
  nominated_.erase(key);
  own_nominated_.erase(key);
  if (const LivePod* pod = table_.find_pod(key)) {
    touch(pod->gang);
    table_.remove_pod(key);
  }
}

void PodFamily::removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name,
                        Time now) {
  if (kind == "Pod") {
    pod_removed(key_of(ns, name), now);
    return;
  }
  if (kind == kDaemonSet) {
    daemons_.removed(key_of(ns, name));
    return;
  }
  if (kind == "Node") {
    daemons_.node_removed(name);
    node_texts_.erase(std::string(name));
    cluster_.remove_node(name);
    // Those that were refused for the nodes' sake are told so.
    account_.room_changed = true;
    return;
  }
  if (kind == kBudget) {
    account_.budgets.lose(ns, name);
    account_.refused = true;
    return;
  }
  if (kind == "PersistentVolumeClaim") {
    volumes_.remove_claim(key_of(ns, name));
    volumes_changed_ = true;
    return;
  }
  if (kind == "PersistentVolume") {
    volumes_.remove_volume(std::string(name));
    volumes_changed_ = true;
    return;
  }
  if (const auto config = config_.find(config_key(group, kind, ns, name)); config != config_.end()) {
    config_.erase(config);
    note_config(group, kind);
    return;
  }
  const auto dialect =
      std::find_if(dialects_.begin(), dialects_.end(), [&](const auto& one) { return takes_kind(*one, group, kind); });
  const std::string gang = dialect == dialects_.end() ? std::string() : (*dialect)->gang_named(ns, name);
  if (table_.find(gang) == nullptr) {
    return;
  }
  table_.undefine(gang);
  touch(gang);
  // From now on it counts again what its pods say.
  const LiveGang* left = table_.find(gang);
  for (const std::string& key : left == nullptr ? std::set<std::string>() : left->pods) {
    const auto parsed = parse(table_.find_pod(key)->text);
    for (const auto& other : dialects_) {
      if (parsed) {
        const std::size_t slash = key.find('/');
        table_.add_partners(gang, other->partners({.object = parsed->object,
                                                   .ns = std::string_view(key).substr(0, slash),
                                                   .name = std::string_view(key).substr(slash + 1)}));
      }
    }
  }
}

}  // namespace gantree
