#include "kueue/group_reconciler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

using std::chrono::seconds;

// A serving group without pods: so long whoever makes them may take to make others.
constexpr seconds kEmptyPatience{10};

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
    if (group.complete() && job.progress.suspended && !job.progress.end) {
      make_workload(job, key, group, now, step);
    }
    return;
  }
  ledger_.dirty.insert(entry->key());
  if (!job.progress.end && !entry->object.holds(kFinished) && !entry->object.deleting) {
    check(group, *entry, now, step);
  }
}

void GroupReconciler::check(PodGroup& group, Entry& entry, Time now, Step& step) {
  const bool given = entry.object.admission && entry.object.holds(kAdmitted);
  if (!given || entry.object.holds(kEvicted) || !entry.object.active) {
    remove_released(group, step);
  }
  const std::map<std::string, int> counts = counts_of(entry.object);
  const bool incomplete = entry.waits() && !group.complete();
  const bool others = entry.waits() ? !group.asks_for(counts) : !group.asks_for_total(counts);
  if (!group.single && (incomplete || others)) {
    remove_workload(entry, now, step);
    return;
  }
  if (given) {
    tell_excess(group, counts, now, step);
  }
  keep_owners(group, entry, now, step);
}

void GroupReconciler::keep_owners(const PodGroup& group, Entry& entry, Time now, Step& step) {
  const std::vector<ObjectRef> owners = owners_of(group);
  if (!group.single && !entry.guard.closed(entry.object.resource_version, now) &&
      !is_owned_by_all(entry.object, owners)) {
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
  }
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

void GroupReconciler::tell_excess(PodGroup& group, const std::map<std::string, int>& counts, Time now, Step& step) {
  for (const std::string& key : group.excess(counts)) {
    GroupPod& pod = group.pods.at(key);
    if (!std::exchange(pod.told, true)) {
      const std::string note = fmt::format("Group {} was admitted with {} pods, and has them: this one is left over",
                                           group.name, group.total);
      outbox_.notify(step, {.about = pod.ref, .warning = true, .reason = "ExcessPod", .action = "Admit", .note = note},
                     now);
    }
  }
}

}  // namespace gantree::kueue
