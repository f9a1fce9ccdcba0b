// Jobs, sets of equal pods, and single pods.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "dialects/kai/grouping.h"
#include "dialects/kai/names.h"
#include "dialects/pod_count.h"

namespace gantree::kai {

namespace {

// Where pods must be close, they must also come together: a first pod that picks its domain alone would shut
// the others out. Without such a wish each pod may start for itself, as in KAI.
int usual_minimum(const LevelRequest& levels, const DraftSet& set) {
  return levels.asks() || set.segments.size > 0 ? set.count : 1;
}

// The minimum from annotations, checked against the pods there are.
std::optional<int> stated_minimum(Grouping& grouping, json::Value annotations, int pods) {
  const auto min = grouping.count_at(annotations, kMinMember);
  if (min && *min > pods) {
    grouping.objection.raise(text_at(annotations, kMinMember),
                             fmt::format("{} is {}, more than the {} pods there are", kMinMember, *min, pods));
  }
  return min;
}

// A StatefulSet that makes its pods one after another makes the second only when the first runs.
bool comes_in_order(const Grouping& grouping) {
  const Workload& workload = grouping.workload;
  if (grouping.live == nullptr || workload.key.kind != "StatefulSet") {
    return false;
  }
  const json::Value policy = text_at(workload.object.value["spec"], "podManagementPolicy");
  return !policy || policy.text() != "Parallel";
}

// How many of the replicated jobs of a JobSet are made at once: others come when those run, or have ended.
std::optional<int> made_at_once(const Workload& workload) {
  const json::Value startup = map_at(workload.object.value["spec"], "startupPolicy");
  const json::Value order = text_at(startup, "startupPolicyOrder");
  if (order && order.text() == "InOrder") {
    return 1;
  }
  int later = 0;
  int all = 0;
  for (const PodTemplate& pods : workload.templates) {
    const bool waits = pods.at && pods.at.kind() == json::Kind::kObject && !items_of(pods.at["dependsOn"]).empty();
    all += pods.count() > 0 ? 1 : 0;
    later += pods.count() > 0 && waits ? 1 : 0;
  }
  return later == 0 ? std::nullopt : std::optional(std::max(1, all - later));
}

bool plain_leaf(const LevelRequest& levels, int min, int pods) {
  return !levels.preferred && min >= pods;
}

}  // namespace

void group_plain(Grouping& grouping) {
  const Workload& workload = grouping.workload;
  const PodTemplate& pods = workload.templates.front();
  DraftGroup& root = grouping.draft.root;
  const std::string_view file = workload.object.file;
  const bool alone = workload.key.kind == "Deployment";
  // KAI looks at the Job that a CronJob makes.
  const json::Value job = pods.job_metadata ? pods.job_metadata["annotations"] : json::Value();
  root.levels =
      job ? placement_request(file, job, workload.annotations) : placement_request(file, workload.annotations);
  const int count = alone ? 1 : pods.count();
  DraftSet& set = root.sets.emplace_back(grouping.set(pods, "main", count, 1));
  auto min = alone ? std::nullopt : stated_minimum(grouping, workload.annotations, count);
  if (!min && job) {
    min = stated_minimum(grouping, job, count);
  }
  set.min = min.value_or(comes_in_order(grouping) ? 1 : usual_minimum(root.levels, set));
}

namespace {

// A group for each replicated job and in it a set for each replica, always; where that would be too many, and a replica
// asks for nothing of its own, a set for all.
void add_replicas(Grouping& grouping, const PodTemplate& pods, const LevelRequest& levels, int min) {
  DraftGroup& parent = grouping.draft.root.groups.emplace_back();
  parent.name = pods.role;
  if (pods.replicas > kMostGroupsTogether / 2) {
    DraftSet& set = parent.sets.emplace_back(grouping.set(pods, pods.role, pods.count(), pods.count()));
    if (levels.asks() || set.segments.size > 0 || min < pods.each) {
      grouping.objection.raise(pods.at, fmt::format("replicas of \"{}\" is {}; at most {} can be placed one by one",
                                                    pods.role, pods.replicas, kMostGroupsTogether / 2));
    }
    return;
  }
  for (int replica = 0; replica < pods.replicas; ++replica) {
    DraftSet& set =
        parent.sets.emplace_back(grouping.set(pods, fmt::format("{}-replica-{}", pods.role, replica), pods.each, min));
    set.levels = levels;
    set.replica = replica;
  }
}

void group_live_job_set(Grouping& grouping) {
  const Workload& workload = grouping.workload;
  const std::string_view file = workload.object.file;
  DraftGroup& root = grouping.draft.root;
  root.levels = placement_request(file, workload.annotations);
  for (const PodTemplate& pods : workload.templates) {
    if (pods.count() > 0) {
      const json::Value annotations = pods.job_metadata ? pods.job_metadata["annotations"] : json::Value();
      add_replicas(grouping, pods, placement_request(file, annotations),
                   stated_minimum(grouping, annotations, pods.each).value_or(pods.each));
    }
  }
  const auto groups = static_cast<int>(root.groups.size());
  const auto min = grouping.count_at(workload.annotations, kMinMember);
  root.min_groups = std::min(groups, min ? *min : made_at_once(workload).value_or(groups));
}

}  // namespace

// A group for each replicated job, in it one for each replica; where a replica asks for nothing that a slice of
// its pods does not say as well, one set of pods stands for all.
void group_job_set(Grouping& grouping) {
  if (grouping.live != nullptr) {
    group_live_job_set(grouping);
    return;
  }
  const Workload& workload = grouping.workload;
  const std::string_view file = workload.object.file;
  DraftGroup& root = grouping.draft.root;
  root.levels = placement_request(file, workload.annotations);
  for (const PodTemplate& pods : workload.templates) {
    if (pods.count() == 0) {
      continue;
    }
    const json::Value annotations = pods.job_metadata ? pods.job_metadata["annotations"] : json::Value();
    const LevelRequest levels = placement_request(file, annotations);
    const int min = stated_minimum(grouping, annotations, pods.each).value_or(pods.each);
    DraftGroup& parent = root.groups.emplace_back();
    parent.name = pods.role;
    if (plain_leaf(levels, min, pods.each) && !grouping.partly_runs) {
      DraftSet& set = parent.sets.emplace_back(grouping.set(pods, pods.role, pods.count(), pods.count()));
      if (levels.required && set.segments.size == 0) {
        set.segments = {.size = pods.each, .levels = levels};
      } else if (levels.required && pods.replicas == 1) {
        set.levels = levels;
      } else if (levels.required) {
        grouping.objection.raise(levels.required, fmt::format("{} on replicated job \"{}\" excludes {} on its pods",
                                                              kRequired, pods.role, kSegmentSize));
      }
      continue;
    }
    if (pods.replicas > kMaxParts) {
      grouping.objection.raise(pods.at, fmt::format("replicas of \"{}\" is {}; at most {} are planned", pods.role,
                                                    pods.replicas, kMaxParts));
      return;
    }
    for (int replica = 0; replica < pods.replicas; ++replica) {
      DraftSet& set =
          parent.sets.emplace_back(grouping.set(pods, fmt::format("{}-{}", pods.role, replica), pods.each, min));
      set.levels = levels;
      set.replica = replica;
    }
  }
  const auto groups = static_cast<int>(root.groups.size());
  if (const auto min = grouping.count_at(workload.annotations, kMinMember); min && *min < groups) {
    root.min_groups = *min;
    return;
  }
  // All groups start together, so that only their sets matter.
  std::vector<DraftGroup> groups_of_sets = std::exchange(root.groups, {});
  for (DraftGroup& group : groups_of_sets) {
    std::move(group.sets.begin(), group.sets.end(), std::back_inserter(root.sets));
  }
}

}  // namespace gantree::kai
