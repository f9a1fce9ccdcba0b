// The training jobs of Kubeflow, Ray clusters, and leaders with their workers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/kai/grouping.h"
#include "dialects/kai/names.h"

namespace gantree::kai {

namespace {

const PodTemplate* role(const Workload& workload, std::string_view name) {
  for (const PodTemplate& part : workload.templates) {
    if (part.role == name) {
      return &part;
    }
  }
  return nullptr;
}

// Masters all, workers as many as the minimum of all leaves.
void group_pytorch(Grouping& grouping) {
  const Workload& workload = grouping.workload;
  DraftGroup& root = grouping.draft.root;
  const PodTemplate* master = role(workload, "master");
  const PodTemplate* worker = role(workload, "worker");
  const int masters = master == nullptr ? 0 : master->count();
  auto min = grouping.spec_count({"runPolicy", "schedulingPolicy", "minAvailable"});
  if (!min) {
    min = grouping.spec_count({"elasticPolicy", "minReplicas"});
  }
  if (masters > 0) {
    root.sets.push_back(grouping.set(*master, "master", masters, masters));
  }
  if (worker != nullptr && worker->count() > 0) {
    DraftSet& set = root.sets.emplace_back(grouping.set(*worker, "worker", worker->count(), worker->count()));
    set.min = min ? std::clamp(*min - masters, 0, set.count) : set.count;
    if (const int size = set.segments.size; size > 0) {
      // A segment starts whole.
      set.min = std::min(set.count, (set.min + size - 1) / size * size);
    }
  }
}

// An MPIJob may make its launcher only when the workers are ready.
int launchers_to_come(const Grouping& grouping) {
  const Workload& workload = grouping.workload;
  if (grouping.live == nullptr || grouping.live->has_launcher || workload.key.kind != "MPIJob") {
    return 0;
  }
  const json::Value policy = text_at(workload.object.value["spec"], "launcherCreationPolicy");
  const PodTemplate* launcher = role(workload, "launcher");
  return policy && policy.text() == "WaitForWorkersReady" && launcher != nullptr ? launcher->count() : 0;
}

// All roles alike: so many pods of all, or all.
void group_flat(Grouping& grouping) {
  DraftGroup& root = grouping.draft.root;
  int pods = 0;
  for (const PodTemplate& part : grouping.workload.templates) {
    if (part.count() > 0) {
      root.sets.push_back(grouping.set(part, part.role, part.count(), part.count()));
      pods += part.count();
    }
  }
  auto min = grouping.spec_count({"runPolicy", "schedulingPolicy", "minAvailable"});
  if (const int later = launchers_to_come(grouping); later > 0) {
    min = std::max(0, min.value_or(pods) - later);
  }
  if (min && *min < pods) {
    root.min_pods = *min;
    for (DraftSet& set : root.sets) {
      set.min = 0;
    }
  }
}

// Without segments: those of a leader and its workers are cut together.
DraftSet plain_set(const Grouping& grouping, const PodTemplate& pods, std::string_view name, int count) {
  DraftSet set;
  set.name = name;
  set.pods = &pods;
  set.file = grouping.workload.object.file;
  set.count = count;
  set.min = count;
  return set;
}

// Its workers are made when the leader is ready.
bool leader_comes_first(const Workload& workload) {
  const json::Value policy = text_at(workload.object.value["spec"], "startupPolicy");
  return policy && policy.text() == "LeaderReady";
}

// By the field, the annotation of the set, or that of its worker template; 0 where it is not cut.
int segment_size(Grouping& grouping, const PodTemplate& workers) {
  auto size = grouping.spec_count({"leaderWorkerTemplate", "subGroupPolicy", "subGroupSize"});
  if (!size) {
    size = grouping.count_at(grouping.workload.annotations, kSegmentSize);
  }
  if (!size) {
    size = grouping.count_at(workers.annotations(), kSegmentSize);
  }
  if (size && *size > workers.each + 1) {
    grouping.objection.raise(workers.at, fmt::format("segments of {} pods are larger than the group, which has {}",
                                                     *size, workers.each + 1));
  }
  return size.value_or(0);
}

}  // namespace

void group_training(Grouping& grouping) {
  const Workload& workload = grouping.workload;
  grouping.draft.root.levels = placement_request(workload.object.file, workload.annotations);
  if (workload.key.kind == "PyTorchJob") {
    group_pytorch(grouping);
  } else {
    group_flat(grouping);
  }
  if (const auto min = grouping.spec_count({"runPolicy", "schedulingPolicy", "minAvailable"});
      min && *min > workload.pods()) {
    grouping.objection.raise(workload.object.value["spec"]["runPolicy"],
                             fmt::format("runPolicy.schedulingPolicy.minAvailable is {}, more than the {} pods there "
                                         "are",
                                         *min, workload.pods()));
  }
}

void group_ray(Grouping& grouping) {
  const Workload& workload = grouping.workload;
  const std::string_view file = workload.object.file;
  DraftGroup& root = grouping.draft.root;
  root.levels = placement_request(file, workload.annotations);
  for (const PodTemplate& part : workload.templates) {
    if (part.count() == 0) {
      continue;
    }
    const bool head = grouping.live != nullptr && part.role == "head";
    DraftSet& set =
        root.sets.emplace_back(grouping.set(part, head ? "headgroup" : part.role, part.count(), part.count()));
    set.levels = placement_request(file, part.annotations());
    json::Reader read(file, "");
    const std::int64_t least = read.integer(part.at, "minReplicas", 0, part.replicas).value_or(0);
    if (least > 0) {
      set.min = static_cast<int>(least) * part.each;
    }
  }
}

// The leader is in the first segment (and there beside the others where the workers alone can be cut evenly), or in
// none where the policy excludes it.
void group_leader_and_workers(Grouping& grouping) {
  const Workload& workload = grouping.workload;
  DraftGroup& root = grouping.draft.root;
  root.levels = placement_request(workload.object.file, workload.annotations);
  const PodTemplate& leader = workload.templates.front();
  const PodTemplate* workers = workload.templates.size() > 1 ? &workload.templates.back() : nullptr;
  root.sets.push_back(plain_set(grouping, leader, "leader", 1));
  if (workers == nullptr) {
    return;
  }
  root.sets.push_back(plain_set(grouping, *workers, "workers", workers->each));
  if (grouping.live != nullptr && !grouping.live->leader_has_node && leader_comes_first(workload)) {
    root.sets.back().min = 0;
  }
  Segments segments;
  segments.levels = segment_request(workload.object.file, workers->annotations(), workload.annotations);
  segments.size = segment_size(grouping, *workers);
  if (segments.size == 0 || !segments.levels.asks()) {
    return;
  }
  const json::Value policy = workload.object.value["spec"]["leaderWorkerTemplate"]["subGroupPolicy"];
  const json::Value type = policy ? text_at(policy, "subGroupPolicyType") : json::Value();
  const bool even = workers->each % segments.size == 0;
  if (type && type.text() == "LeaderExcluded") {
    root.sets.back().segments = segments;
    if (!even) {
      grouping.objection.raise(type, fmt::format("LeaderExcluded needs segments of equal size, but {} workers cannot "
                                                 "be cut by {}",
                                                 workers->each, segments.size));
    }
  } else if (even) {
    DraftGroup& first = root.groups.emplace_back();
    first.name = "segment-0";
    first.levels = segments.levels;
    first.sets = std::exchange(root.sets, {});
    DraftSet rest = first.sets.back();
    const bool elastic = rest.min == 0;
    first.sets.back().count = segments.size;
    first.sets.back().min = elastic ? 0 : segments.size;
    rest.name = "workers-rest";
    rest.first = segments.size;
    rest.count -= segments.size;
    rest.min = elastic ? 0 : rest.count;
    rest.segments = segments;
    if (rest.count > 0) {
      root.sets.push_back(std::move(rest));
    }
  } else {
    root.segments = segments;
  }
}

}  // namespace gantree::kai
