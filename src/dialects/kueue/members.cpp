#include "dialects/kueue/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/whole_number.h"
#include "dialects/core/pod.h"
#include "dialects/kueue/names.h"
#include "dialects/pod_count.h"

namespace gantree::kueue {

namespace {

// More are not planned one by one.
constexpr int kMostMembers = 100'000;

std::optional<int> number_in(json::Value value) {
  return value ? whole_number(value.text(), 0) : std::nullopt;
}

// The replicas of a workload whose replicas are admitted one by one.
std::vector<Workload> split(const Workload& workload) {
  const bool by_replica = workload.key.kind == "LeaderWorkerSet";
  const bool by_pod = workload.key.kind == "Deployment" || workload.key.kind == "ReplicaSet";
  if ((!by_replica && !by_pod) || workload.templates.empty()) {
    return {workload};
  }
  const PodTemplate& first = workload.templates.front();
  const int members = by_pod ? first.each : first.replicas;
  if (members > kMostMembers) {
    Workload refused = workload;
    refused.objection = fmt::format("{}: spec.replicas is {}; at most {} are planned",
                                    json::to_string(workload.place()), members, kMostMembers);
    return {refused};
  }
  std::vector<Workload> parts;
  for (int member = 0; member < members; ++member) {
    Workload& part = parts.emplace_back(workload);
    part.key.name = fmt::format("{}-{}", workload.key.name, member);
    for (PodTemplate& pods : part.templates) {
      pods.replicas = 1;
      pods.each = by_pod ? 1 : pods.each;
    }
  }
  return parts;
}

// Whether what is missing of a workload that runs in part can be told: where all of its pods are alike.
bool can_resume(const Workload& workload) {
  return workload.templates.size() == 1 && workload.templates.front().replicas == 1 &&
         (workload.key.kind == "Job" || workload.key.kind == "StatefulSet");
}

// The pods of a workload that do not run yet.
Result<JobRequest> rest_of(const Workload& workload, const Intake& intake, Inventory& inventory) {
  auto request = read_request(workload, inventory);
  if (!request) {
    return request;
  }
  PodSetRequest& pods = request->pod_sets.front();
  // Pods that have ended are not made again, so those that wait are what is missing, where there are any.
  const int missing = std::max(0, pods.count - workload.bound_pods);
  pods.count = workload.pending_pods > 0 ? std::min(missing, workload.pending_pods) : missing;
  pods.min_count = std::min(std::max(1, pods.min_count - workload.bound_pods), pods.count);
  for (const PodRecord& pod : intake.pods) {
    if (pod.workload == &workload && pod.bound()) {
      request->runs_on.push_back(inventory.reserve(pod.node));
    }
  }
  return request;
}

// Plain pods that start together.
struct PodGroup {
  std::size_t at = 0;  // its place among the requests
  std::vector<std::pair<int, const Workload*>> pods;
};

bool same_request(const PodSetRequest& a, const PodSetRequest& b) {
  const auto text = [](json::Value value) { return value ? value.text() : std::string_view{}; };
  return a.shape == b.shape && text(a.topology.required) == text(b.topology.required) &&
         text(a.topology.preferred) == text(b.topology.preferred) && a.topology.slices == b.topology.slices &&
         a.topology.group_name == b.topology.group_name &&
         a.topology.unconstrained.present() == b.topology.unconstrained.present();
}

// Pods of one shape are one pod set, in the order of their indices.
Result<JobRequest> merge(PodGroup group, std::string_view name, Inventory& inventory) {
  std::stable_sort(group.pods.begin(), group.pods.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  JobRequest merged;
  for (const auto& [index, pod] : group.pods) {
    auto request = read_request(*pod, inventory);
    if (!request) {
      return tl::unexpected(request.error());
    }
    PodSetRequest& own = request->pod_sets.front();
    own.pods = {pod->key.name};
    if (merged.pod_sets.empty()) {
      merged = std::move(*request);
      continue;
    }
    merged.objection = merged.objection ? merged.objection : request->objection;
    const auto same = std::find_if(merged.pod_sets.begin(), merged.pod_sets.end(),
                                   [&](const PodSetRequest& set) { return same_request(set, own); });
    if (same != merged.pod_sets.end()) {
      ++same->count;
      ++same->min_count;
      same->pods.push_back(pod->key.name);
    } else {
      own.name = fmt::format("main-{}", merged.pod_sets.size());
      merged.pod_sets.push_back(std::move(own));
    }
  }
  const Workload& first = *group.pods.front().second;
  merged.key = {.ns = first.key.ns, .name = std::string(name), .kind = "Pod"};
  const json::Value total = text_at(first.annotations, kPodGroupTotal);
  const auto wanted = number_in(total);
  if (!wanted || *wanted < 1 || *wanted > kMostPods) {
    const std::string where = json::to_string({first.object.file, total ? total.line() : first.object.value.line()});
    merged.objection = merged.objection ? merged.objection
                                        : fmt::format("{}: {} must be the number of pods of group \"{}\", at most {}",
                                                      where, kPodGroupTotal, name, kMostPods);
  } else if (static_cast<std::size_t>(*wanted) > group.pods.size()) {
    merged.incomplete = fmt::format("{} of {} pods of group \"{}\" are there", group.pods.size(), *wanted, name);
  }
  return merged;
}

}  // namespace

Result<JobRequest> read_running_pods(std::span<const PodRecord* const> pods, Inventory& inventory) {
  const PodRecord& first = *pods.front();
  JobRequest request;
  request.key = {.ns = std::string(first.ns), .name = std::string(first.name), .kind = "Pod"};
  request.queue_name = text_at(first.labels(), kQueueName);
  request.priority_class = text_at(first.labels(), kPriorityClass);
  request.created_seconds = first.created_seconds;
  for (const PodRecord* pod : pods) {
    json::Reader read(pod->object.file, pod->object.value, fmt::format("Pod \"{}/{}\"", pod->ns, pod->name));
    PodSetRequest& set = request.pod_sets.emplace_back();
    set.name = pod->name;
    set.spec = pod->spec();
    set.shape = read_pod_shape(read, set.spec, inventory);
    if (!read.ok()) {
      return read.error();
    }
  }
  return request;
}

bool is_left_out(const Workload& workload) {
  return workload.dialect == kFamily && !workload.running && workload.bound_pods > 0 && !can_resume(workload);
}

json::Value pod_group_of(json::Value labels, json::Value annotations) {
  const json::Value named = text_at(annotations, kPodGroup);
  return named && !named.text().empty() ? named : text_at(labels, kPodGroup);
}

Result<std::vector<JobRequest>> requests_of(const Intake& intake, Inventory& inventory) {
  std::vector<JobRequest> requests;
  std::map<std::pair<std::string, std::string>, PodGroup> groups;  // by namespace and name
  for (const Workload& workload : intake.workloads) {
    if (workload.dialect != kFamily || workload.running || (workload.bound_pods > 0 && !can_resume(workload))) {
      continue;
    }
    if (workload.bound_pods > 0) {
      auto rest = rest_of(workload, intake, inventory);
      if (!rest) {
        return tl::unexpected(rest.error());
      }
      requests.push_back(std::move(*rest));
      continue;
    }
    if (const json::Value name = pod_group_of(workload.labels, workload.annotations);
        name && workload.key.kind == "Pod") {
      const auto [group, added] = groups.try_emplace({workload.key.ns, std::string(name.text())});
      if (added) {
        group->second.at = requests.size();
        requests.emplace_back();
      }
      group->second.pods.emplace_back(number_in(text_at(workload.labels, kPodGroupIndex)).value_or(0), &workload);
      continue;
    }
    for (const Workload& part : split(workload)) {
      auto request = read_request(part, inventory);
      if (!request) {
        return tl::unexpected(request.error());
      }
      requests.push_back(std::move(*request));
    }
  }
  for (auto& [key, group] : groups) {
    const std::size_t at = group.at;
    auto request = merge(std::move(group), key.second, inventory);
    if (!request) {
      return tl::unexpected(request.error());
    }
    requests[at] = std::move(*request);
  }
  return requests;
}

}  // namespace gantree::kueue
