#include "kueue/pod_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/gangs.h"
#include "dialects/kueue/names.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

std::string key_of(std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}", ns, name);
}

bool is_gated(json::Value spec) {
  const json::Value gates = spec ? spec["schedulingGates"] : json::Value();
  if (!gates || gates.kind() != json::Kind::kArray) {
    return false;
  }
  for (const json::NodeData& gate : gates.items()) {
    const json::Value name = text_at(json::Value(&gate), "name");
    if (name && name.text() == kTopologyGate) {
      return true;
    }
  }
  return false;
}

std::string_view phase_of(const Object& pod) {
  const json::Value phase = text_at(map_at(pod.value, "status"), "phase");
  return phase ? phase.text() : std::string_view();
}

// nullptr where it has none.
const TopologyAssignment* topology_of(const std::optional<Admission>& admission, const std::string& set) {
  for (std::size_t i = 0; admission && i < admission->sets.size(); ++i) {
    if (admission->sets[i].name == set) {
      return admission->sets[i].topology ? &*admission->sets[i].topology : nullptr;
    }
  }
  return nullptr;
}

// What the pod says of itself. Whose it is, is told by others.
StartedPod read_started_pod(const LiveObject& object, const Object& read) {
  const json::Value metadata = read.metadata();
  const json::Value spec = map_at(read.value, "spec");
  const std::string_view phase = phase_of(read);
  StartedPod pod;
  pod.uid = object.uid;
  if (const json::Value node = spec ? text_at(spec, "nodeName") : json::Value()) {
    pod.node = node.text();
  }
  pod.gated = is_gated(spec);
  pod.deleting = text_at(metadata, "deletionTimestamp").present();
  pod.succeeded = phase == "Succeeded";
  pod.ended = pod.succeeded || phase == "Failed";
  const auto copy = [](json::Value map, auto& into, bool numbers_alone) {
    for (const json::MemberData& member : map ? map.members() : std::span<const json::MemberData>()) {
      const std::string_view text = json::Value(&member.value).text();
      if (!numbers_alone || whole_number(text, 0)) {
        into.emplace(member.key, text);
      }
    }
  };
  copy(spec ? map_at(spec, "nodeSelector") : json::Value(), pod.selector, false);
  copy(map_at(metadata, "labels"), pod.marks, !pod.node.empty());
  copy(map_at(metadata, "annotations"), pod.marks, !pod.node.empty());
  return pod;
}

}  // namespace

Result<> PodReader::changed(const LiveObject& object) {
  const std::string key = key_of(object.ns, object.name);
  // Nearly all pods of a cluster are nobody's in a queue.
  if (object.text.find(kGroup) == std::string::npos && !ledger_.pods.contains(key) &&
      ledger_.groups.group_of_pod(key) == nullptr && !Strays::may_be_one(object.text)) {
    const bool over = object.text.find(R"("phase":"Succeeded")") != std::string::npos ||
                      object.text.find(R"("phase":"Failed")") != std::string::npos;
    ledger_.room_changed = ledger_.room_changed || (over && !ledger_.cluster.node_of(key).empty());
    return {};
  }
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  ledger_.touch_groups(ledger_.groups.see(object, parsed->object));
  ledger_.touch_jobs(ledger_.strays.see(key, parsed->object));
  const PodGroup* group = ledger_.groups.group_of_pod(key);
  const GroupPod* own = group == nullptr ? nullptr : &group->pods.at(key);
  const bool held = own != nullptr && own->held;
  const json::Value metadata = parsed->object.metadata();
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  const json::Value set = labels ? text_at(labels, kPodSetLabel) : json::Value();
  const json::Value workload = annotations ? text_at(annotations, kWorkloadAnnotation) : json::Value();
  const std::string_view phase = phase_of(parsed->object);
  const bool ended = phase == "Succeeded" || phase == "Failed";
  ledger_.room_changed = ledger_.room_changed || (ended && !ledger_.cluster.node_of(key).empty());
  StartedPod pod;
  if (held || workload) {
    pod = read_started_pod(object, parsed->object);
    pod.workload = held ? group->key() : key_of(object.ns, workload.text());
    pod.set = held ? std::string_view(own->role) : set ? set.text() : std::string_view();
  }
  if (pod.workload.empty() || !name_set(pod)) {
    if (ledger_.pods.contains(key)) {
      drop(key);
    }
    return {};
  }
  pod.held = held;
  pod.gated = pod.gated || held;
  pod.group = held ? group->uid : std::string();
  pod.spent = own != nullptr && own->succeeded && !group->serving;
  take(key, std::move(pod));
  return {};
}

bool PodReader::name_set(StartedPod& pod) const {
  const Entry* entry = pod.set.empty() ? ledger_.workload(pod.workload) : nullptr;
  if (entry == nullptr) {
    return true;
  }
  const std::vector<PodSetRequest>& sets = entry->object.request.pod_sets;
  if (sets.size() != 1) {
    return false;
  }
  pod.set = sets.front().name;
  return true;
}

void PodReader::name_sets(const std::string& workload) {
  for (const std::string& key : std::set(ledger_.pods_of(workload))) {
    if (!name_set(ledger_.pods.at(key))) {
      drop(key);
    }
  }
}

void PodReader::take(const std::string& key, StartedPod pod) {
  if (const auto before = ledger_.pods.find(key); before != ledger_.pods.end()) {
    if (before->second.uid == pod.uid && pod.gated) {
      pod.slot = before->second.slot;
      pod.asked = before->second.asked;
    } else {
      ledger_.no_longer_releasing(before->second.workload, key);
    }
    if (before->second.workload != pod.workload) {
      drop(key);
    }
  }
  // In a domain of several hosts it may have got another one than was thought: what is left is cut differently.
  const auto before = ledger_.pods.find(key);
  const bool bound_now = !pod.node.empty() && (before == ledger_.pods.end() || before->second.node.empty());
  if (bound_now && !is_sent_to_a_host(pod)) {
    ledger_.room_changed = true;
    ledger_.places_changed.insert(pod.node);
  }
  const std::string owner = pod.workload;
  ledger_.pods.insert_or_assign(key, std::move(pod));
  ledger_.pods_by_workload[owner].insert(key);
  ledger_.touch(owner);
}

bool PodReader::is_sent_to_a_host(const StartedPod& pod) const {
  const Entry* entry = ledger_.workload(pod.workload);
  if (entry == nullptr || !entry->admission()) {
    return false;
  }
  const std::vector<SetAssignment>& sets = entry->admission()->sets;
  return std::any_of(sets.begin(), sets.end(), [&](const SetAssignment& set) {
    return set.name == pod.set && set.topology && set.topology->levels.back() == kHostnameLabel;
  });
}

void PodReader::move_slots(const std::string& workload, const std::optional<Admission>& before,
                           const std::optional<Admission>& after) {
  std::map<std::pair<std::string, std::size_t>, int> given;
  for (const std::string& key : ledger_.pods_of(workload)) {
    StartedPod& pod = ledger_.pods.at(key);
    const TopologyAssignment* from = topology_of(before, pod.set);
    const TopologyAssignment* to = topology_of(after, pod.set);
    std::optional<std::size_t> slot;
    for (std::size_t i = 0; pod.slot && from != nullptr && to != nullptr && !slot && i < to->domains.size(); ++i) {
      const bool same = from->levels == to->levels && *pod.slot < from->domains.size() &&
                        from->domains[*pod.slot].values == to->domains[i].values;
      if (same && given[{pod.set, i}] < to->domains[i].count) {
        ++given[{pod.set, i}];
        slot = i;
      }
    }
    pod.slot = slot;
    pod.asked = pod.asked && slot;
  }
}

void PodReader::removed(const std::string& key) {
  ledger_.room_changed = ledger_.room_changed || !ledger_.cluster.node_of(key).empty();
  ledger_.touch_groups(ledger_.groups.lose(key));
  ledger_.touch_jobs(ledger_.strays.lose(key));
  drop(key);
}

void PodReader::drop(const std::string& key) {
  const auto it = ledger_.pods.find(key);
  if (it == ledger_.pods.end()) {
    return;
  }
  const std::string owner = it->second.workload;
  ledger_.pods.erase(it);
  ledger_.no_longer_releasing(owner, key);
  if (const auto pods = ledger_.pods_by_workload.find(owner); pods != ledger_.pods_by_workload.end()) {
    pods->second.erase(key);
    if (pods->second.empty()) {
      ledger_.pods_by_workload.erase(pods);
    }
  }
  ledger_.touch(owner);
}

}  // namespace gantree::kueue
