// Pods that wait by themselves: their Workload is made, they are released when it is admitted, and removed when it is
// evicted. Nothing of ours stays behind at a pod that is over.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "kueue/controller.h"
#include "live/notices.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

using std::chrono::milliseconds;
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

json::Out without_gates(std::initializer_list<std::string_view> names) {
  json::Out gates = json::Out::array();
  for (const std::string_view name : names) {
    gates.push(std::move(json::Out::object().add("$patch", "delete").add("name", name)));
  }
  return gates;
}

}  // namespace

std::string group_job(std::string_view group) {
  return fmt::format("Pods {}", group);
}

void Controller::groups_changed(const std::vector<std::string>& groups) {
  for (const std::string& name : groups) {
    const PodGroup* group = groups_.find(name);
    const std::string key = group_job(name);
    JobEntry& job = jobs_[key];
    job.group = name;
    job.ref = {.group = {}, .version = "v1", .kind = "Pod", .ns = group->ns, .name = group->name, .uid = group->uid};
    jobs_by_uid_.insert_or_assign(group->uid, key);
    dirty_jobs_.insert(key);
    dirty_.insert(name);
  }
}

void Controller::reconcile_group(const std::string& key, Time now, Step& step) {
  JobEntry& job = jobs_.at(key);
  PodGroup& group = *groups_.find(job.group);
  const auto found = workloads_by_owner_.find(group.uid);
  Entry* entry = found == workloads_by_owner_.end() ? nullptr : &entries_.at(found->second);
  const bool ran = !job.progress.suspended;
  job.progress = progress_of(group, entry == nullptr ? std::map<std::string, int>() : entry->object.reclaimable);
  if (entry != nullptr && ran && job.progress.suspended) {
    waiting_changed_.insert(found->second);
  }
  let_go(group, step);
  if (group.pods.empty()) {
    end_group(key, group, entry, now, step);
    return;
  }
  group.empty_since.reset();
  if (entry == nullptr) {
    // Who takes the Workload away takes away what it stands for.
    remove_released(group, step);
    if (group.complete() && job.progress.suspended && !job.progress.end) {
      make_group_workload(job, key, group, now, step);
    }
    return;
  }
  dirty_.insert(found->second);
  if (!job.progress.end && !entry->object.holds(kFinished) && !entry->object.deleting) {
    check_group(group, *entry, now, step);
  }
}

// What becomes of the pods, and of the Workload where it is out of date.
void Controller::check_group(PodGroup& group, Entry& entry, Time now, Step& step) {
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
  const std::vector<ObjectRef> owners = owners_of(group);
  if (!group.single && !entry.guard.closed(entry.object.resource_version, now) &&
      !is_owned_by_all(entry.object, owners)) {
    json::Out metadata = json::Out::object();
    metadata.add("uid", entry.object.ref.uid).add("ownerReferences", owners_body(owners));
    const std::uint64_t id = order(step, Urgency::kStatus,
                                   {.verb = WriteVerb::kPatch,
                                    .object = entry.object.ref,
                                    .node = {},
                                    .body = json::Out::object().add("metadata", std::move(metadata)).to_json(false)},
                                   {.workload = entry.key(), .job = {}, .pod = {}});
    entry.guard.sent(id, entry.object.resource_version);
  }
}

void Controller::make_group_workload(JobEntry& job, const std::string& key, PodGroup& group, Time now, Step& step) {
  if (job.creation.closed(std::string(kMade), now)) {
    later_jobs_.emplace(std::max(job.creation.opens(), now + milliseconds(100)), key);
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
  create(job, key, std::move(seed), sets, step);
}

void Controller::end_group(const std::string& key, PodGroup& group, Entry* entry, Time now, Step& step) {
  if (entry == nullptr) {
    jobs_by_uid_.erase(group.uid);
    groups_.forget(std::string(jobs_.at(key).group));
    jobs_.erase(key);
    return;
  }
  if (group.serving) {
    if (!group.empty_since) {
      group.empty_since = now;
    }
    if (now < *group.empty_since + kEmptyPatience) {
      later_jobs_.emplace(*group.empty_since + kEmptyPatience, key);
      return;
    }
  }
  remove_workload(*entry, now, step);
}

void Controller::remove_workload(Entry& entry, Time now, Step& step) {
  if (entry.object.deleting) {
    return;
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    if (const auto job = jobs_by_uid_.find(entry.object.owner_uid); job != jobs_by_uid_.end()) {
      later_jobs_.emplace(std::max(entry.guard.opens(), now + milliseconds(100)), job->second);
    }
    return;
  }
  const std::uint64_t id =
      order(step, Urgency::kBinding, {.verb = WriteVerb::kDelete, .object = entry.object.ref, .node = {}, .body = {}},
            {.workload = entry.key(), .job = {}, .pod = {}});
  entry.guard.sent(id, entry.object.resource_version);
}

void Controller::remove_released(PodGroup& group, Step& step) {
  for (auto& [key, pod] : group.pods) {
    if (pod.released && !pod.ended() && !pod.deleting && !pod.asked) {
      pod.asked = true;
      order(step, Urgency::kBinding, {.verb = WriteVerb::kDelete, .object = pod.ref, .node = {}, .body = {}},
            {.workload = {}, .job = {}, .pod = {}, .member = key});
    }
  }
}

// Pods that are over, or are to go, wait for nobody.
void Controller::let_go(PodGroup& group, Step& step) {
  for (auto& [key, pod] : group.pods) {
    if (!pod.finalizer || pod.asked || !(pod.ended() || pod.deleting)) {
      continue;
    }
    pod.asked = true;
    json::Out metadata = json::Out::object();
    metadata.add("uid", pod.ref.uid);
    metadata.add("$deleteFromPrimitiveList/finalizers", json::Out::Array{json::Out(kManaged)});
    order(step, Urgency::kStatus,
          {.verb = WriteVerb::kPatch,
           .object = pod.ref,
           .node = {},
           .body = json::Out::object().add("metadata", std::move(metadata)).to_json(false)},
          {.workload = {}, .job = {}, .pod = {}, .member = key});
  }
}

void Controller::tell_excess(PodGroup& group, const std::map<std::string, int>& counts, Time now, Step& step) {
  for (const std::string& key : group.excess(counts)) {
    GroupPod& pod = group.pods.at(key);
    if (!std::exchange(pod.told, true)) {
      const std::string note = fmt::format("Group {} was admitted with {} pods, and has them: this one is left over",
                                           group.name, group.total);
      notify(step, {.about = pod.ref, .warning = true, .reason = "ExcessPod", .action = "Admit", .note = note}, now);
    }
  }
}

void Controller::release_set(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members,
                             Step& step) {
  int left = set.count;
  for (const std::string& key : members) {
    left -= !pods_.at(key).held || pods_.at(key).asked ? 1 : 0;
  }
  for (const std::string& key : members) {
    if (left > 0 && pods_.at(key).held && !pods_.at(key).asked) {
      --left;
      release_pod(key, entry, set, nullptr, step);
    }
  }
}

// All that the pod is to have in one write: there is no moment at which it is half released.
void Controller::release_pod(const std::string& key, const Entry& entry, const SetAssignment& set,
                             const AssignedDomain* domain, Step& step) {
  StartedPod& pod = pods_.at(key);
  const PodGroup* group = groups_.group_of_pod(key);
  const auto parsed = group == nullptr ? tl::unexpected(Error{}) : parse(group->pods.at(key).text);
  if (!parsed) {
    return;
  }
  pod.asked = true;
  SetStart start;
  add_flavors(set, start);
  json::Out selector = json::Out::object();
  for (const auto& [label, value] : start.node_selector) {
    const bool by_domain = domain != nullptr && std::find(set.topology->levels.begin(), set.topology->levels.end(),
                                                          label) != set.topology->levels.end();
    if (!pod.selector.contains(label) && !by_domain) {
      selector.add(label, value);
    }
  }
  for (std::size_t level = 0; domain != nullptr && level < set.topology->levels.size(); ++level) {
    selector.add(set.topology->levels[level], domain->values[level]);
  }
  json::Out spec = json::Out::object();
  spec.add("nodeSelector", std::move(selector));
  if (!start.tolerations.empty()) {  // the list is replaced as a whole
    const json::Value own = parsed->object.value["spec"]["tolerations"];
    json::Out tolerations = own && own.kind() == json::Kind::kArray ? json::copy(own) : json::Out::array();
    for (json::Out& one : start.tolerations) {
      tolerations.push(std::move(one));
    }
    spec.add("tolerations", std::move(tolerations));
  }
  spec.add("schedulingGates", without_gates({kAdmissionGate, kTopologyGate}));
  json::Out metadata = json::Out::object();
  metadata.add("uid", pod.uid);
  metadata.add("labels", std::move(json::Out::object().add(kPodSetLabel, set.name)));
  metadata.add("annotations", std::move(json::Out::object().add(kWorkloadAnnotation, entry.object.ref.name)));
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata)).add("spec", std::move(spec));
  order(step, Urgency::kBinding,
        {.verb = WriteVerb::kPatch, .object = pod_ref(key, pod.uid), .node = {}, .body = body.to_json(false)},
        {.workload = {}, .job = {}, .pod = key});
}

}  // namespace gantree::kueue
