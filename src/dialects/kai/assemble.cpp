#include "dialects/kai/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "dialects/core/not_looked_at.h"
#include "dialects/core/pod.h"
#include "dialects/gangs.h"
#include "dialects/kai/names.h"

namespace gantree::kai {

namespace {

// One way to lay out the gang.
struct Variant {
  int climb = 0;     // segments as many levels above the one that they prefer
  bool stay = true;  // where pods run already, the others go to the domain that is preferred
};

// A domain that pods may not leave.
struct Confinement {
  TopologyId topology;
  std::vector<std::string> path;
};

// What a group passes on to all below it.
struct Above {
  bool near = false;                           // closeness is asked for
  std::optional<TopologyId> required_in = {};  // the topology of a required level
  std::vector<Confinement> confinements = {};
};

class Assembler {
 public:
  Assembler(const Draft& draft, Intake& intake, Remarks& remarks) : draft_(draft), intake_(intake), remarks_(remarks) {}

  void read_placement();
  Group group(const DraftGroup& draft, const Variant& variant, Above above = {});
  void start_over() { names_.clear(); }

  // Known when the first variant is laid out.
  [[nodiscard]] int climbs() const { return climbs_; }
  [[nodiscard]] bool may_leave() const { return may_leave_; }

  [[nodiscard]] const std::optional<std::string>& refusal() const { return refusal_; }
  [[nodiscard]] const std::optional<Error>& malformed() const { return malformed_; }
  void refuse(std::string message) {
    if (!refusal_) {
      refusal_ = std::move(message);
    }
  }

 private:
  PodSet pod_set(const DraftSet& draft, const Variant& variant, Above above);
  Constraint constraint(const LevelRequest& request, const Above& above);
  void cut(const Segments& segments, const Variant& variant, Constraint& constraint);
  void confine_to(const Constraint& constraint, std::span<const NodeId> bound, const Variant& variant, Above& above);
  void pack(Constraint& constraint, bool near) const;
  std::string unique(const std::string& name);

  const Draft& draft_;
  Intake& intake_;
  Remarks& remarks_;
  std::optional<Packing> packing_;
  std::optional<std::string> refusal_;
  std::optional<Error> malformed_;
  std::set<std::string> names_;
  int climbs_ = 1;
  bool may_leave_ = false;
};

void Assembler::read_placement() {
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

Constraint Assembler::constraint(const LevelRequest& request, const Above& above) {
  auto found = resolve(request, intake_, remarks_);
  if (!found) {
    refuse(found.error().message);
    return {};
  }
  if (*found && above.required_in && *above.required_in != *(*found)->topology) {
    refuse(fmt::format("{}: {}: a group around it requires a level of another topology",
                       json::to_string({request.file, request.at().line()}), request.field()));
  }
  return found->value_or(Constraint{});
}

void Assembler::cut(const Segments& segments, const Variant& variant, Constraint& constraint) {
  if (segments.size == 0) {
    return;
  }
  const Constraint levels = this->constraint(segments.levels, {});
  if (!levels.topology) {
    return;
  }
  if (constraint.topology && *constraint.topology != *levels.topology) {
    refuse(fmt::format("{}: {}: segments use the topology of what they are cut from",
                       json::to_string({segments.levels.file, segments.levels.at().line()}), segments.levels.field()));
    return;
  }
  constraint.topology = levels.topology;
  const int lowest = levels.preferred.value_or(levels.required.value_or(-1));
  const int highest = levels.required.value_or(-1);  // -1: uncut where nothing else fits
  climbs_ = std::max(climbs_, lowest - highest + 1);
  const int level = std::max(lowest - variant.climb, highest);
  // All pods are inside one domain of the required level, so their segments are too.
  if (level >= 0 && (!constraint.required || level > *constraint.required)) {
    constraint.slices.push_back({.level = level, .size = segments.size});
  }
}

void Assembler::confine_to(const Constraint& constraint, std::span<const NodeId> bound, const Variant& variant,
                           Above& above) {
  if (!constraint.topology || bound.empty()) {
    return;
  }
  Engine& engine = intake_.cluster.engine();
  const auto confine_at = [&](int level) {
    auto path = common_domain(engine, *constraint.topology, level, bound);
    if (path) {
      above.confinements.push_back({*constraint.topology, std::move(*path)});
    }
    return path.has_value();
  };
  if (constraint.required && !confine_at(*constraint.required)) {
    remarks_.add("the pods that run are not in one domain of the required level: the others are placed on their own");
  }
  if (constraint.preferred) {
    may_leave_ = true;
    for (int level = *constraint.preferred; variant.stay && level > constraint.required.value_or(-1); --level) {
      if (confine_at(level)) {
        break;
      }
    }
  }
}

void Assembler::pack(Constraint& constraint, bool near) const {
  const bool nearest = constraint.preferred && constraint.slices.empty();
  const Packing close = nearest ? Packing::kNearest : Packing::kPack;
  constraint.packing = packing_.value_or(near ? close : Packing::kTightest);
  if (constraint.packing == Packing::kBalanced) {
    constraint.balance = constraint.preferred ? constraint.preferred : constraint.required;
  }
}

std::string Assembler::unique(const std::string& name) {
  std::string own = name;
  for (int number = 2; !names_.insert(own).second; ++number) {
    own = fmt::format("{}-{}", name, number);
  }
  return own;
}

PodSet Assembler::pod_set(const DraftSet& draft, const Variant& variant, Above above) {
  PodSet set;
  set.name = draft.name;
  set.count = draft.count;
  set.min_count = std::min(draft.min, draft.count);
  set.pods = draft.pod_names;
  Inventory& inventory = intake_.cluster.inventory();
  json::Reader read(draft.file, draft.pods->spec, fmt::format("pods of \"{}\"", draft.name));
  set.shape = read_pod_shape(read, draft.pods->spec, inventory);
  if (!read.ok() && !malformed_) {
    malformed_ = read.error().value();
  }
  const json::Value scheduler = text_at(draft.pods->spec, "schedulerName");
  const bool ours = scheduler && scheduler.text() == kOurScheduler;
  if (const std::string demand = ours ? not_looked_at(draft.pods->spec) : std::string(); !demand.empty()) {
    refuse(fmt::format("{}: its pods ask for {}, which this scheduler does not look at",
                       json::to_string({draft.file, draft.pods->spec.line()}), demand));
  }
  for (const std::string_view shared : {kGpuFraction, kGpuMemory}) {
    if (const json::Value part = text_at(draft.pods->annotations(), shared)) {
      refuse(fmt::format("{}: {}: parts of a GPU are not supported; ask for whole ones",
                         json::to_string({draft.file, part.line()}), shared));
    }
  }
  set.constraint = constraint(draft.levels, above);
  confine_to(set.constraint, draft.bound, variant, above);
  cut(draft.segments, variant, set.constraint);
  for (const Confinement& inside : above.confinements) {
    confine(set.shape, intake_.cluster.engine().topology(inside.topology), inside.path, inventory.strings());
  }
  return set;
}

// What a group of one set asks for, the set asks for.
void fold(Group& group) {
  if (group.pod_sets.size() != 1 || !group.groups.empty()) {
    return;
  }
  PodSet& set = group.pod_sets.front();
  if (group.min_pods) {
    set.min_count = std::min(set.count, *std::exchange(group.min_pods, std::nullopt));
  }
  Constraint& own = set.constraint;
  const bool same = !own.topology || !group.constraint.topology || *own.topology == *group.constraint.topology;
  if (own.required || own.preferred || !group.constraint.topology || !same) {
    return;
  }
  std::vector<Slice> slices = own.slices.empty() ? group.constraint.slices : own.slices;
  own = std::exchange(group.constraint, {});
  std::erase_if(slices, [&](const Slice& slice) { return own.required && slice.level <= *own.required; });
  own.slices = std::move(slices);
}

Group Assembler::group(const DraftGroup& draft, const Variant& variant, Above above) {
  Group group;
  group.name = draft.name;
  group.constraint = constraint(draft.levels, above);
  confine_to(group.constraint, draft.bound, variant, above);
  cut(draft.segments, variant, group.constraint);
  group.min_pods = draft.min_pods;
  group.min_groups = draft.min_groups;
  above.near = above.near || group.constraint.topology;
  if (group.constraint.required) {
    above.required_in = group.constraint.topology;
  }
  for (const DraftSet& one : draft.sets) {
    PodSet set = pod_set(one, variant, above);
    auto alike = group.pod_sets.end();
    if (one.one_of_many) {
      alike = std::find_if(group.pod_sets.begin(), group.pod_sets.end(),
                           [&](const PodSet& other) { return other.shape == set.shape && !other.pods.empty(); });
    }
    if (alike != group.pod_sets.end()) {
      ++alike->count;
      alike->pods.push_back(std::move(set.pods.front()));
      continue;
    }
    set.name = unique(set.name);
    group.pod_sets.push_back(std::move(set));
  }
  for (const DraftGroup& nested : draft.groups) {
    group.groups.push_back(this->group(nested, variant, above));
  }
  fold(group);
  pack(group.constraint, above.near);
  for (PodSet& set : group.pod_sets) {
    pack(set.constraint, above.near || set.constraint.topology);
  }
  return group;
}

std::vector<TopologyId> topologies_of(const Group& root, Intake& intake) {
  const bool alone = root.pod_sets.size() == 1 && root.groups.empty();
  const auto& own = alone ? root.pod_sets.front().constraint.topology : root.constraint.topology;
  return own ? std::vector{*own} : open_topologies(intake);
}

// All ways to lay out the gang: where its pods run already before elsewhere, segments as low as preferred first.
void add_alternatives(Assembler& assembler, const Draft& draft, Gang gang, Intake& intake, Submission& submission) {
  for (const bool stay : {true, false}) {
    for (int climb = 0; climb < assembler.climbs(); ++climb) {
      assembler.start_over();
      gang.root = assembler.group(draft.root, {.climb = climb, .stay = stay});
      for (const TopologyId topology : topologies_of(gang.root, intake)) {
        gang.topology = topology;
        add_alternative(submission, gang);
      }
    }
    if (!assembler.may_leave()) {
      break;
    }
  }
}

}  // namespace

Result<Assembled> assemble(const Draft& draft, Intake& intake, Remarks& all_remarks) {
  Remarks remarks(draft.key);
  Assembled assembled;
  Submission& submission = assembled.submission;
  submission.key = draft.key;
  submission.dialect = kFamily;
  submission.created_seconds = draft.created_seconds;
  submission.evicts_from_seconds = draft.evicts_from_seconds;
  submission.rejection = draft.rejection;
  for (const std::string& remark : draft.remarks) {
    remarks.add(remark);
  }
  Assembler assembler(draft, intake, remarks);
  assembler.read_placement();
  const auto standing = standing_of(draft.standing, intake.core, remarks);
  if (standing) {
    submission.priority = standing->priority;
    submission.may_evict = standing->may_evict;
    assembled.preemptible = standing->preemptible;
  } else {
    assembler.refuse(standing.error().message);
  }
  Gang gang;
  gang.key = draft.key;
  gang.dialect = kFamily;
  gang.priority = submission.priority;
  gang.created_seconds = draft.created_seconds;
  add_alternatives(assembler, draft, std::move(gang), intake, submission);
  all_remarks.add_all(remarks);
  if (assembler.malformed()) {
    return tl::unexpected(*assembler.malformed());
  }
  if (assembler.refusal() && !submission.rejection) {
    submission.rejection = {.reason = Reason::kInvalidRequest, .message = *assembler.refusal(), .waits = false};
  }
  if (submission.rejection) {
    submission.parts.clear();
  }
  return assembled;
}

}  // namespace gantree::kai
