#include "dialects/kai/grouper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/whole_number.h"
#include "dialects/kai/bound.h"
#include "dialects/kai/grouping.h"
#include "dialects/kai/names.h"
#include "dialects/pod_count.h"

namespace gantree::kai {

namespace {

// The first label of that name on the workload, then on its pods.
json::Value label_of(const Workload& workload, std::string_view name) {
  if (const json::Value own = text_at(workload.labels, name)) {
    return own;
  }
  for (const PodTemplate& part : workload.templates) {
    if (const json::Value label = text_at(part.labels(), name)) {
      return label;
    }
  }
  return {};
}

// Marks of the family that have no effect here: some do there, others are misspelt.
void remark_unknown(json::Value map, std::vector<std::string>& remarks) {
  if (!map || map.kind() != json::Kind::kObject) {
    return;
  }
  for (const json::MemberData& member : map.members()) {
    if (member.key.starts_with(kPrefix) &&
        std::find(std::begin(kKnown), std::end(kKnown), member.key) == std::end(kKnown)) {
      remarks.push_back(fmt::format("{} has no effect in a plan", member.key));
    }
  }
}

Draft finish(Grouping&& grouping) {
  if (grouping.objection.first()) {
    grouping.draft.rejection = {
        .reason = Reason::kInvalidRequest, .message = *grouping.objection.first(), .waits = false};
  }
  return std::move(grouping.draft);
}

void group_by_kind(Grouping& grouping) {
  const std::string_view kind = grouping.workload.key.kind;
  if (kind == "JobSet" || kind == "TrainJob") {
    group_job_set(grouping);
  } else if (kind.starts_with("Ray")) {
    group_ray(grouping);
  } else if (kind == "LeaderWorkerSet") {
    group_leader_and_workers(grouping);
  } else if (grouping.workload.object.group == "kubeflow.org") {
    group_training(grouping);
  } else {
    group_plain(grouping);
  }
}

constexpr std::string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";

// How many gangs of the same kind the workload is.
int parts_of(const Workload& workload, std::size_t bound) {
  if (workload.templates.empty()) {
    return 0;
  }
  if (workload.key.kind == "Deployment") {
    return std::max(0, workload.pods() - static_cast<int>(bound));
  }
  return workload.key.kind == "LeaderWorkerSet" ? workload.templates.front().replicas : 1;
}

std::vector<const PodRecord*> of_part(const Workload& workload, std::span<const PodRecord* const> bound, int part) {
  std::vector<const PodRecord*> pods(bound.begin(), bound.end());
  if (workload.key.kind == "Deployment") {
    pods.clear();
  } else if (workload.key.kind == "LeaderWorkerSet") {
    std::erase_if(pods, [&](const PodRecord* pod) { return number_at(pod->labels(), kGroupIndex) != part; });
  }
  return pods;
}

Draft too_many_parts(const Workload& workload, int parts) {
  Grouping grouping(workload);
  grouping.draft = draft_for(workload);
  const json::Value spec = workload.object.value["spec"];
  grouping.objection.raise(spec["replicas"],
                           fmt::format("spec.replicas asks for {} gangs; at most {} are planned", parts, kMaxParts));
  return finish(std::move(grouping));
}

}  // namespace

DraftSet Grouping::set(const PodTemplate& pods, std::string_view name, int count, int min) {
  DraftSet set;
  set.name = name;
  set.pods = &pods;
  set.file = workload.object.file;
  set.count = count;
  set.min = min;
  if (const auto size = count_at(pods.annotations(), kSegmentSize)) {
    set.segments.levels = segment_request(workload.object.file, pods.annotations(), workload.annotations);
    set.segments.size = *size;
    if (!set.segments.levels.asks()) {
      objection.raise(text_at(pods.annotations(), kSegmentSize),
                      fmt::format("{} needs {} or {} beside it", kSegmentSize, kSegmentRequired, kSegmentPreferred));
    }
  } else {
    for (const std::string_view level : {kSegmentRequired, kSegmentPreferred}) {
      if (const json::Value at = text_at(pods.annotations(), level)) {
        objection.raise(at, fmt::format("{} needs {} beside it", level, kSegmentSize));
      }
    }
  }
  return set;
}

std::optional<int> Grouping::count_at(json::Value annotations, std::string_view key) {
  const json::Value value = text_at(annotations, key);
  if (!value) {
    return std::nullopt;
  }
  const auto count = whole_number(value.text(), 1);
  if (!count) {
    objection.raise(value, fmt::format("{} must be a whole number of at least 1, not \"{}\"", key, value.text()));
  }
  return count;
}

std::optional<int> Grouping::spec_count(std::initializer_list<std::string_view> path) {
  json::Value at = workload.object.value["spec"];
  for (const std::string_view key : path) {
    at = at ? at[key] : at;
  }
  if (!at || at.kind() == json::Kind::kNull) {
    return std::nullopt;
  }
  json::Reader read(workload.object.file, "");
  const auto count = read.as_integer(at, *(path.end() - 1), 0, kMostPods);
  if (!count) {
    objection.raise(at, fmt::format("{} must be a whole number from 0 to {}", *(path.end() - 1), kMostPods));
    return std::nullopt;
  }
  return static_cast<int>(*count);
}

Draft draft_for(const Workload& workload) {
  Draft draft;
  draft.key = workload.key;
  draft.file = workload.object.file;
  draft.line = workload.object.value.line();
  draft.created_seconds = workload.created_seconds;
  draft.standing = standing_request(workload);
  draft.placement = text_at(workload.annotations, kPlacement);
  remark_unknown(workload.labels, draft.remarks);
  remark_unknown(workload.annotations, draft.remarks);
  for (const PodTemplate& part : workload.templates) {
    remark_unknown(part.labels(), draft.remarks);
    remark_unknown(part.annotations(), draft.remarks);
  }
  draft.queue = label_of(workload, kQueue);
  if (!draft.queue) {
    draft.queue = label_of(workload, kOldQueue);
  }
  if (const json::Value project = label_of(workload, kProject); project && !draft.queue) {
    const json::Value pool = label_of(workload, kNodePool);
    draft.project_queue = pool ? fmt::format("{}-{}", project.text(), pool.text()) : std::string(project.text());
  }
  return draft;
}

Draft draft_live(const Workload& workload, const LivePods& live) {
  Grouping grouping(workload);
  grouping.draft = draft_for(workload);
  grouping.live = &live;
  if (!workload.templates.empty()) {
    group_by_kind(grouping);
  }
  return finish(std::move(grouping));
}

Draft draft_ungrouped(const Workload& workload) {
  Draft draft = draft_for(workload);
  for (const PodTemplate& pods : workload.templates) {
    DraftSet& set = draft.root.sets.emplace_back();
    set.name = pods.role;
    set.pods = &pods;
    set.file = draft.file;
    set.count = pods.count();
  }
  draft.rejection = {.reason = Reason::kGangIncomplete,
                     .message = fmt::format("{}: {} is set, but the pods name no PodGroup ({})",
                                            json::to_string({draft.file, draft.line}), kSkipPodGrouper, kPodGroupName),
                     .waits = true};
  return draft;
}

std::optional<GangKey> part_of(const Workload& workload, const PodRecord& pod) {
  if (workload.key.kind == "Deployment") {
    return GangKey{.ns = workload.key.ns, .name = std::string(pod.name), .kind = "Pod"};
  }
  if (workload.key.kind == "LeaderWorkerSet") {
    const int part = number_at(pod.labels(), kGroupIndex).value_or(0);
    return GangKey{
        .ns = workload.key.ns, .name = fmt::format("{}-{}", workload.key.name, part), .kind = workload.key.kind};
  }
  return std::nullopt;
}

std::vector<Draft> group_workload(const Workload& workload, std::span<const PodRecord* const> bound,
                                  Inventory& inventory) {
  std::vector<Draft> drafts;
  const int parts = parts_of(workload, bound.size());
  if (parts > kMaxParts) {
    drafts.push_back(too_many_parts(workload, parts));
    return drafts;
  }
  const bool divided = workload.key.kind == "Deployment" || workload.key.kind == "LeaderWorkerSet";
  for (int part = 0; part < parts; ++part) {
    const std::vector<const PodRecord*> here = of_part(workload, bound, part);
    Grouping grouping(workload);
    grouping.draft = draft_for(workload);
    grouping.partly_runs = !here.empty();
    if (divided) {
      grouping.draft.key.name = fmt::format("{}-{}", workload.key.name, part);
    }
    group_by_kind(grouping);
    subtract_bound(workload, here, inventory, grouping.draft.root);
    Draft draft = finish(std::move(grouping));
    if (draft.rejection && divided) {
      // They are all alike: one rejection says it.
      draft.key = workload.key;
      return {std::move(draft)};
    }
    const bool runs = !here.empty() && draft.root.sets.empty() && draft.root.groups.empty();
    if (!runs || draft.rejection) {
      drafts.push_back(std::move(draft));
    }
  }
  return drafts;
}

}  // namespace gantree::kai
