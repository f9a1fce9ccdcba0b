// One group: what it asks for, and how far it is. How groups are gathered is in pod_groups.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/kueue/hooks/job_object.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "json/read.h"
#include "kueue/pod_groups.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kWorker = "worker";  // beside the leader of a replica

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

bool PodGroup::complete() const {
  const std::vector<const GroupPod*> members = members_of(*this);
  // The first pod of a replica does not tell what the others ask for, unless all are alike or that is known.
  const bool known = replica_of.empty() || (!members.empty() && members.front()->role == kMainSet) || !worker.empty();
  return members.size() >= static_cast<std::size_t>(fast && known ? 1 : total);
}

bool PodGroup::lacks_pods(const std::map<std::string, int>& counts, const std::map<std::string, int>& over) const {
  std::map<std::string, int> there;
  std::map<std::string, int> succeeded;
  for (const auto& [key, pod] : pods) {
    succeeded[pod.role] += pod.succeeded ? 1 : 0;
    there[pod.role] += !pod.succeeded && pod.stands() ? 1 : 0;
  }
  if (fast) {
    return std::none_of(pods.begin(), pods.end(), [](const auto& item) { return item.second.stands(); });
  }
  return std::any_of(counts.begin(), counts.end(), [&](const auto& item) {
    const auto& [role, count] = item;
    const auto gone = over.find(role);
    return there[role] + std::max(succeeded[role], gone == over.end() ? 0 : gone->second) < count;
  });
}

bool PodGroup::stateful() const {
  return owner && owner->kind == kStatefulSet;
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
  if (missing > 0 && !group.worker.empty() && !sets.contains(std::string(kMainSet))) {
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

}  // namespace gantree::kueue
