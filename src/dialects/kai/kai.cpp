#include "dialects/kai/kai.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "dialects/gangs.h"
#include "dialects/kai/assemble.h"
#include "dialects/kai/grouper.h"
#include "dialects/kai/levels.h"
#include "dialects/kai/marks.h"
#include "dialects/kai/spare.h"

namespace gantree::kai {

namespace {

// Kinds that nobody else takes where they carry no marks.
bool ours_by_default(const Workload& workload) {
  const std::string_view group = workload.object.group;
  return group == "kubeflow.org" || group == "ray.io" || group == "trainer.kubeflow.org";
}

}  // namespace

std::span<const ApiKind> KaiDialect::kinds() const {
  static const ApiKind kKinds[] = {
      {.group = kTopologyGroup, .kind = "Topology", .versions = {"v1alpha1"}, .namespaced = false},
      {.group = kSchedulingGroup, .kind = "PodGroup", .versions = {"v2alpha2"}, .namespaced = true},
      {.group = kSchedulingGroup, .kind = "Queue", .versions = {"v2"}, .namespaced = false},
  };
  return kKinds;
}

Result<> KaiDialect::read(const NamedObject& named, Intake& intake) {
  if (named.object.kind == "Topology") {
    return read_topology(named, intake);
  }
  if (named.object.kind == "Queue") {
    return queues_.read(named, remarks_);
  }
  Remarks remarks(pod_group_key(named.ns, named.name));
  auto group = read_pod_group(named, remarks);
  if (!group) {
    return tl::unexpected(group.error());
  }
  remarks_.add_all(remarks);
  groups_.emplace(GroupName(named.ns, named.name), std::move(*group));
  return {};
}

Result<> KaiDialect::connect(Intake& intake) {
  return queues_.connect(intake.quota);
}

Claim KaiDialect::claim(const Workload& workload, const Intake&) const {
  if (is_marked(workload)) {
    return Claim::kMarked;
  }
  return ours_by_default(workload) || scheduled_by(workload, kOurScheduler) ? Claim::kDefault : Claim::kNone;
}

std::optional<GangKey> KaiDialect::gang_of(const PodRecord& pod, const Intake&) const {
  const json::Value group = text_at(pod.annotations(), kPodGroupName);
  if (group && (pod.workload == nullptr || joins_by_template(*pod.workload))) {
    return pod_group_key(pod.ns, group.text());
  }
  if (pod.workload != nullptr) {
    return pod.workload->dialect == kFamily ? part_of(*pod.workload, pod) : std::nullopt;
  }
  if (pod.scheduler != kScheduler && !has_marks(pod.labels()) && !has_marks(pod.annotations())) {
    return std::nullopt;
  }
  const bool owned = pod.owner.present();
  return GangKey{.ns = std::string(pod.ns),
                 .name = std::string(owned ? pod.owner.name : pod.name),
                 .kind = owned ? std::string(pod.owner.kind) : "Pod"};
}

void KaiDialect::describe(const Workload* workload, std::span<const PodRecord* const> pods, Intake& intake,
                          RunningGang& gang) {
  StandingRequest request;
  std::string queue_name;
  Spare spare;
  const auto group = groups_.find({gang.key.ns, gang.key.name});
  if (gang.key.kind == "PodGroup" && group != groups_.end()) {
    request.classes = {group->second.priority_class};
    request.preemptibilities = {group->second.preemptibility};
    queue_name = group->second.queue ? group->second.queue.text() : "";
    spare = spare_of(group->second, pods);
  } else if (workload != nullptr) {
    spare = spare_of(*workload, pods);
    const Draft draft = draft_for(*workload);
    request = draft.standing;
    queue_name = draft.queue ? std::string(draft.queue.text()) : draft.project_queue;
  } else if (!pods.empty()) {
    const json::Value label = text_at(pods.front()->labels(), kQueue);
    queue_name = label ? label.text() : "";
    request.classes = {text_at(pods.front()->labels(), kPriorityClass)};
    request.preemptibilities = {text_at(pods.front()->labels(), kPreemptibility)};
  }
  for (const PodRecord* pod : pods) {
    request.specs.push_back(pod->spec());
  }
  // It runs, whatever is wrong with it by now.
  Remarks unheard;
  if (const auto standing = standing_of(request, intake.core, unheard)) {
    gang.priority = standing->priority;
    gang.evictable = standing->preemptible;
  }
  gang.has_minimum = spare.has_minimum;
  for (const PodsThatRun& part : spare.parts) {
    SparePods& made = gang.spare.emplace_back();
    for (const PodRecord* pod : part) {
      made.pods.push_back(fmt::format("{}/{}", pod->ns, pod->name));
    }
  }
  if (const Queue* queue = queues_.find_running(queue_name)) {
    gang.queue = queue->id;
    const auto used_by = [&](std::span<const PodRecord* const> some) {
      QuotaDemand used;
      for (const PodRecord* pod : some) {
        const QuotaDemand one =
            demand_in(*queue, gang.evictable, pod->requests, intake.cluster.inventory().resources());
        used.insert(used.end(), one.begin(), one.end());
      }
      return Quota::sum({used}, {1});
    };
    // What is on its way out uses quota until it is gone.
    gang.used = used_by(pods);
    for (std::size_t i = 0; i < spare.parts.size(); ++i) {
      gang.spare[i].used = used_by(spare.parts[i]);
    }
  }
}

Result<> KaiDialect::hand_in(const Draft& draft, Intake& intake) {
  auto assembled = assemble(draft, intake, remarks_);
  if (!assembled) {
    return tl::unexpected(assembled.error());
  }
  Submission& submission = assembled->submission;
  if (!draft.root.bound.empty()) {
    const bool all_there = submission.parts.empty() || !insists(submission.parts.front().front().gang.root);
    submission.begun = all_there ? Begun::kEnough : Begun::kTooFew;
    if (!all_there && draft.staleness_grace) {
      intake.reading.half_started.emplace(draft.key, draft.staleness_grace);
    }
  }
  Remarks remarks(draft.key);
  const auto queue = queues_.find(draft, remarks);
  remarks_.add_all(remarks);
  if (queue && *queue != nullptr) {
    submission.queue = (*queue)->id;
    for (std::vector<Alternative>& ways : submission.parts) {
      for (Alternative& way : ways) {
        const std::vector<const PodSet*> sets = pod_sets(way.gang.root);
        for (std::size_t i = 0; i < sets.size(); ++i) {
          way.demand[i] = demand_in(**queue, assembled->preemptible, sets[i]->shape.requests,
                                    intake.cluster.inventory().resources());
        }
      }
    }
  } else if (!queue && !submission.rejection) {
    submission.rejection = {.reason = Reason::kInvalidRequest, .message = queue.error().message, .waits = false};
    submission.parts.clear();
  }
  intake.reading.queue.push_back(std::move(submission));
  return {};
}

Result<> KaiDialect::submit_groups(Intake& intake) {
  Roll roll = call_roll(intake);
  // One that nobody else made, and that no pod joins, waits for its pods.
  for (const auto& [name, group] : groups_) {
    if (!group.owned && !group.over) {
      roll.groups.try_emplace(name);
    }
  }
  for (const auto& [name, members] : roll.groups) {
    const auto group = groups_.find(name);
    const bool runs = members.asking.empty() && !members.bound.empty();
    if (runs || (group != groups_.end() && group->second.over)) {
      continue;
    }
    Remarks remarks(pod_group_key(name.first, name.second));
    const Draft draft = group != groups_.end() ? draft_of(group->second, members, intake, remarks)
                                               : draft_without_group(name, members, !groups_.empty(), intake, remarks);
    remarks_.add_all(remarks);
    if (draft.rejection || !draft.root.sets.empty() || !draft.root.groups.empty()) {
      if (auto handed = hand_in(draft, intake); !handed) {
        return handed;
      }
    }
  }
  return {};
}

Result<> KaiDialect::submit_workloads(Intake& intake) {
  std::map<const Workload*, std::vector<const PodRecord*>> bound;
  std::set<const Workload*> pending;  // that have pods without a node
  for (const PodRecord& pod : intake.pods) {
    if (pod.workload == nullptr || pod.deleting) {
      continue;
    }
    if (pod.bound()) {
      bound[pod.workload].push_back(&pod);
    } else {
      pending.insert(pod.workload);
    }
  }
  for (const Workload& workload : intake.workloads) {
    // Its status counts pods that wait for a node as active, too.
    const bool runs = workload.running && !pending.contains(&workload);
    if (workload.dialect != kFamily || runs || joins_by_template(workload)) {
      continue;
    }
    if (skips_grouper(workload.annotations)) {
      if (auto handed = hand_in(draft_ungrouped(workload), intake); !handed) {
        return handed;
      }
      continue;
    }
    for (const Draft& draft : group_workload(workload, bound[&workload], intake.cluster.inventory())) {
      if (auto handed = hand_in(draft, intake); !handed) {
        return handed;
      }
    }
  }
  return {};
}

Result<> KaiDialect::submit(Intake& intake) {
  if (auto submitted = submit_groups(intake); !submitted) {
    return submitted;
  }
  if (auto submitted = submit_workloads(intake); !submitted) {
    return submitted;
  }
  for (std::string& note : remarks_.notes()) {
    intake.reading.notes.push_back(std::move(note));
  }
  return {};
}

}  // namespace gantree::kai
