#include "dialects/kai/roll.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/duration.h"
#include "dialects/kai/bound.h"
#include "dialects/kai/grouper.h"
#include "dialects/kai/names.h"

namespace gantree::kai {

namespace {

// Members and running pods by subgroup; those of no subgroup that exists are left out.
class Sorted {
 public:
  Sorted(const PodGroup& group, const Roll::Members& members, Remarks& remarks) : group_(group) {
    asking_.resize(group.subgroups.size() + 1);
    bound_.resize(asking_.size());
    for (const Roll::Member& member : members.asking) {
      if (const auto slot = slot_of(text_at(member.pods->labels(), kSubgroup), remarks)) {
        asking_[*slot].push_back(&member);
      }
    }
    for (const PodRecord* pod : members.bound) {
      if (const auto slot = slot_of(text_at(pod->labels(), kSubgroup), remarks)) {
        bound_[*slot].push_back(pod);
      }
    }
    for (auto& list : asking_) {
      std::stable_sort(list.begin(), list.end(), [](const Roll::Member* a, const Roll::Member* b) {
        return natural_less(a->workload->key.name, b->workload->key.name);
      });
    }
  }

  // Of a subgroup, or of the PodGroup itself where `slot` is the number of subgroups.
  [[nodiscard]] const std::vector<const Roll::Member*>& asking(std::size_t slot) const { return asking_[slot]; }
  [[nodiscard]] const std::vector<const PodRecord*>& bound(std::size_t slot) const { return bound_[slot]; }
  [[nodiscard]] int pods(std::size_t slot) const {
    int sum = static_cast<int>(bound_[slot].size());
    for (const Roll::Member* member : asking_[slot]) {
      sum += member->missing;
    }
    return sum;
  }

 private:
  std::optional<std::size_t> slot_of(json::Value label, Remarks& remarks) const {
    if (group_.subgroups.empty()) {
      return 0;
    }
    const auto found = label ? group_.subgroup(label.text()) : std::nullopt;
    if (found && group_.subgroups[*found].children.empty()) {
      return found;
    }
    remarks.add(label ? fmt::format("there is no subgroup \"{}\" that holds pods: its pods are left out", label.text())
                      : fmt::format("it has subgroups: pods without label {} are left out", kSubgroup));
    return std::nullopt;
  }

  const PodGroup& group_;
  std::vector<std::vector<const Roll::Member*>> asking_;
  std::vector<std::vector<const PodRecord*>> bound_;
};

class GroupDrafter {
 public:
  GroupDrafter(const PodGroup& group, const Sorted& sorted, Inventory& inventory)
      : group_(group), sorted_(sorted), inventory_(inventory) {}

  // False where pods are lacking.
  bool draft(DraftGroup& root) {
    root.levels = group_.levels;
    return group_.subgroups.empty() ? fill(root, "main", 0, group_.min_member.value_or(1), "the PodGroup")
                                    : add_children(root, group_.children, group_.min_groups, "the PodGroup");
  }

  // What is lacking, in one sentence; "" where nothing is.
  [[nodiscard]] const std::string& lacking() const { return lacking_; }

 private:
  // Adds the pods of a leaf. False where there are too few.
  bool fill(DraftGroup& leaf, const std::string& name, std::size_t slot, int min, std::string_view who) {
    const int pods = sorted_.pods(slot);
    if (pods < min) {
      lacking_ = fmt::format("{} has {} of the {} pods that it needs", who, pods, min);
      return false;
    }
    const auto& asking = sorted_.asking(slot);
    const bool several = std::count_if(asking.begin(), asking.end(), [](const Roll::Member* member) {
                           return member->workload->key.kind != "Pod";
                         }) > 1;
    for (const Roll::Member* member : asking) {
      if (member->missing == 0) {
        continue;
      }
      DraftSet& set = leaf.sets.emplace_back();
      const std::string& own = member->workload->key.name;
      set.one_of_many = member->workload->key.kind == "Pod";
      set.name = !several || set.one_of_many ? name : name == "main" ? own : name + "-" + own;
      set.pods = member->pods;
      set.file = member->workload->object.file;
      set.count = member->missing;
      set.min = 0;
      if (set.one_of_many) {
        set.pod_names = {own};
      }
    }
    for (const PodRecord* pod : sorted_.bound(slot)) {
      leaf.bound.push_back(inventory_.reserve(pod->node));
    }
    leaf.min_pods = std::max(0, min - static_cast<int>(leaf.bound.size()));
    return true;
  }

  bool add_children(DraftGroup& parent, const std::vector<std::size_t>& children, std::optional<int> min,
                    std::string_view who) {
    int ready = 0;
    for (const std::size_t child : children) {
      const SubGroup& subgroup = group_.subgroups[child];
      const std::string name = fmt::format("subgroup \"{}\"", subgroup.name);
      DraftGroup group;
      group.name = subgroup.name;
      group.levels = subgroup.levels;
      const bool complete = subgroup.children.empty()
                                ? fill(group, subgroup.name, child, subgroup.min_member.value_or(0), name)
                                : add_children(group, subgroup.children, subgroup.min_groups, name);
      if (complete) {
        ++ready;
        parent.bound.insert(parent.bound.end(), group.bound.begin(), group.bound.end());
        parent.groups.push_back(std::move(group));
      }
    }
    const int needed = min.value_or(static_cast<int>(children.size()));
    if (ready < needed) {
      lacking_ = fmt::format("{} has {} of the {} complete subgroups that it needs{}{}", who, ready, needed,
                             lacking_.empty() ? "" : ": ", lacking_);
      return false;
    }
    if (needed < static_cast<int>(parent.groups.size())) {
      parent.min_groups = needed;
    }
    return true;
  }

  const PodGroup& group_;
  const Sorted& sorted_;
  Inventory& inventory_;
  std::string lacking_;
};

StandingRequest standing_of_group(const PodGroup& group, const Roll::Members& members) {
  StandingRequest request;
  request.file = group.object.file;
  request.classes = {group.priority_class};
  request.preemptibilities = {group.preemptibility};
  for (const Roll::Member& member : members.asking) {
    request.specs.push_back(member.pods->spec);
  }
  return request;
}

Rejection incomplete(std::string message) {
  return {.reason = Reason::kGangIncomplete, .message = std::move(message), .waits = true};
}

}  // namespace

json::Value group_joined(const PodTemplate& pods) {
  return text_at(pods.annotations(), kPodGroupName);
}

bool joins_by_template(const Workload& workload) {
  return std::any_of(workload.templates.begin(), workload.templates.end(),
                     [](const PodTemplate& pods) { return group_joined(pods).present(); });
}

Roll call_roll(const Intake& intake) {
  Roll roll;
  std::map<const Workload*, int> bound;
  std::set<const Workload*> pending;
  for (const PodRecord& pod : intake.pods) {
    if (!pod.bound()) {
      pending.insert(pod.workload);
    }
    const json::Value name = text_at(pod.annotations(), kPodGroupName);
    const bool own = pod.workload == nullptr || joins_by_template(*pod.workload);
    if (name && own && pod.bound() && !pod.deleting) {
      roll.groups[{std::string(pod.ns), std::string(name.text())}].bound.push_back(&pod);
      ++bound[pod.workload];
    }
  }
  for (const Workload& workload : intake.workloads) {
    if (workload.dialect != kFamily || workload.over || (workload.running && !pending.contains(&workload))) {
      continue;
    }
    int runs = bound[&workload];
    for (const PodTemplate& pods : workload.templates) {
      if (const json::Value name = group_joined(pods)) {
        const int here = std::min(runs, pods.count());
        runs -= here;
        roll.groups[{workload.key.ns, std::string(name.text())}].asking.push_back(
            {.workload = &workload, .pods = &pods, .missing = pods.count() - here});
      }
    }
  }
  return roll;
}

Draft draft_of(const PodGroup& group, const Roll::Members& members, Intake& intake, Remarks& remarks) {
  Draft draft;
  draft.key = group.key;
  draft.file = group.object.file;
  draft.line = group.object.value.line();
  draft.created_seconds = group.created_seconds;
  draft.standing = standing_of_group(group, members);
  draft.placement = group.placement;
  draft.queue = group.queue;
  draft.queue_field = "spec.queue";
  draft.evicts_from_seconds = group.evicts_from_seconds;
  if (group.staleness_grace) {
    const auto grace = parse_duration(*group.staleness_grace);
    draft.staleness_grace = std::nullopt;
    if (!grace) {
      remarks.add(fmt::format("stalenessGracePeriod \"{}\" is no duration: it may be below its minimum for ever",
                              *group.staleness_grace));
    } else if (grace->count() >= 0) {
      draft.staleness_grace = std::chrono::duration_cast<std::chrono::milliseconds>(*grace);
    }
  }
  if (group.objection) {
    draft.rejection = {.reason = Reason::kInvalidRequest, .message = *group.objection, .waits = false};
    return draft;
  }
  const Sorted sorted(group, members, remarks);
  GroupDrafter drafter(group, sorted, intake.cluster.inventory());
  if (!drafter.draft(draft.root)) {
    draft.rejection = incomplete(drafter.lacking());
  } else if (!drafter.lacking().empty()) {
    remarks.add(fmt::format("it starts without some of its subgroups: {}", drafter.lacking()));
  }
  drop_complete(draft.root);
  return draft;
}

Draft draft_without_group(const GroupName& name, const Roll::Members& members, bool any, Intake& intake,
                          Remarks& remarks) {
  PodGroup group;
  group.key = pod_group_key(name.first, name.second);
  const Workload& first = *members.asking.front().workload;
  group.object = first.object;
  group.created_seconds = first.created_seconds;
  int pods = static_cast<int>(members.bound.size());
  for (const Roll::Member& member : members.asking) {
    pods += member.missing;
  }
  group.min_member = pods;
  Draft draft = draft_of(group, members, intake, remarks);
  const Draft own = draft_for(first);
  draft.queue = own.queue;
  draft.queue_field = own.queue_field;
  draft.standing = own.standing;
  draft.placement = own.placement;
  if (any) {
    draft.rejection = incomplete(fmt::format("{}: {}: there is no PodGroup \"{}\" in namespace \"{}\"",
                                             json::to_string({first.object.file, first.object.value.line()}),
                                             kPodGroupName, name.second, name.first));
  } else {
    remarks.add("its PodGroup is not in the input, which has none at all: all pods that name it are one gang");
  }
  return draft;
}

}  // namespace gantree::kai
