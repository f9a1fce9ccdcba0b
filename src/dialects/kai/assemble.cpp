#include "dialects/kai/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/core/pod.h"
#include "dialects/gangs.h"
#include "dialects/kai/names.h"

namespace gantree::kai {

namespace {

// Segments that climb make one alternative for each level; more levels than a topology has never come.
constexpr int kMaxClimbs = kMaxLevels + 1;

// Keeps the first thing that is wrong, malformed things apart from wrong requests.
class Assembler {
 public:
  Assembler(const Draft& draft, Intake& intake, Remarks& remarks) : draft_(draft), intake_(intake), remarks_(remarks) {}

  // The tree with preferred segments `climb` levels above what they prefer.
  Group group(const DraftGroup& draft, int climb, bool near);

  void read_placement() {
    if (!draft_.placement) {
      return;
    }
    const std::string_view word = draft_.placement.text();
    if (word == "pack") {
      packing_ = Packing::kPack;
    } else if (word == "spread") {
      packing_ = Packing::kSpread;
    } else if (word == "balanced") {
      packing_ = Packing::kBalanced;
    } else {
      refuse(fmt::format("{}: {} must be pack, spread or balanced, not \"{}\"",
                         json::to_string({draft_.file, draft_.placement.line()}), kPlacement, word));
    }
  }

  [[nodiscard]] int climbs() const { return climbs_; }
  [[nodiscard]] const std::optional<std::string>& refusal() const { return refusal_; }
  [[nodiscard]] const std::optional<Error>& malformed() const { return malformed_; }
  void refuse(std::string message) {
    if (!refusal_) {
      refusal_ = std::move(message);
    }
  }

 private:
  PodSet pod_set(const DraftSet& draft, int climb, bool near);
  Constraint constraint(const LevelRequest& request);
  void cut(const Segments& segments, int climb, Constraint& constraint);
  void pack(Constraint& constraint, bool near) const;

  const Draft& draft_;
  Intake& intake_;
  Remarks& remarks_;
  std::optional<Packing> packing_;
  std::optional<std::string> refusal_;
  std::optional<Error> malformed_;
  int climbs_ = 1;
};

Constraint Assembler::constraint(const LevelRequest& request) {
  auto found = resolve(request, intake_, remarks_);
  if (!found) {
    refuse(found.error().message);
    return {};
  }
  return found->value_or(Constraint{});
}

void Assembler::cut(const Segments& segments, int climb, Constraint& constraint) {
  if (segments.size == 0) {
    return;
  }
  const Constraint levels = this->constraint(segments.levels);
  if (!levels.topology) {
    return;
  }
  if (constraint.topology && *constraint.topology != *levels.topology) {
    refuse(fmt::format("{}: {}: segments must use the topology of the group they are cut from",
                       json::to_string({draft_.file, segments.levels.at().line()}), segments.levels.field()));
    return;
  }
  constraint.topology = levels.topology;
  const int lowest = levels.preferred.value_or(levels.required.value_or(-1));
  const int highest = levels.required.value_or(-1);  // -1: uncut where nothing else fits
  climbs_ = std::max(climbs_, std::min(lowest - highest + 1, kMaxClimbs));
  const int level = std::max(lowest - climb, highest);
  // All pods are inside one domain of the required level, so their segments are too.
  if (level >= 0 && (!constraint.required || level > *constraint.required)) {
    constraint.slices.push_back({.level = level, .size = segments.size});
  }
}

void Assembler::pack(Constraint& constraint, bool near) const {
  constraint.packing = packing_.value_or(near ? Packing::kPack : Packing::kTightest);
  if (constraint.packing == Packing::kBalanced) {
    constraint.balance = constraint.preferred ? constraint.preferred : constraint.required;
  }
}

PodSet Assembler::pod_set(const DraftSet& draft, int climb, bool near) {
  PodSet set;
  set.name = draft.name;
  set.count = draft.count;
  set.min_count = std::min(draft.min, draft.count);
  set.pods = draft.pod_names;
  json::Reader read(draft_.file, draft.pods->spec, fmt::format("pods of \"{}\"", draft.name));
  set.shape = read_pod_shape(read, draft.pods->spec, intake_.cluster.inventory());
  if (!read.ok() && !malformed_) {
    malformed_ = read.error().value();
  }
  for (const std::string_view shared : {kGpuFraction, kGpuMemory}) {
    if (const json::Value part = text_at(draft.pods->annotations(), shared)) {
      refuse(fmt::format("{}: {}: parts of a GPU are not supported; ask for whole ones",
                         json::to_string({draft_.file, part.line()}), shared));
    }
  }
  set.constraint = constraint(draft.levels);
  cut(draft.segments, climb, set.constraint);
  pack(set.constraint, near || set.constraint.topology);
  return set;
}

Group Assembler::group(const DraftGroup& draft, int climb, bool near) {
  Group group;
  group.name = draft.name;
  group.constraint = constraint(draft.levels);
  cut(draft.segments, climb, group.constraint);
  group.min_pods = draft.min_pods;
  group.min_groups = draft.min_groups;
  near = near || group.constraint.topology;
  for (const DraftSet& set : draft.sets) {
    group.pod_sets.push_back(pod_set(set, climb, near));
  }
  for (const DraftGroup& nested : draft.groups) {
    group.groups.push_back(this->group(nested, climb, near));
  }
  pack(group.constraint, near);
  return group;
}

// What a group of one set asks for, the set asks for.
void fold(DraftGroup& group) {
  if (group.sets.size() == 1 && group.groups.empty() && !group.sets.front().levels.asks()) {
    DraftSet& set = group.sets.front();
    set.levels = std::exchange(group.levels, {});
    if (set.segments.size == 0) {
      set.segments = std::exchange(group.segments, {});
    }
    if (group.min_pods) {
      set.min = *std::exchange(group.min_pods, {});
    }
  }
  for (DraftGroup& nested : group.groups) {
    fold(nested);
  }
}

std::vector<TopologyId> topologies_of(const Group& root, Intake& intake) {
  const bool alone = root.pod_sets.size() == 1 && root.groups.empty();
  const auto& own = alone ? root.pod_sets.front().constraint.topology : root.constraint.topology;
  return own ? std::vector{*own} : open_topologies(intake);
}

}  // namespace

Result<Submission> assemble(const Draft& draft, Intake& intake, Remarks& all_remarks) {
  Remarks remarks;
  Submission submission;
  submission.key = draft.key;
  submission.dialect = kFamily;
  submission.created_seconds = draft.created_seconds;
  submission.rejection = draft.rejection;
  const auto standing = standing_of(draft.standing, intake.core, remarks);
  if (standing) {
    submission.priority = standing->priority;
  }
  Assembler assembler(draft, intake, remarks);
  assembler.read_placement();
  if (!standing) {
    assembler.refuse(standing.error().message);
  }
  Gang gang;
  gang.key = draft.key;
  gang.dialect = kFamily;
  gang.priority = submission.priority;
  gang.created_seconds = draft.created_seconds;
  DraftGroup root = draft.root;
  fold(root);
  for (int climb = 0; climb < assembler.climbs(); ++climb) {
    gang.root = assembler.group(root, climb, false);
    for (const TopologyId topology : topologies_of(gang.root, intake)) {
      gang.topology = topology;
      add_alternative(submission, gang);
    }
  }
  all_remarks.add_once(remarks);
  if (assembler.malformed()) {
    return tl::unexpected(*assembler.malformed());
  }
  if (assembler.refusal() && !submission.rejection) {
    submission.rejection = {.reason = Reason::kInvalidRequest, .message = *assembler.refusal(), .waits = false};
  }
  if (submission.rejection) {
    submission.alternatives.clear();
  }
  return submission;
}

}  // namespace gantree::kai
