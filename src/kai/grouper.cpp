#include "kai/grouper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "dialects/lws/names.h"
#include "json/write.h"
#include "live/notices.h"
#include "live/parsed.h"

namespace gantree::kai {

namespace {

constexpr std::string_view kWarning = "PodGrouperWarning";
constexpr std::string_view kAction = "Grouping";
// Numbers of events differ from those that other families give.
constexpr std::uint64_t kEvents = std::uint64_t{1} << 40U;
// Classes that count though the cluster does not have them: those that every cluster has, and those that KAI brings.
constexpr std::string_view kAlwaysThere[] = {
    "system-cluster-critical", "system-node-critical", "train", "build-preemptible", "build", "inference"};

const ApiKind& pod_group_kind() {
  static const ApiKind kKind{.group = kSchedulingGroup, .kind = "PodGroup", .versions = {kPodGroupVersion}};
  return kKind;
}

std::string key_of(std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}", ns, name);
}

}  // namespace

Grouper::Grouper(std::uint64_t& orders, GrouperOptions options) : orders_(orders), options_(std::move(options)) {
  classes_.insert(std::begin(kAlwaysThere), std::end(kAlwaysThere));
}

std::vector<ApiKind> Grouper::kinds() {
  std::vector<ApiKind> kinds = Makers::kinds();
  kinds.push_back({.group = "", .kind = "Pod", .versions = {"v1"}});
  kinds.push_back(pod_group_kind());
  kinds.push_back({.group = "scheduling.k8s.io", .kind = "PriorityClass", .versions = {"v1"}, .namespaced = false});
  kinds.push_back(neighbour_kind());
  for (ApiKind& kind : TopologyNames::kinds()) {
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

bool Grouper::has_class(std::string_view name) const {
  return classes_.contains(name);
}

Result<> Grouper::changed(const LiveObject& object, Time) {
  if (object.group.empty() && object.kind == "Pod") {
    return pod_changed(object);
  }
  if (object.group == kSchedulingGroup && object.kind == "PodGroup") {
    return group_changed(object);
  }
  if (object.group == "scheduling.k8s.io" && object.kind == "PriorityClass") {
    classes_.insert(object.name);
    return {};
  }
  if (TopologyNames::knows(object.group, object.kind)) {
    return topologies_.changed(object);
  }
  if (object.kind == neighbour_kind().kind && object.group == neighbour_kind().group) {
    const auto parsed = parse(object.text);
    if (!parsed) {
      return tl::unexpected(parsed.error());
    }
    neighbour_.see(object.name, parsed->object.value);
    return {};
  }
  if (Makers::knows(object.group, object.kind)) {
    const auto change = makers_.changed(object);
    if (!change) {
      return tl::unexpected(change.error());
    }
    look_again(maker_key(object.group, object.kind, object.ns, object.name), *change);
  }
  return {};
}

void Grouper::removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name, Time) {
  const std::string key = key_of(ns, name);
  if (group.empty() && kind == "Pod") {
    forget_pod(key);
  } else if (group == kSchedulingGroup && kind == "PodGroup") {
    if (const auto it = groups_.find(key); it != groups_.end()) {
      it->second.object.reset();
      it->second.version.clear();
      it->second.unmarked = it->second.members;
      unattended_.insert(key);
    }
  } else if (kind == "PriorityClass" &&
             std::find(std::begin(kAlwaysThere), std::end(kAlwaysThere), name) == std::end(kAlwaysThere)) {
    classes_.erase(std::string(name));
  } else if (TopologyNames::knows(group, kind)) {
    topologies_.removed(group, name);
  } else if (kind == neighbour_kind().kind && group == neighbour_kind().group) {
    neighbour_.lose(name);
  } else if (Makers::knows(group, kind)) {
    makers_.removed(group, kind, ns, name);
    look_again(maker_key(group, kind, ns, name), Makers::Change::kLineage);
  }
}

// Those that follow from a maker that has changed.
void Grouper::look_again(const std::string& maker, Makers::Change change) {
  const auto followers = followers_.find(maker);
  if (followers == followers_.end() || change == Makers::Change::kNone) {
    return;
  }
  for (const std::string& key : followers->second) {
    if (change == Makers::Change::kLineage) {
      unplaced_.insert(key);
    } else if (const auto pod = pods_.find(key); pod != pods_.end() && !pod->second.group.empty()) {
      unattended_.insert(pod->second.group);
      groups_[pod->second.group].unmarked.insert(key);
    }
  }
}

Result<> Grouper::pod_changed(const LiveObject& object) {
  const std::string key = key_of(object.ns, object.name);
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  PodMarks marks = read_marks(parsed->object.value);
  const bool served =
      std::find(options_.schedulers.begin(), options_.schedulers.end(), marks.scheduler) != options_.schedulers.end();
  if (!served || marks.ended || object.oversized) {
    forget_pod(key);
    return {};
  }
  Pod& pod = pods_[key];
  if (!pod.object.uid.empty() && pod.object.uid != object.uid) {
    leave_group(key, pod);
    pod = {};
  }
  pod.object = object;
  pod.marks = std::move(marks);
  ++pod.seen;
  unplaced_.insert(key);
  return {};
}

Result<> Grouper::group_changed(const LiveObject& object) {
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  const std::string key = key_of(object.ns, object.name);
  Group& group = groups_[key];
  const json::Value metadata = parsed->object.metadata();
  const json::Value version = text_at(metadata, "resourceVersion");
  // Its status changes time and again, which is nothing to its pods.
  if (!group.object || group.object->uid != object.uid) {
    group.unmarked = group.members;
  }
  group.ns = object.ns;
  group.name = object.name;
  group.object = object;
  group.version = version ? std::string(version.text()) : std::string();
  group.ours = is_grouper_made(metadata);
  unattended_.insert(key);
  return {};
}

void Grouper::forget_pod(const std::string& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) {
    return;
  }
  follow(key, it->second, {});
  leave_group(key, it->second);
  unplaced_.erase(key);
  pods_.erase(it);
}

// From now on it follows from these makers, and from one that is still to come.
void Grouper::follow(const std::string& key, Pod& pod, const Ancestry& ancestry) {
  std::set<std::string> makers;
  for (const Maker* maker : ancestry.makers) {
    makers.insert(maker_key(maker->object.group, maker->object.kind, maker->object.ns, maker->object.name));
  }
  if (ancestry.missing.present()) {
    makers.insert(maker_key(ancestry.missing.group, ancestry.missing.kind, pod.object.ns, ancestry.missing.name));
  }
  for (const std::string& old : pod.makers) {
    if (const auto it = followers_.find(old); it != followers_.end() && !makers.contains(old)) {
      it->second.erase(key);
      if (it->second.empty()) {
        followers_.erase(it);
      }
    }
  }
  for (const std::string& maker : makers) {
    followers_[maker].insert(key);
  }
  pod.makers = std::move(makers);
}

void Grouper::leave_group(const std::string& key, Pod& pod) {
  const auto group = groups_.find(pod.group);
  if (group != groups_.end()) {
    group->second.members.erase(key);
    group->second.unmarked.erase(key);
    unattended_.insert(pod.group);
  }
  pod.group.clear();
}

Ancestry Grouper::ancestry_of(const Pod& pod) const {
  // The workers of a LeaderWorkerSet are owned by their leader; the label leads there at once.
  if (!pod.marks.set.empty()) {
    const OwnerRef ref{.group = std::string(lws::kGroup), .kind = std::string(lws::kKind), .name = pod.marks.set};
    if (const Maker* set = makers_.find(pod.object.ns, ref)) {
      return {.makers = {set}};
    }
  }
  return makers_.ancestry(pod.object.ns, pod.marks.owner,
                          [&](std::string_view ns, const OwnerRef& ref) -> const OwnerRef* {
                            const auto it = pods_.find(key_of(ns, ref.name));
                            const bool same = it != pods_.end() && it->second.object.uid == ref.uid;
                            return same ? &it->second.marks.owner : nullptr;
                          });
}

// Finds the group of a pod.
void Grouper::place(const std::string& key, Time now, Step& step) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) {
    return;
  }
  Pod& pod = it->second;
  const Ancestry ancestry = ancestry_of(pod);
  follow(key, pod, ancestry);
  const auto any = [&](bool Maker::* flag) {
    return std::any_of(ancestry.makers.begin(), ancestry.makers.end(),
                       [&](const Maker* maker) { return maker->*flag; });
  };
  const bool speaks = pod.marks.scheduler == kScheduler || pod.marks.marked || any(&Maker::marked);
  const bool left_alone = !speaks || pod.marks.skips || any(&Maker::skips) || pod.marks.elsewhere ||
                          any(&Maker::elsewhere) || any(&Maker::joins) || pod.marks.leaving;
  const std::string complaint =
      ancestry.endless ? fmt::format("the owners of pod \"{}\" go on and on, or round in a circle", key) : "";
  if (!complaint.empty() && speaks && pod.complaint != complaint) {
    complain(pod_ref(key, pod.object.uid), complaint, now, step);
  }
  pod.complaint = speaks ? complaint : "";
  if (left_alone || ancestry.endless || ancestry.missing.present()) {
    leave_group(key, pod);
    return;
  }
  const Target target = target_of(pod.object.name, pod.marks, ancestry);
  const std::string group_key = key_of(pod.object.ns, target.name);
  // Somebody else told it to join another: a user, on the pod itself, or into a PodGroup that users made.
  if (!pod.marks.group.empty() && pod.marks.group != target.name) {
    const auto named = groups_.find(key_of(pod.object.ns, pod.marks.group));
    const bool users = named != groups_.end() && named->second.object && !named->second.ours;
    if (users || !pod.marks.owner.present()) {
      leave_group(key, pod);
      return;
    }
  }
  if (pod.group != group_key) {
    leave_group(key, pod);
    pod.group = group_key;
  }
  Group& group = groups_[group_key];
  group.ns = pod.object.ns;
  group.name = target.name;
  group.members.insert(key);
  group.unmarked.insert(key);
  unattended_.insert(group_key);
}

void Grouper::step(Time now, Step& step) {
  if (!serving_ || neighbour_.kai_runs()) {
    return;
  }
  for (const std::string& key : std::exchange(unplaced_, {})) {
    place(key, now, step);
  }
  for (const std::string& key : std::exchange(unattended_, {})) {
    attend(key, now, step);
  }
}

std::uint64_t Grouper::order(Step& step, Urgency urgency, Write write) {
  const std::uint64_t id = ++orders_;
  step.orders.push_back({.id = id, .urgency = urgency, .write = std::move(write)});
  return id;
}

void Grouper::complain(const ObjectRef& about, const std::string& sentence, Time now, Step& step) {
  const Notice notice{.about = about, .warning = true, .reason = kWarning, .action = kAction, .note = sentence};
  order(step, Urgency::kEvent, event(notice, options_.instance, kEvents + orders_, now));
}

bool Grouper::answered(std::uint64_t order, Answer answer, std::string_view why, Time now) {
  const auto it = sent_.find(order);
  if (it == sent_.end()) {
    return false;
  }
  const Sent sent = std::move(it->second);
  sent_.erase(it);
  if (const auto pod = pods_.find(sent.pod); pod != pods_.end() && pod->second.guard.in_flight()) {
    pod->second.guard.answered(answer, now);
    unplaced_.insert(sent.pod);
  }
  if (const auto group = groups_.find(sent.group); group != groups_.end() && group->second.guard.in_flight()) {
    group->second.guard.answered(answer, now);
    group->second.refusal = answer == Answer::kRefused ? std::string(why) : std::string();
    unattended_.insert(sent.group);
  }
  return true;
}

void Grouper::serve(bool pod_groups) {
  serving_ = pod_groups;
}

void Grouper::start_leading() {
  for (const auto& [key, pod] : pods_) {
    unplaced_.insert(key);
  }
  for (const auto& [key, group] : groups_) {
    unattended_.insert(key);
  }
}

bool Grouper::is_on_its_way(std::string_view ns, std::string_view pod) const {
  const auto it = pods_.find(key_of(ns, pod));
  if (!serving_ || neighbour_.kai_runs() || it == pods_.end()) {
    return false;
  }
  return unplaced_.contains(it->first) || (!it->second.group.empty() && it->second.marks.group.empty());
}

std::string Grouper::complaint(std::string_view ns, std::string_view pod) const {
  const auto it = pods_.find(key_of(ns, pod));
  if (it == pods_.end()) {
    return "";
  }
  const auto group = groups_.find(it->second.group);
  return group == groups_.end() ? it->second.complaint : group->second.complaint;
}

}  // namespace gantree::kai
