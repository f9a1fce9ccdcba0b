#include "kueue/group_reconciler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "kueue/job_follower.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

using std::chrono::seconds;

// A serving group without pods: so long whoever makes them may take to make others.
constexpr seconds kEmptyPatience{10};
// So long the other pods of a group may take to appear.
constexpr seconds kPartnerPatience{5};

std::map<std::string, int> counts_of(const WorkloadObject& workload) {
  std::map<std::string, int> counts;
  for (const PodSetRequest& set : workload.request.pod_sets) {
    counts[set.name] = set.count;
  }
  return counts;
}

std::vector<ObjectRef> owners_of(const PodGroup& group) {
  if (group.owner) {
    return {*group.owner};
  }
  std::vector<ObjectRef> owners;
  for (const auto& [key, pod] : group.pods) {
    owners.push_back(pod.ref);
  }
  return owners;
}

bool is_owned_by_all(const WorkloadObject& workload, const std::vector<ObjectRef>& owners) {
  std::set<std::string_view> known;
  const json::Value list = workload.document.root()["metadata"]["ownerReferences"];
  if (list && list.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : list.items()) {
      if (const json::Value uid = text_at(json::Value(&item), "uid")) {
        known.insert(uid.text());
      }
    }
  }
  return std::all_of(owners.begin(), owners.end(), [&](const ObjectRef& owner) { return known.contains(owner.uid); });
}

}  // namespace

void GroupReconciler::reconcile(const std::string& key, Time now, Step& step) {
  JobEntry& job = ledger_.jobs.at(key);
  PodGroup& group = *ledger_.groups.find(job.group);
  Entry* entry = ledger_.workload_of(group.uid);
  const bool ran = !job.progress.suspended;
  job.progress = progress_of(group, entry == nullptr ? std::map<std::string, int>() : entry->object.reclaimable);
  if (entry != nullptr && entry->object.admission && group.serving) {
    // A set may have been scaled since: it is ready with the pods that it was given.
    int given = 0;
    for (const SetAssignment& set : entry->object.admission->sets) {
      given += set.count;
    }
    job.progress.expected = std::min(job.progress.expected, given);
  }
  if (entry != nullptr && ran && job.progress.suspended) {
    ledger_.waiting_changed.insert(entry->key());
  }
  let_go(group, step);
  if (group.pods.empty()) {
    end(key, group, entry, now, step);
    return;
  }
  group.empty_since.reset();
  if (entry == nullptr) {
    // Who takes the Workload away takes away what it stands for.
    remove_released(group, step);
    if (!group.complete()) {
      tell_incomplete(key, group, now, step);
    } else if (job.progress.suspended && !job.progress.end) {
      make_workload(job, key, group, now, step);
    }
    return;
  }
  ledger_.dirty.insert(entry->key());
  if (!job.progress.end && !entry->object.holds(kFinished) && !entry->object.deleting) {
    check(key, group, *entry, now, step);
  }
}

void GroupReconciler::check(const std::string& key, PodGroup& group, Entry& entry, Time now, Step& step) {
  const bool given = entry.object.admission && entry.object.holds(kAdmitted);
  if (!given || entry.object.holds(kEvicted) || !entry.object.active) {
    remove_released(group, step);
  }
  const std::map<std::string, int> counts = counts_of(entry.object);
  // A StatefulSet that is scaled while it runs goes on with the pods that it has.
  const bool others = entry.waits() ? !group.asks_for(counts) : !group.stateful() && !group.asks_for_total(counts);
  if (!group.single && others) {
    remove_workload(entry, now, step);
    return;
  }
  // It keeps its place in the queue, and takes it again when it is complete.
  const bool lacks_pods = !group.single && entry.waits() && !group.complete();
  if (std::exchange(entry.lacks_pods, lacks_pods) != lacks_pods) {
    ledger_.waiting_changed.insert(entry.key());
  }
  if (lacks_pods) {
    tell_incomplete(key, group, now, step);
  }
  if (given) {
    tell_excess(group, counts, now, step);
  }
  if (entry.assumed && entry.sent) {
    return;  // no other write may overtake it
  }
  if (!settle_priority(group, entry, now, step) && !keep_owners(group, entry, now, step) && !group.single) {
    tell_lacking(group, entry, counts, now, step);
  }
}

void GroupReconciler::tell_lacking(const PodGroup& group, Entry& entry, const std::map<std::string, int>& counts,
                                   Time now, Step& step) {
  const bool lacking = group.lacks_pods(counts, entry.object.reclaimable);
  const Condition* known = entry.object.condition(kWaitingForPods);
  if ((!lacking && known == nullptr) || entry.assumed) {
    return;
  }
  Wanted wanted{
      .type = kWaitingForPods, .holds = lacking, .reason = "PodsReady", .message = "No pods need replacement"};
  if (const Condition* evicted = entry.object.condition(kEvicted); lacking && evicted != nullptr && evicted->holds) {
    wanted.reason = evicted->reason;
    wanted.message = evicted->message;
  } else if (lacking && known != nullptr && known->holds) {
    return;  // it stays as it was told when they went
  } else if (lacking) {
    wanted.reason = "PodsFailed";
    wanted.message = "Others have to be made for pods that failed or are gone";
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    ledger_.look_again(group_job(group.key()), entry.guard, now);
    return;
  }
  status_.write(entry, {wanted}, {}, now, step);
}

bool GroupReconciler::settle_priority(const PodGroup& group, Entry& entry, Time now, Step& step) {
  json::Out spec = json::Out::object();
  if (!follow_class(group.priority_class, ledger_.setup, entry, spec)) {
    return false;
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    ledger_.look_again(ledger_.jobs_by_uid.at(group.uid), entry.guard, now);
    return true;
  }
  json::Out metadata = json::Out::object();
  metadata.add("uid", entry.object.ref.uid).add("resourceVersion", entry.object.resource_version);
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata)).add("spec", std::move(spec));
  const std::uint64_t id =
      outbox_.order(step, Urgency::kStatus,
                    {.verb = WriteVerb::kPatch, .object = entry.object.ref, .node = {}, .body = body.to_json(false)},
                    {.workload = entry.key()});
  entry.guard.sent(id, entry.object.resource_version);
  return true;
}

bool GroupReconciler::keep_owners(const PodGroup& group, Entry& entry, Time now, Step& step) {
  const std::vector<ObjectRef> owners = owners_of(group);
  if (group.single || is_owned_by_all(entry.object, owners)) {
    return false;
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    ledger_.look_again(group_job(entry.key()), entry.guard, now);
    return true;
  }
  json::Out metadata = json::Out::object();
  metadata.add("uid", entry.object.ref.uid).add("ownerReferences", owners_body(owners));
  const std::uint64_t id =
      outbox_.order(step, Urgency::kStatus,
                    {.verb = WriteVerb::kPatch,
                     .object = entry.object.ref,
                     .node = {},
                     .body = json::Out::object().add("metadata", std::move(metadata)).to_json(false)},
                    {.workload = entry.key()});
  entry.guard.sent(id, entry.object.resource_version);
  return true;
}

void GroupReconciler::make_workload(JobEntry& job, const std::string& key, PodGroup& group, Time now, Step& step) {
  if (job.creation.closed(std::string(kMade), now)) {
    ledger_.look_again(key, job.creation, now);
    return;
  }
  std::vector<json::Document> documents;
  const std::vector<SetSpec> sets = sets_of(group, documents);
  if (sets.empty()) {
    return;
  }
  WorkloadSeed seed{.job = group.single ? group.pods.begin()->second.ref : job.ref,
                    .queue = group.queue,
                    .priority_class = group.priority_class,
                    .pod_priority_class = {},
                    .priority = {},
                    .most_seconds = {},
                    .group = !group.single,
                    .owners = owners_of(group)};
  maker_.make(job, key, std::move(seed), sets, step);
}

void GroupReconciler::end(const std::string& key, PodGroup& group, Entry* entry, Time now, Step& step) {
  if (entry == nullptr) {
    ledger_.forget_group(std::string(key));
    return;
  }
  if (group.serving) {
    if (!group.empty_since) {
      group.empty_since = now;
    }
    if (now < *group.empty_since + kEmptyPatience) {
      ledger_.later_jobs.add(*group.empty_since + kEmptyPatience, key);
      return;
    }
  }
  remove_workload(*entry, now, step);
}

void GroupReconciler::remove_workload(Entry& entry, Time now, Step& step) {
  if (entry.object.deleting) {
    return;
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    if (const auto job = ledger_.jobs_by_uid.find(entry.object.owner_uid); job != ledger_.jobs_by_uid.end()) {
      ledger_.look_again(job->second, entry.guard, now);
    }
    return;
  }
  const std::uint64_t id = outbox_.order(
      step, Urgency::kBinding, {.verb = WriteVerb::kDelete, .object = entry.object.ref, .node = {}, .body = {}},
      {.workload = entry.key()});
  entry.guard.sent(id, entry.object.resource_version);
}

void GroupReconciler::remove_released(PodGroup& group, Step& step) {
  for (auto& [key, pod] : group.pods) {
    if (pod.released && !pod.ended() && !pod.deleting && !pod.asked) {
      pod.asked = true;
      outbox_.order(step, Urgency::kBinding, {.verb = WriteVerb::kDelete, .object = pod.ref, .node = {}, .body = {}},
                    {.member = key});
    }
  }
}

// Pods that are over, or are to go, wait for nobody.
void GroupReconciler::let_go(PodGroup& group, Step& step) {
  for (auto& [key, pod] : group.pods) {
    if (!pod.finalizer || pod.asked || !(pod.ended() || pod.deleting)) {
      continue;
    }
    pod.asked = true;
    json::Out metadata = json::Out::object();
    metadata.add("uid", pod.ref.uid);
    metadata.add("$deleteFromPrimitiveList/finalizers", json::Out::Array{json::Out(kManaged)});
    outbox_.order(step, Urgency::kStatus,
                  {.verb = WriteVerb::kPatch,
                   .object = pod.ref,
                   .node = {},
                   .body = json::Out::object().add("metadata", std::move(metadata)).to_json(false)},
                  {.member = key});
  }
}

// Pods of a group come one after the other: those whose others do not come are told.
void GroupReconciler::tell_incomplete(const std::string& key, PodGroup& group, Time now, Step& step) {
  int here = 0;
  for (const auto& [name, pod] : group.pods) {
    here += pod.counts() ? 1 : 0;
  }
  for (auto& [name, pod] : group.pods) {
    if (!pod.held || pod.deleting || pod.told_incomplete) {
      continue;
    }
    const Time due = Time(seconds(pod.created)) + kPartnerPatience;
    if (now < due) {
      ledger_.later_jobs.add(due, key);
      continue;
    }
    pod.told_incomplete = true;
    const std::string note =
        fmt::format("GangIncomplete: {} of {} pods of group \"{}\" are there", here, group.total, group.name);
    outbox_.notify(step, {.about = pod.ref, .warning = true, .reason = "Pending", .action = "Admit", .note = note},
                   now);
  }
}

void GroupReconciler::tell_excess(PodGroup& group, const std::map<std::string, int>& counts, Time now, Step& step) {
  int admitted = 0;
  for (const auto& [set, count] : counts) {
    admitted += count;
  }
  for (const std::string& key : group.excess(counts)) {
    GroupPod& pod = group.pods.at(key);
    if (std::exchange(pod.told, true)) {
      continue;
    }
    const std::string note = fmt::format(
        "{} was admitted with {} pods, and has them: {} is left over{}",
        group.stateful() ? fmt::format("StatefulSet \"{}\"", group.owner->name) : fmt::format("Group {}", group.name),
        admitted, pod.ref.name,
        group.stateful() ? "; to have more, it is scaled to 0 and from there to the number wanted" : "");
    outbox_.notify(step, {.about = pod.ref, .warning = true, .reason = "ExcessPod", .action = "Admit", .note = note},
                   now);
    if (group.owner) {
      outbox_.notify(
          step, {.about = *group.owner, .warning = true, .reason = "ExcessPod", .action = "Admit", .note = note}, now);
    }
  }
}

}  // namespace gantree::kueue
