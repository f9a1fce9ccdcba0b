// A group and its pods: the PodGroup is made or brought up to date, then its pods are told of it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kai/bound.h"
#include "dialects/kai/names.h"
#include "json/overlay.h"
#include "json/write.h"
#include "kai/grouper.h"
#include "live/notices.h"
#include "live/parsed.h"

namespace gantree::kai {

namespace {

// In place of the resourceVersion of what is not there.
constexpr std::string_view kAbsent = "absent";

// Keeps alive what a workload and the fields of a group point to.
struct Reading {
  std::vector<Parsed> owners;  // as the target has them
  std::optional<Parsed> pod;
  std::optional<Workload> workload;  // whose pods are counted
  std::unique_ptr<json::Overlay> overlay = std::make_unique<json::Overlay>();
};

bool asks_for_levels(json::Value annotations) {
  return text_at(annotations, kTopology) || text_at(annotations, kRequired) || text_at(annotations, kPreferred);
}

// What an owner further up says counts where the one whose pods are counted says nothing.
void inherit(Reading& reading) {
  Workload& workload = *reading.workload;
  bool levels = asks_for_levels(workload.annotations);
  for (const Parsed& owner : reading.owners) {
    const json::Value above = map_at(owner.object.metadata(), "annotations");
    const auto take = [&](std::string_view key) {
      if (const json::Value value = text_at(above, key)) {
        workload.annotations = reading.overlay->with(workload.annotations, key, value);
      }
    };
    if (!levels && asks_for_levels(above)) {
      take(kTopology);
      take(kRequired);
      take(kPreferred);
      levels = true;
    }
    if (!text_at(workload.annotations, kMinMember)) {
      take(kMinMember);
    }
  }
}

// Of a group of which nobody says how many pods it has.
LevelRequest levels_above(const Reading& reading) {
  for (const Parsed& owner : reading.owners) {
    const json::Value annotations = map_at(owner.object.metadata(), "annotations");
    if (asks_for_levels(annotations)) {
      return placement_request(owner.object.file, annotations);
    }
  }
  return {};
}

Result<Reading> read_all(const Target& target, const LiveObject& pod) {
  Reading reading;
  const Parsed* sized = nullptr;
  reading.owners.reserve(target.owners.size());
  for (const Maker* maker : target.owners) {
    auto parsed = parse(maker->object.text);
    if (!parsed) {
      return tl::unexpected(parsed.error());
    }
    reading.owners.push_back(std::move(*parsed));
    sized = maker == target.sized ? &reading.owners.back() : sized;
  }
  auto parsed = parse(pod.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  reading.pod = std::move(*parsed);
  const Object* counted = sized != nullptr ? &sized->object : target.alone ? &reading.pod->object : nullptr;
  if (counted == nullptr) {
    return reading;
  }
  const json::Value name = text_at(counted->metadata(), "name");
  auto workload = read_workload({*counted, pod.ns, name ? name.text() : std::string_view()});
  if (!workload) {
    return tl::unexpected(workload.error());
  }
  reading.workload = std::move(*workload);
  inherit(reading);
  return reading;
}

ObjectRef group_ref(std::string_view ns, std::string_view name, std::string_view uid) {
  return {.group = std::string(kSchedulingGroup),
          .version = std::string(kPodGroupVersion),
          .kind = "PodGroup",
          .ns = std::string(ns),
          .name = std::string(name),
          .uid = std::string(uid)};
}

ObjectRef ref_of(std::string_view ns, const OwnerRef& owner) {
  return {.group = owner.group,
          .version = owner.version,
          .kind = owner.kind,
          .ns = std::string(ns),
          .name = owner.name,
          .uid = owner.uid};
}

// `own` is the one that it has a label of, where there is such a one. Where no index tells, it stays there.
std::optional<std::size_t> choose_leaf(const LiveObject& pod, const Workload& workload, const GroupSpec& spec,
                                       std::size_t own, std::span<const int> taken) {
  const auto parsed = parse(pod.text);
  if (!parsed) {
    return std::nullopt;
  }
  PodRecord record;
  record.object = parsed->object;
  record.ns = pod.ns;
  record.name = pod.name;
  const bool settled = own < taken.size() && !index_of(record) && taken[own] < spec.subgroups[own].pods.count;
  return settled ? std::optional(own) : leaf_of(workload, spec, record, taken);
}

// The values point into what was read.
GroupSource source_of(const Target& target, const Reading& reading) {
  GroupSource source{.ns = {}, .name = {}, .owner = target.owner};
  for (const Parsed& owner : reading.owners) {
    source.owners.push_back(owner.object.metadata());
  }
  if (source.owners.empty()) {
    source.owners.push_back(reading.pod->object.metadata());
  }
  source.pod = reading.pod->object.value;
  source.default_class = target.default_class;
  source.ray = target.owner.group == "ray.io";
  return source;
}

}  // namespace

LivePods Grouper::live_pods(const Group& group) const {
  LivePods live;
  for (const std::string& member : group.members) {
    const PodMarks& marks = pods_.find(member)->second.marks;
    live.leader_has_node = live.leader_has_node || (marks.leader && marks.has_node);
    live.has_launcher = live.has_launcher || (marks.launcher && !marks.leaving);
  }
  return live;
}

void Grouper::attend(const std::string& key, Time now, Step& step) {
  const auto it = groups_.find(key);
  if (it == groups_.end()) {
    return;
  }
  Group& group = it->second;
  if (group.members.empty()) {
    if (!group.object) {
      groups_.erase(it);
    }
    return;
  }
  // The same one as long as it is there, so that the fields which come of it stay.
  Pod& first = pods_.find(*group.members.begin())->second;
  const Ancestry ancestry = ancestry_of(first);
  if (ancestry.missing.present() || ancestry.endless) {
    return;
  }
  const Target target = target_of(first.object.name, first.marks, ancestry);
  const auto refuse = [&](const std::string& why) {
    group.complaint = without_places(why);
    if (std::exchange(group.said, group.complaint) != group.complaint) {
      complain(ref_of(group.ns, target.owner), group.complaint, now, step);
    }
  };
  const auto reading = read_all(target, first.object);
  if (!reading) {
    refuse(reading.error().message);
    return;
  }
  auto spec = reading->workload ? group_spec(*reading->workload, live_pods(group))
                                : Result<GroupSpec>(GroupSpec{.min_member = 1});
  if (!spec) {
    refuse(spec.error().message);
    return;
  }
  if (!reading->workload) {
    spec->levels = levels_above(*reading);
  }
  GroupSource source = source_of(target, *reading);
  source.ns = group.ns;
  source.name = group.name;
  source.has_class = [&](std::string_view name) { return has_class(name); };
  auto wanted = want_group(source, *spec);
  if (!wanted) {
    refuse(wanted.error().message);
    return;
  }
  group.complaint.clear();
  warn(group, target.owner, *wanted, now, step);
  if (!bring_up(group, *wanted, now, step)) {
    unattended_.insert(key);
  }
  if (group.object) {
    mark_members(group, reading->workload ? &*reading->workload : nullptr, *spec, now, step);
  }
}

// What goes on in spite of it, once.
void Grouper::warn(Group& group, const OwnerRef& owner, const WantedGroup& wanted, Time now, Step& step) {
  std::string all;
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) {
      all += all.empty() ? sentence : "; " + sentence;
    }
  };
  for (const std::string& remark : wanted.remarks) {
    add(remark);
  }
  add(topologies_.objection(wanted.levels));
  for (const WantedSubGroup& subgroup : wanted.subgroups) {
    const std::string objection = topologies_.objection(subgroup.levels);
    if (!objection.empty()) {
      add(fmt::format("subgroup \"{}\": {}", subgroup.name, objection));
      break;
    }
  }
  if (group.guard.refusals() > 1 && !group.refusal.empty()) {
    add(fmt::format("its PodGroup \"{}\" cannot be written: {}", group.name, group.refusal));
  }
  if (all.empty()) {
    group.said.clear();
  } else if (std::exchange(group.said, all) != all) {
    complain(ref_of(group.ns, owner), all, now, step);
  }
}

// Writes the PodGroup where it has to be. False where that has to be tried again.
bool Grouper::bring_up(Group& group, const WantedGroup& wanted, Time now, Step& step) {
  const std::string version = group.object ? group.version : std::string(kAbsent);
  Write write;
  if (!group.object) {
    write = {.verb = WriteVerb::kCreate, .object = group_ref(group.ns, group.name, ""), .body = create_body(wanted)};
  } else if (group.ours) {
    const auto parsed = parse(group.object->text);
    const bool leaves = !parsed || text_at(parsed->object.metadata(), "deletionTimestamp");
    std::string body = leaves ? std::string() : patch_body(wanted, parsed->object.value, group.object->uid);
    if (body.empty()) {
      return true;
    }
    write = {.verb = WriteVerb::kPatch,
             .object = group_ref(group.ns, group.name, group.object->uid),
             .body = std::move(body)};
  } else {
    return true;
  }
  if (group.guard.closed(version, now)) {
    if (!group.guard.in_flight()) {
      step.wake_by(group.guard.opens());
    }
    return false;
  }
  const std::uint64_t id = order(step, Urgency::kStatus, std::move(write));
  sent_.emplace(id, Sent{.pod = {}, .group = fmt::format("{}/{}", group.ns, group.name)});
  group.guard.sent(id, version);
  return true;
}

void Grouper::mark_members(Group& group, const Workload* workload, const GroupSpec& spec, Time now, Step& step) {
  // By the labels that pods have, how many each subgroup holds.
  std::vector<int> taken(spec.subgroups.size(), 0);
  const auto slot_of = [&](std::string_view name) {
    return std::find_if(spec.subgroups.begin(), spec.subgroups.end(),
                        [&](const SubGroupSpec& one) { return one.name == name && one.pods.pods != nullptr; }) -
           spec.subgroups.begin();
  };
  const bool divided = group.ours && !spec.subgroups.empty() && workload != nullptr;
  if (divided) {
    for (const std::string& member : group.members) {
      const auto slot = static_cast<std::size_t>(slot_of(pods_.find(member)->second.marks.subgroup));
      if (slot < taken.size()) {
        ++taken[slot];
      }
    }
  }
  for (const std::string& key : std::exchange(group.unmarked, {})) {
    Pod& pod = pods_.find(key)->second;
    std::string subgroup;
    if (divided) {
      const auto own = static_cast<std::size_t>(slot_of(pod.marks.subgroup));
      if (own < taken.size()) {
        --taken[own];
      }
      const auto leaf = choose_leaf(pod.object, *workload, spec, own, taken);
      if (!leaf) {
        const std::string why =
            fmt::format("pod \"{}\" belongs to none of the subgroups of PodGroup \"{}\"", key, group.name);
        if (std::exchange(pod.complaint, why) != why) {
          complain(pod_ref(key, pod.object.uid), why, now, step);
        }
        continue;
      }
      ++taken[*leaf];
      subgroup = spec.subgroups[*leaf].name;
    }
    pod.complaint.clear();
    mark(key, pod, group, subgroup, now, step);
  }
}

void Grouper::mark(const std::string& key, Pod& pod, Group& group, const std::string& subgroup, Time now, Step& step) {
  const bool grouped = pod.marks.group == group.name;
  if (grouped && (subgroup.empty() || pod.marks.subgroup == subgroup)) {
    return;
  }
  const std::string version = fmt::format("{}", pod.seen);
  if (pod.guard.closed(version, now)) {
    group.unmarked.insert(key);
    if (!pod.guard.in_flight()) {
      step.wake_by(pod.guard.opens());
      unattended_.insert(pod.group);
    }
    return;
  }
  json::Out metadata = json::Out::object();
  metadata.add("uid", pod.object.uid);
  metadata.add("annotations", json::Out::object().add(kPodGroupName, group.name));
  if (!subgroup.empty()) {
    metadata.add("labels", json::Out::object().add(kSubgroup, subgroup));
  }
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata));
  Write write{.verb = WriteVerb::kPatch, .object = pod_ref(key, pod.object.uid), .body = body.to_json(false)};
  const std::uint64_t id = order(step, Urgency::kStatus, std::move(write));
  sent_.emplace(id, Sent{.pod = key});
  pod.guard.sent(id, version);
}

}  // namespace gantree::kai
