#include "support/object_facts.h"

#include <algorithm>

#include "json/read.h"

namespace gantree::test {

namespace {

constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";
constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";
constexpr std::string_view kReplicated = "jobset.sigs.k8s.io/replicatedjob-name";

}  // namespace

Tree quoted(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return Tree::parse(text);
}

std::string key_of(const Stored& stored) {
  return FakeServer::key(stored.kind, stored.ns, stored.name);
}

std::string owner_of(const Tree& object) {
  const Tree* owners = object.find({"metadata", "ownerReferences"});
  return owners == nullptr || owners->items.empty() ? std::string() : owners->items.front().str({"uid"});
}

bool holds(const Tree& object, std::string_view type) {
  const Tree* conditions = object.find({"status", "conditions"});
  return conditions != nullptr && std::any_of(conditions->items.begin(), conditions->items.end(), [&](const Tree& one) {
           return one.str({"type"}) == type && one.str({"status"}) == "True";
         });
}

void set_condition(Tree& object, const Tree& condition) {
  Tree& list = object.at({"status", "conditions"});
  list.kind = json::Kind::kArray;
  const auto same = std::find_if(list.items.begin(), list.items.end(),
                                 [&](const Tree& one) { return one.str({"type"}) == condition.str({"type"}); });
  if (same == list.items.end()) {
    list.items.push_back(condition);
  } else {
    same->merge(condition);
  }
}

bool is_over(const Tree& pod) {
  const std::string phase = pod.str({"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_going(const Tree& pod) {
  return pod.find({"metadata", "deletionTimestamp"}) != nullptr;
}

bool is_gated(const Tree& pod) {
  const Tree* gates = pod.find({"spec", "schedulingGates"});
  return gates != nullptr && !gates->items.empty();
}

bool tolerates_taint(const Tree& pod) {
  const Tree* list = pod.find({"spec", "tolerations"});
  return list != nullptr && std::any_of(list->items.begin(), list->items.end(),
                                        [](const Tree& one) { return one.str({"key"}) == kTaint; });
}

int gpus_of(const Tree& pod) {
  return std::stoi(pod.find({"spec", "containers"})->items.front().str({"resources", "requests", "nvidia.com/gpu"}));
}

std::string group_of(const Tree& pod) {
  return pod.str({"metadata", "labels", "kueue.x-k8s.io/pod-group-name"});
}

std::string owner_or_group(const Tree& pod) {
  const std::string owner = owner_of(pod);
  return owner.empty() ? group_of(pod) : owner;
}

std::string workload_of(const Tree& pod) {
  return pod.str({"metadata", "annotations", "kueue.x-k8s.io/workload"});
}

std::string set_of(const Tree& pod) {
  return pod.str({"metadata", "labels", "kueue.x-k8s.io/podset"});
}

std::vector<Part> parts_of(const Stored& job) {
  if (job.kind == "Job") {
    const int parallelism = job.tree.num({"spec", "parallelism"}, 1);
    return {{.name = "main",
             .parallelism = parallelism,
             .completions = job.tree.num({"spec", "completions"}, parallelism),
             .pod_template = job.tree.find({"spec", "template"})}};
  }
  std::vector<Part> parts;
  for (const Tree& one : job.tree.find({"spec", "replicatedJobs"})->items) {
    const int parallelism = one.num({"template", "spec", "parallelism"}, 1);
    parts.push_back({.name = one.str({"name"}),
                     .replicas = one.num({"replicas"}, 1),
                     .parallelism = parallelism,
                     .completions = one.num({"template", "spec", "completions"}, parallelism),
                     .pod_template = one.find({"template", "spec", "template"})});
  }
  return parts;
}

Seat seat_of(const Tree& pod) {
  return {.part = pod.str({"metadata", "labels", kReplicated}, "main"),
          .job = std::stoi(pod.str({"metadata", "labels", kJobIndex}, "0")),
          .index = std::stoi(pod.str({"metadata", "labels", kIndex}, "0"))};
}

const Tree* set_in(const Tree& admission, std::string_view set) {
  for (const Tree& one : admission.find({"podSetAssignments"})->items) {
    if (one.str({"name"}) == set) {
      return &one;
    }
  }
  return nullptr;
}

namespace {

int count_in(const Tree& workload, const Tree::Path& list, std::string_view set, int otherwise) {
  const Tree* sets = workload.find(list);
  for (const Tree& one : sets == nullptr ? std::vector<Tree>() : sets->items) {
    if (one.str({"name"}) == set) {
      return one.num({"count"}, 0);
    }
  }
  return otherwise;
}

}  // namespace

int pods_over(const Tree& workload, std::string_view set) {
  return count_in(workload, {"status", "reclaimablePods"}, set, 0);
}

int pods_left(const Tree& workload, const Tree& set) {
  const int given = set.num({"count"}, 0);
  const int asked = count_in(workload, {"spec", "podSets"}, set.str({"name"}), given);
  return std::clamp(asked - pods_over(workload, set.str({"name"})), 0, given);
}

kueue::TopologyAssignment assignment_in(const Tree& set) {
  auto documents = json::read_documents("model", set.find({"topologyAssignment"})->to_json());
  json::Reader read("model", documents->front().root(), "assignment");
  return kueue::read_assignment(read, documents->front().root());
}

}  // namespace gantree::test
