// Events to state.
#include <fmt/format.h>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "kueue/controller.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

std::string key_of(std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}", ns, name);
}

std::string kind_key(std::string_view kind, std::string_view ns, std::string_view name) {
  return fmt::format("{} {}/{}", kind, ns, name);
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
  const auto copy = [](json::Value map, auto& into) {
    for (const json::MemberData& member : map ? map.members() : std::span<const json::MemberData>()) {
      into.emplace(member.key, json::Value(&member.value).text());
    }
  };
  copy(spec ? map_at(spec, "nodeSelector") : json::Value(), pod.selector);
  if (pod.node.empty()) {
    copy(map_at(metadata, "labels"), pod.marks);
    copy(map_at(metadata, "annotations"), pod.marks);
  }
  return pod;
}

}  // namespace

void Controller::touch(const std::string& workload) {
  reporter_.note();
  dirty_.insert(workload);
  unbooked_.insert(workload);
  if (const auto it = entries_.find(workload); it != entries_.end()) {
    if (const auto job = jobs_by_uid_.find(it->second.object.owner_uid); job != jobs_by_uid_.end()) {
      dirty_jobs_.insert(job->second);
    }
  }
}

Result<> Controller::changed(const LiveObject& object, Time) {
  if (object.kind == "Pod" && object.group.empty()) {
    return pod_changed(object);
  }
  if (object.kind == "Workload" && object.group == kGroup) {
    return workload_changed(object);
  }
  if (job_kind(object.group, object.kind) != nullptr) {
    return job_changed(object);
  }
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (object.kind == lws::kKind) {
    groups_changed(groups_.see_replicated(object, parsed->object));
    return {};
  }
  if (object.kind == neighbour_kind().kind) {
    const bool before = neighbour_.kueue_runs().has_value();
    neighbour_.see(object.name, parsed->object.value);
    if (before && !neighbour_.kueue_runs()) {
      start_over();
    }
    return {};
  }
  const std::string key = kind_key(object.kind, object.ns, object.name);
  reporter_.changed(key, object, parsed->object);
  // Statuses are ours: what they say decides nothing.
  std::string text = decided_text(parsed->object.value);
  std::string& known = admin_[key];
  setup_changed_ = setup_changed_ || known != text;
  known = std::move(text);
  return {};
}

void Controller::start_over() {
  setup_changed_ = true;
  for (const auto& [key, entry] : entries_) {
    dirty_.insert(key);
  }
  for (const auto& [key, job] : jobs_) {
    dirty_jobs_.insert(key);
  }
}

Result<> Controller::workload_changed(const LiveObject& object) {
  auto read = read_workload(object, cluster_.inventory());
  if (!read) {
    return tl::unexpected(read.error());
  }
  const std::string key = key_of(object.ns, object.name);
  const auto [it, fresh] = entries_.try_emplace(key, Entry{.object = *read});
  Entry& entry = it->second;
  if (!fresh) {
    const bool ended = !entry.object.holds(kFinished) && read->holds(kFinished);
    const bool returned = (entry.admission() && !read->admission) || entry.object.reclaimable != read->reclaimable;
    const bool another = entry.object.ref.uid != read->ref.uid;
    // Our own write named the version it was for. Whatever came since without an admission came in its place.
    const bool overtaken = entry.sent && !entry.guard.in_flight() && read->resource_version != entry.guard.version();
    const bool seen = entry.assumed && read->admission == entry.assumed;
    if (seen || another || overtaken || !read->active || read->deleting) {
      entry.assumed.reset();
      entry.blockers.clear();
      held_.erase(key);
    }
    if (another || !read->admission) {
      entry.evicting.reset();
    }
    room_changed_ = room_changed_ || ended || returned || another;
    if (entry.object.admission != read->admission) {
      forget_slots(key);
    }
    // Our own reports change nothing of what it asks for.
    const bool asks_anew = read->generation == 0 || entry.object.generation != read->generation;
    if (another || returned || asks_anew) {
      entry.submission.reset();
      entry.verdict.reset();
    }
    entry.object = std::move(*read);
  }
  if (!entry.object.owner_uid.empty()) {
    workloads_by_owner_.insert_or_assign(entry.object.owner_uid, key);
    if (const auto job = jobs_by_uid_.find(entry.object.owner_uid); job != jobs_by_uid_.end()) {
      jobs_.at(job->second).creation = {};
    }
  }
  if (entry.object.owner_uid == group_uid(object.ns, object.name)) {
    groups_.expect(object.ns, object.name);
    groups_changed({key});
  }
  if (entry.waits() && (!entry.verdict || entry.missed)) {
    waiting_changed_.insert(key);
    entry.missed = false;
  }
  touch(key);
  return {};
}

Result<> Controller::job_changed(const LiveObject& object) {
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  json::Reader read(kNoFile, parsed->object.value, kind_key(object.kind, object.ns, object.name));
  const json::Value metadata = parsed->object.metadata();
  const std::string key = kind_key(object.kind, object.ns, object.name);
  const JobKind* kind = job_kind(object.group, object.kind);
  JobProgress progress = kind->progress(read, parsed->object);
  const std::string version(read.text(metadata, "resourceVersion").value_or(""));
  if (!read.ok()) {
    return read.error();
  }
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  const bool named = (labels && text_at(labels, kQueueName)) || (annotations && text_at(annotations, kQueueName));
  if (!named && !workloads_by_owner_.contains(object.uid)) {
    return {};  // somebody else's
  }
  JobEntry& job = jobs_[key];
  if (job.ref.uid != object.uid) {
    jobs_by_uid_.erase(job.ref.uid);
    job.guard = {};
    job.creation = {};
  }
  job.kind = kind;
  job.ref = {.group = object.group,
             .version = object.version,
             .kind = object.kind,
             .ns = object.ns,
             .name = object.name,
             .uid = object.uid};
  if (const auto workload = workloads_by_owner_.find(object.uid);
      workload != workloads_by_owner_.end() && progress.suspended && !job.progress.suspended) {
    waiting_changed_.insert(workload->second);
  }
  job.follows = job.resource_version == version ? job.follows : 0;
  job.resource_version = version;
  job.text = object.text;
  job.progress = std::move(progress);
  jobs_by_uid_.insert_or_assign(object.uid, key);
  dirty_jobs_.insert(key);
  return {};
}

Result<> Controller::pod_changed(const LiveObject& object) {
  const std::string key = key_of(object.ns, object.name);
  // Nearly all pods of a cluster are nobody's in a queue.
  if (object.text.find(kGroup) == std::string::npos && !pods_.contains(key) && groups_.group_of_pod(key) == nullptr) {
    const bool over = object.text.find(R"("phase":"Succeeded")") != std::string::npos ||
                      object.text.find(R"("phase":"Failed")") != std::string::npos;
    room_changed_ = room_changed_ || (over && !cluster_.node_of(key).empty());
    return {};
  }
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  groups_changed(groups_.see(object, parsed->object));
  const PodGroup* group = groups_.group_of_pod(key);
  const GroupPod* own = group == nullptr ? nullptr : &group->pods.at(key);
  const bool held = own != nullptr && own->held;
  const json::Value metadata = parsed->object.metadata();
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  const json::Value set = labels ? text_at(labels, kPodSetLabel) : json::Value();
  const json::Value workload = annotations ? text_at(annotations, kWorkloadAnnotation) : json::Value();
  const std::string_view phase = phase_of(parsed->object);
  const bool ended = phase == "Succeeded" || phase == "Failed";
  room_changed_ = room_changed_ || (ended && !cluster_.node_of(key).empty());
  if (!held && (!set || !workload)) {
    if (pods_.contains(key)) {
      pod_removed(key);
    }
    return {};
  }
  StartedPod pod = read_started_pod(object, parsed->object);
  pod.workload = held ? group->key() : key_of(object.ns, workload.text());
  pod.set = held ? std::string_view(own->role) : set.text();
  pod.held = held;
  pod.gated = pod.gated || held;
  pod.group = held ? group->uid : std::string();
  pod.spent = own != nullptr && own->succeeded && !group->serving;
  take_pod(key, std::move(pod));
  return {};
}

void Controller::take_pod(const std::string& key, StartedPod pod) {
  if (const auto before = pods_.find(key); before != pods_.end()) {
    if (before->second.uid == pod.uid && pod.gated) {
      pod.slot = before->second.slot;
      pod.asked = before->second.asked;
    }
    if (before->second.workload != pod.workload) {
      pod_removed(key);
    }
  }
  // In a domain of several hosts it may have got another one than was thought: what is left is cut differently.
  const auto before = pods_.find(key);
  const bool bound_now = !pod.node.empty() && (before == pods_.end() || before->second.node.empty());
  room_changed_ = room_changed_ || (bound_now && !is_sent_to_a_host(pod));
  const std::string owner = pod.workload;
  pods_.insert_or_assign(key, std::move(pod));
  pods_of_[owner].insert(key);
  touch(owner);
}

bool Controller::is_sent_to_a_host(const StartedPod& pod) const {
  const auto entry = entries_.find(pod.workload);
  const std::optional<Admission>* admission = entry == entries_.end() ? nullptr : &entry->second.admission();
  if (admission == nullptr || !*admission) {
    return false;
  }
  return std::any_of((*admission)->sets.begin(), (*admission)->sets.end(), [&](const SetAssignment& set) {
    return set.name == pod.set && set.topology && set.topology->levels.back() == kHostnameLabel;
  });
}

// Slots count the domains of an assignment: with another one they mean nothing.
void Controller::forget_slots(const std::string& workload) {
  const auto pods = pods_of_.find(workload);
  for (const std::string& key : pods == pods_of_.end() ? std::set<std::string>() : pods->second) {
    pods_.at(key).slot.reset();
    pods_.at(key).asked = false;
  }
}

void Controller::pod_removed(const std::string& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) {
    return;
  }
  const std::string owner = it->second.workload;
  pods_.erase(it);
  if (const auto pods = pods_of_.find(owner); pods != pods_of_.end()) {
    pods->second.erase(key);
    if (pods->second.empty()) {
      pods_of_.erase(pods);
    }
  }
  touch(owner);
}

void Controller::removed(std::string_view kind, std::string_view ns, std::string_view name, Time) {
  if (kind == "Pod") {
    room_changed_ = room_changed_ || !cluster_.node_of(key_of(ns, name)).empty();
    groups_changed(groups_.lose(key_of(ns, name)));
    pod_removed(key_of(ns, name));
    return;
  }
  const std::string key = key_of(ns, name);
  if (kind == "Workload") {
    if (const auto it = entries_.find(key); it != entries_.end()) {
      unbook(it->second);
      held_.erase(key);
      workloads_by_owner_.erase(it->second.object.owner_uid);
      if (const auto job = jobs_by_uid_.find(it->second.object.owner_uid); job != jobs_by_uid_.end()) {
        dirty_jobs_.insert(job->second);
      }
      entries_.erase(it);
      room_changed_ = true;
      reporter_.note();
    }
    return;
  }
  if (kind == lws::kKind) {
    groups_.lose_replicated(ns, name);
    return;
  }
  if (kind == neighbour_kind().kind) {
    neighbour_.lose(name);
    start_over();
    return;
  }
  const std::string full = kind_key(kind, ns, name);
  if (const auto job = jobs_.find(full); job != jobs_.end()) {
    jobs_by_uid_.erase(job->second.ref.uid);
    jobs_.erase(job);
    return;
  }
  reporter_.removed(full);
  if (admin_.erase(full) > 0) {
    setup_changed_ = true;
  }
}

}  // namespace gantree::kueue
