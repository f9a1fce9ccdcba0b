#include "kueue/event_reader.h"

#include <fmt/format.h>

#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "json/copy.h"
#include "kueue/submissions.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kNamespaceKind = "Namespace";

// Of one job. It is kept, and its Workload with it.
constexpr std::size_t kLargestJob = 256 * 1024;

std::string key_of(std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}", ns, name);
}

std::string kind_key(std::string_view kind, std::string_view ns, std::string_view name) {
  return fmt::format("{} {}/{}", kind, ns, name);
}

ObjectRef ref_of(const LiveObject& object) {
  return {.group = object.group,
          .version = object.version,
          .kind = object.kind,
          .ns = object.ns,
          .name = object.name,
          .uid = object.uid};
}

// "" where there is no such map, or no such text in it.
std::string_view string_at(json::Value map, std::string_view key) {
  const json::Value value = map ? text_at(map, key) : json::Value();
  return value ? value.text() : std::string_view();
}

// Takes over what its labels and annotations ask of its admission. Whether that is something else than before.
bool asks_otherwise(JobEntry& job, json::Value labels, json::Value annotations) {
  const std::string_view priority_class = string_at(labels, kPriorityClass);
  const std::string_view gated_by = string_at(annotations, kGatedBy);
  const bool other_class = std::exchange(job.priority_class, std::string(priority_class)) != priority_class;
  const bool other_gate = std::exchange(job.gated_by, std::string(gated_by)) != gated_by;
  return other_class || other_gate;
}

}  // namespace

Result<> EventReader::changed(const LiveObject& object) {
  if (object.kind == "Pod" && object.group.empty()) {
    return pods_.changed(object);
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
    ledger_.touch_groups(ledger_.groups.see_replicated(object, parsed->object));
    return {};
  }
  if (object.kind == kStatefulSet) {
    ledger_.touch_groups(ledger_.groups.see_stateful(object, parsed->object));
    return {};
  }
  if (object.kind == neighbour_kind().kind) {
    neighbour_changed(object, parsed->object);
    return {};
  }
  if (object.kind == Budgets::kKind) {
    ledger_.budgets.see(object, parsed->object);
    return {};
  }
  if (PodDefaults::is_one(object.kind)) {
    const bool other_bounds = object.kind == PodDefaults::kLimitRange && ledger_.bounds.see(object, parsed->object);
    if (ledger_.defaults.see(object, parsed->object) || other_bounds) {
      templates_changed(object.ns);
    }
    return {};
  }
  ledger_.job_defaults.see(object.kind, object.ns, object.name);
  const std::string key = kind_key(object.kind, object.ns, object.name);
  reporter_.changed(key, object, parsed->object);
  release_.changed(key, object, parsed->object);
  // Statuses are ours: what they say decides nothing.
  std::string text = decided_text(object.kind, parsed->object.value);
  std::string& known = ledger_.admin[key];
  const bool matters = object.kind != kNamespaceKind || namespace_in_use(object.name);
  ledger_.setup_changed = ledger_.setup_changed || (known != text && matters);
  known = std::move(text);
  return {};
}

// Namespaces come and go all the time; few of them have queues.
bool EventReader::namespace_in_use(std::string_view name) const {
  const std::string queues = kind_key("LocalQueue", name, "");
  const auto queue = ledger_.admin.lower_bound(queues);
  return queue != ledger_.admin.end() && queue->first.starts_with(queues);
}

void EventReader::neighbour_changed(const LiveObject& object, const Object& parsed) {
  const bool before = ledger_.neighbour.kueue_runs().has_value();
  ledger_.neighbour.see(object.name, parsed.value);
  if (before && !ledger_.neighbour.kueue_runs()) {
    ledger_.touch_all();
  }
}

// A Workload that nothing owns has the templates that its maker wrote; of others what pods will get is in them.
Result<WorkloadObject> EventReader::read(const LiveObject& object) const {
  auto read = read_workload(object, ledger_.cluster.inventory());
  if (!read || !read->unowned || !ledger_.defaults.any(object.ns)) {
    return read;
  }
  LiveObject adjusted = object;
  adjusted.text = json::copy(read->document.root(), [&](std::string_view key, json::Value value) {
                    const bool pods = key == "template" && value.kind() == json::Kind::kObject;
                    return pods ? std::optional(ledger_.defaults.apply(object.ns, value)) : std::nullopt;
                  }).to_json(false);
  return read_workload(adjusted, ledger_.cluster.inventory());
}

void EventReader::templates_changed(std::string_view ns) {
  ledger_.touch_templates(ns);
  for (auto& [key, entry] : ledger_.entries) {
    if (!entry.unowned || !entry.waits() || (!ns.empty() && entry.object.ref.ns != ns)) {
      continue;
    }
    if (auto adjusted = read(*entry.unowned)) {
      entry.object = std::move(*adjusted);
      entry.submission.reset();
      entry.verdict.reset();
      entry.told_at = {};
      ledger_.waiting_changed.insert(key);
    }
  }
}

Result<> EventReader::workload_changed(const LiveObject& object) {
  auto read = this->read(object);
  if (!read) {
    return tl::unexpected(read.error());
  }
  const std::string key = key_of(object.ns, object.name);
  const auto [it, fresh] = ledger_.entries.try_emplace(key, Entry(*read));
  Entry& entry = it->second;
  entry.family = ledger_.family;
  if (!fresh) {
    update(key, entry, std::move(*read));
  } else {
    pods_.name_sets(key);
    // It was evicted for another before this process came; what has ended since then nobody knows.
    if (entry.waits() && entry.object.holds(kPreempted)) {
      entry.gave_way = ledger_.account.ended;
    }
  }
  entry.unowned = entry.object.unowned ? std::optional(object) : std::nullopt;
  if (!entry.object.owner_uid.empty()) {
    ledger_.workloads_by_owner.insert_or_assign(entry.object.owner_uid, key);
    if (JobEntry* job = ledger_.job_of(entry)) {
      job->creation = {};
    }
  }
  if (entry.object.owner_uid == group_uid(object.ns, object.name)) {
    ledger_.groups.expect(object.ns, object.name);
    ledger_.touch_groups({key});
  }
  const bool stands = entry.place.has_value();
  if (entry.missed || (entry.waits() ? !entry.verdict || !stands : stands)) {
    ledger_.waiting_changed.insert(key);
    entry.missed = false;
  }
  ledger_.touch(key);
  return {};
}

void EventReader::update(const std::string& key, Entry& entry, WorkloadObject read) {
  const bool waited = entry.waits();
  const bool ended = !entry.object.holds(kFinished) && read.holds(kFinished);
  ledger_.account.ended += ended ? 1 : 0;
  const bool returned = (entry.admission() && !read.admission) || entry.object.reclaimable != read.reclaimable;
  const bool another = entry.object.ref.uid != read.ref.uid;
  // Our own write named the version it was for. Whatever came since without an admission came in its place.
  const bool overtaken = entry.sent && !entry.guard.in_flight() && read.resource_version != entry.guard.version();
  const bool seen = entry.assumed && read.admission == entry.assumed;
  if (another) {
    booking_.unbook(entry);
  }
  if (seen || another || overtaken || !read.active || read.deleting) {
    entry.drop_assumed();
    ledger_.held.erase(key);
  }
  if (another || !read.admission) {
    entry.evicting.reset();
  }
  if (entry.object.admission != read.admission) {
    pods_.move_slots(key, entry.object.admission, read.admission);
    if (!seen) {
      entry.hosts.clear();  // another gave it that, and where we had planned it is no longer so
    }
  }
  // Our own reports change nothing of what it asks for.
  const bool asks_anew =
      read.generation == 0 || entry.object.generation != read.generation || entry.object.gated_by != read.gated_by;
  const bool moved = queued_seconds(entry.object, ledger_) != queued_seconds(read, ledger_);
  if (another || returned || asks_anew || moved) {
    entry.submission.reset();
    entry.verdict.reset();
  }
  if (entry.object.reclaimable != read.reclaimable || entry.object.generation != read.generation) {
    entry.told_at = {};  // what it was told was of other pods
  }
  if (asks_anew && entry.assumed && !entry.sent) {
    entry.drop_assumed();  // it waited for others to leave, and asks for something else now
    ledger_.held.erase(key);
    ledger_.room_changed = true;
  }
  if (entry.object.owner_uid != read.owner_uid) {
    forget_owner(key, entry.object.owner_uid);
  }
  entry.object = std::move(read);
  // Who leaves a queue without having been admitted makes way for those behind him.
  ledger_.room_changed = ledger_.room_changed || ended || returned || another || (waited && !entry.waits());
}

void EventReader::turn_away(const std::string& key, const LiveObject& job) {
  if (ledger_.jobs.contains(key)) {
    ledger_.forget_job(key);
  }
  ledger_.complaints.push_back(
      {.about = ref_of(job),
       .sentence = fmt::format("it takes {} KiB, more than the {} KiB that a job in a queue may take, so it is not "
                               "looked at",
                               job.text.size() >> 10U, kLargestJob >> 10U),
       .reason = "TooLarge"});
}

Result<> EventReader::job_changed(const LiveObject& object) {
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
  if (!named && !ledger_.workloads_by_owner.contains(object.uid) && !ledger_.jobs.contains(key)) {
    return {};  // somebody else's
  }
  if (object.text.size() > kLargestJob && !ledger_.workloads_by_owner.contains(object.uid)) {
    turn_away(key, object);
    return {};
  }
  JobEntry& job = ledger_.jobs[key];
  if (job.ref.uid != object.uid) {
    ledger_.jobs_by_uid.erase(job.ref.uid);
    job.guard = {};
    job.creation = {};
    job.waited = false;
    job.was_held = false;
    job.rests_until = {};
    job.ran = false;
  }
  job.started_for = string_at(annotations, kStartedFor);
  job.resumed = string_at(annotations, kSuspension) == kResumed;
  job.kind = kind;
  job.ref = ref_of(object);
  job_progresses(object.uid, job.progress, progress);
  if (asks_otherwise(job, labels, annotations)) {
    ledger_.ask_anew(object.uid);
  }
  job.follows = job.resource_version == version ? job.follows : 0;
  job.resource_version = version;
  job.text = object.text;
  job.progress = std::move(progress);
  job.waited = job.waited || job.progress.suspended || ledger_.workloads_by_owner.contains(object.uid);
  job.was_held = job.was_held || job.progress.suspended;
  ledger_.jobs_by_uid.insert_or_assign(object.uid, key);
  ledger_.dirty_jobs.insert(key);
  return {};
}

void EventReader::job_progresses(const std::string& uid, const JobProgress& before, const JobProgress& now) {
  const auto workload = ledger_.workloads_by_owner.find(uid);
  if (workload == ledger_.workloads_by_owner.end()) {
    return;
  }
  if (now.suspended && !before.suspended) {
    ledger_.waiting_changed.insert(workload->second);
  }
  // Fewer pods need less room.
  if (now.wants != before.wants) {
    ledger_.unbooked.insert(workload->second);
    ledger_.room_changed = true;
  }
}

// Another Workload may have the same owner.
void EventReader::forget_owner(const std::string& key, const std::string& owner_uid) {
  if (const auto it = ledger_.workloads_by_owner.find(owner_uid);
      it != ledger_.workloads_by_owner.end() && it->second == key) {
    ledger_.workloads_by_owner.erase(it);
  }
}

void EventReader::workload_removed(const std::string& key) {
  const auto it = ledger_.entries.find(key);
  if (it == ledger_.entries.end()) {
    return;
  }
  booking_.depart(it->second);
  ledger_.lines.take_out(it->second);
  ledger_.held.erase(key);
  forget_owner(key, it->second.object.owner_uid);
  if (const auto job = ledger_.jobs_by_uid.find(it->second.object.owner_uid); job != ledger_.jobs_by_uid.end()) {
    ledger_.jobs.at(job->second).waited = true;
    ledger_.dirty_jobs.insert(job->second);
  }
  ledger_.entries.erase(it);
  ++ledger_.account.ended;
  ledger_.room_changed = true;
  ledger_.queues_changed = true;
}

void EventReader::removed(std::string_view kind, std::string_view ns, std::string_view name) {
  if (kind == "Pod") {
    pods_.removed(key_of(ns, name));
    return;
  }
  if (kind == "Workload") {
    workload_removed(key_of(ns, name));
    return;
  }
  if (kind == lws::kKind) {
    ledger_.groups.lose_replicated(ns, name);
    return;
  }
  if (kind == kStatefulSet) {
    ledger_.groups.lose_stateful(ns, name);
    return;
  }
  if (kind == neighbour_kind().kind) {
    ledger_.neighbour.lose(name);
    ledger_.touch_all();
    return;
  }
  if (kind == Budgets::kKind) {
    ledger_.budgets.lose(ns, name);
    return;
  }
  if (PodDefaults::is_one(kind)) {
    const bool other_bounds = kind == PodDefaults::kLimitRange && ledger_.bounds.lose(ns, name);
    if (ledger_.defaults.lose(kind, ns, name) || other_bounds) {
      templates_changed(ns);
    }
    return;
  }
  const std::string full = kind_key(kind, ns, name);
  if (ledger_.jobs.contains(full)) {
    ledger_.forget_job(full);
    return;
  }
  ledger_.job_defaults.lose(kind, ns, name);
  reporter_.removed(full);
  release_.removed(full);
  if (ledger_.admin.erase(full) > 0 && (kind != kNamespaceKind || namespace_in_use(name))) {
    ledger_.setup_changed = true;
  }
}

}  // namespace gantree::kueue
