// What the objects of a live cluster say of its gangs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "dialects/koordinator/names.h"
#include "plan_equals_run/live_world.h"

namespace gantree::test {

namespace {

const Tree* condition_of(const Tree& object, std::string_view type) {
  const Tree* conditions = object.find({"status", "conditions"});
  if (conditions == nullptr) {
    return nullptr;
  }
  const auto found = std::find_if(conditions->items.begin(), conditions->items.end(),
                                  [&](const Tree& one) { return one.str({"type"}) == type; });
  return found == conditions->items.end() ? nullptr : &*found;
}

// Messages of conditions begin with the reason, as plans know it: "TopologyBusy: why".
std::string reason_in(const std::string& message) {
  return message.substr(0, message.find(": "));
}

// The gang of plain pods and of those of a PodGroup, by its name.
std::string gang_name_of(const Tree& pod) {
  const std::string label = pod.str({"metadata", "labels", koordinator::kPodGroupLabel});
  const std::string annotation = pod.str({"metadata", "annotations", koordinator::kGangName});
  return !label.empty() ? label : annotation;
}

std::pair<std::string, std::string> split(const std::string& gang) {
  const std::size_t slash = gang.find('/');
  return {gang.substr(0, slash), gang.substr(slash + 1)};
}

// The reasons of evictions, as plans know them, by those of the condition Preempted.
std::string eviction_reason(const std::string& preempted) {
  return preempted == "InClusterQueue" ? "Preempted" : preempted == "InCohortFairSharing" ? "FairShare" : "Reclaimed";
}

}  // namespace

Answers LiveWorld::answers(const Answers& plan) const {
  Answers answers;
  for (const auto& [gang, planned] : plan.gangs) {
    answers.gangs.emplace(gang, answer_of(gang, planned));
  }
  answers.evictions = evictions(plan);
  return answers;
}

GangAnswer LiveWorld::answer_of(const std::string& gang, const GangAnswer& planned) const {
  const auto [ns, name] = split(gang);
  if (refused_.contains(FakeServer::key(planned.kind, ns, name))) {
    return {.state = "Rejected", .reason = "InvalidRequest"};
  }
  const Stored* job = server_.objects.find(FakeServer::key(planned.kind, ns, name));
  // That of a group of pods has the group's name.
  const Stored* workload = job != nullptr          ? workload_of_job(job->uid())
                           : planned.kind == "Pod" ? server_.objects.find(FakeServer::key("Workload", ns, name))
                                                   : nullptr;
  if (workload == nullptr) {
    return answer_of_pods(gang, planned);
  }
  if (workload->tree.find({"status", "admission"}) != nullptr) {
    GangAnswer answer = answer_of_pods(gang, planned);
    if (answer.state != "Placed") {
      answer.state = "admitted, and not bound: " + answer.state;
    }
    return answer;
  }
  const Tree* reserved = condition_of(workload->tree, "QuotaReserved");
  const bool active = workload->tree.str({"spec", "active"}, "true") == "true";
  return {.state = active ? "Waiting" : "Rejected",
          .reason = reserved == nullptr ? "not told" : reason_in(reserved->str({"message"}))};
}

GangAnswer LiveWorld::answer_of_pods(const std::string& gang, const GangAnswer& planned) const {
  GangAnswer answer{.state = "Placed"};
  std::size_t pods = 0;
  std::size_t bound = 0;
  for (const auto& [name, set] : planned.pod_sets) {
    PodSetAnswer& found = answer.pod_sets[name];
    for (const Stored* pod : pods_of_set(gang, planned, name)) {
      ++pods;
      bound += pod->tree.str({"spec", "nodeName"}).empty() ? 0U : 1U;
      found.places.push_back(place_of(pod->tree, set.levels));
      found.pods.push_back(pod->name);
      if (const Tree* told = condition_of(pod->tree, "PodScheduled"); told != nullptr && answer.reason.empty()) {
        answer.reason = reason_in(told->str({"message"}));
      }
    }
  }
  if (pods > 0 && bound == pods) {
    answer.reason.clear();
    return answer;
  }
  answer.pod_sets.clear();
  const auto [ns, name] = split(gang);
  const Stored* group = server_.objects.find(FakeServer::key("PodGroup", ns, name));
  const Tree* told = group == nullptr ? nullptr : condition_of(group->tree, "Scheduled");
  answer.state = pods == 0 && told == nullptr ? "nobody looks at it"
                 : bound > 0                  ? fmt::format("{} of {} pods are bound", bound, pods)
                                              : "Waiting";
  if (answer.reason.empty() && told != nullptr) {
    answer.reason = told->str({"reason"});
  }
  if (answer.reason == "InvalidRequest") {
    answer.state = "Rejected";
  }
  return answer;
}

// In rank order.
std::vector<const Stored*> LiveWorld::pods_of_set(const std::string& gang, const GangAnswer& planned,
                                                  const std::string& set) const {
  const auto [ns, name] = split(gang);
  std::vector<const Stored*> pods;
  if (const auto& named = planned.pod_sets.at(set).pods; !named.empty()) {
    for (const std::string& pod : named) {
      if (const Stored* found = server_.objects.find(FakeServer::key("Pod", ns, pod))) {
        pods.push_back(found);
      }
    }
    return pods;
  }
  const Stored* job = server_.objects.find(FakeServer::key(planned.kind, ns, name));
  for (const Stored* pod : server_.objects.all("Pod")) {
    const bool of_job = job != nullptr && owner_of(pod->tree) == job->uid() && seat_of(pod->tree).part == set;
    const bool of_gang = pod->ns == ns && gang_name_of(pod->tree) == set;
    const bool itself = planned.kind == "Pod" && pod->ns == ns && pod->name == name;
    if (of_job || of_gang || itself) {
      pods.push_back(pod);
    }
  }
  std::stable_sort(pods.begin(), pods.end(),
                   [](const Stored* a, const Stored* b) { return seat_of(a->tree) < seat_of(b->tree); });
  return pods;
}

std::string LiveWorld::place_of(const Tree& pod, const std::vector<std::string>& levels) const {
  const std::string name = pod.str({"spec", "nodeName"});
  const Stored* node = server_.objects.find(FakeServer::key("Node", "", name));
  std::vector<std::string> values;
  for (const std::string& level : node == nullptr ? std::vector<std::string>() : levels) {
    values.push_back(node->tree.str({"metadata", "labels", level}, level == kHostLabel ? name : ""));
  }
  return fmt::format("{}", fmt::join(values, "/"));
}

const Stored* LiveWorld::workload_of_job(const std::string& uid) const {
  for (const Stored* workload : server_.objects.all("Workload")) {
    if (owner_of(workload->tree) == uid) {
      return workload;
    }
  }
  return nullptr;
}

void LiveWorld::note_gang(const Tree& pod) {
  const std::string gang = gang_name_of(pod);
  if (!gang.empty()) {
    const std::string ns = pod.str({"metadata", "namespace"});
    gangs_of_pods_[ns + "/" + pod.str({"metadata", "name"})] = ns + "/" + gang;
  }
}

// Pods that were evicted are gone when all is at rest: their gang and whom it makes room for are told in an event.
void LiveWorld::note_eviction(const Tree& event) {
  if (event.str({"action"}) != "Evicting") {
    return;
  }
  const std::string ns = event.str({"regarding", "namespace"});
  const std::string name = event.str({"regarding", "name"});
  const auto gang = gangs_of_pods_.find(ns + "/" + name);
  evicted_pods_.push_back({.gang = gang == gangs_of_pods_.end() ? ns + "/" + name : gang->second,
                           .reason = event.str({"reason"}),
                           .note = event.str({"note"})});
}

std::map<std::string, std::string> LiveWorld::evictions(const Answers& plan) const {
  std::map<std::string, std::string> evictions;
  const auto job_of = [](const Stored& workload) {
    return workload.ns + "/" + workload.tree.find({"metadata", "ownerReferences"})->items.front().str({"name"});
  };
  for (const Stored* workload : server_.objects.all("Workload")) {
    const Tree* preempted = condition_of(workload->tree, "Preempted");
    if (preempted == nullptr) {
      continue;
    }
    const std::string message = preempted->str({"message"});
    std::string whom = "nobody known";
    for (const Stored* other : server_.objects.all("Workload")) {
      if (message.find(fmt::format("UID: {},", other->uid())) != std::string::npos) {
        whom = job_of(*other);
      }
    }
    for (const auto& [gang, planned] : plan.gangs) {
      const bool named = message.starts_with(fmt::format("Preempted for gang {},", gang)) ||
                         message.starts_with(fmt::format("Preempted for pod {},", gang));
      whom = named ? gang : whom;
    }
    evictions.emplace(job_of(*workload), fmt::format("for {}: {}", whom, eviction_reason(preempted->str({"reason"}))));
  }
  for (const EvictedPod& pod : evicted_pods_) {
    std::string whom = "nobody known";
    for (const auto& [gang, planned] : plan.gangs) {
      whom = pod.note.find(fmt::format("for {} ", gang)) != std::string::npos ? gang : whom;
    }
    for (const Stored* workload : server_.objects.all("Workload")) {
      const std::string name = workload->ns + "/" + workload->tree.str({"metadata", "name"});
      whom = pod.note.find(fmt::format("for {} ", name)) != std::string::npos ? job_of(*workload) : whom;
    }
    evictions.emplace(pod.gang, fmt::format("for {}: {}", whom, pod.reason));
  }
  return evictions;
}

}  // namespace gantree::test
