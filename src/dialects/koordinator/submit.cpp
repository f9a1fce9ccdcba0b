#include "dialects/koordinator/submit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "dialects/core/priority.h"
#include "dialects/gangs.h"
#include "dialects/koordinator/names.h"
#include "dialects/pod_count.h"

namespace gantree::koordinator {

namespace {

Rejection rejected(std::string message) {
  return {.reason = Reason::kInvalidRequest, .message = std::move(message), .waits = false};
}

// The constraint of all pods of a gang. Where those are one set, it is that of the set itself.
void constrain(Gang& gang, TopologyId topology, const Constraint& constraint) {
  gang.topology = topology;
  Group& root = gang.root;
  if (root.groups.empty() && root.pod_sets.size() == 1) {
    root.pod_sets.front().constraint = constraint;
    root.constraint.packing = constraint.packing;
    return;
  }
  root.constraint = constraint;
  if (!constraint.slices.empty()) {
    // Pieces are cut from all pods together, so there are no groups between, and no minima of theirs.
    for (Group& group : std::exchange(root.groups, {})) {
      for (PodSet& set : group.pod_sets) {
        set.min_count = group.min_pods ? set.count : set.min_count;
      }
      std::move(group.pod_sets.begin(), group.pod_sets.end(), std::back_inserter(root.pod_sets));
    }
  }
  for (PodSet& set : root.pod_sets) {
    set.constraint.packing = constraint.packing;
  }
  for (Group& group : root.groups) {
    group.constraint.packing = constraint.packing;
    if (constraint.packing == Packing::kPack) {
      // Among equally good places for all, the pods of one gang should be neighbours.
      group.constraint.preferred = std::max(constraint.required.value_or(0), constraint.preferred.value_or(0));
    }
    for (PodSet& set : group.pod_sets) {
      set.constraint.packing = constraint.packing;
    }
  }
}

void for_each_set(Gang& gang, const auto& change) {
  for (PodSet& set : gang.root.pod_sets) {
    change(set);
  }
  for (Group& group : gang.root.groups) {
    for (PodSet& set : group.pod_sets) {
      change(set);
    }
  }
}

// Holds the pods of a shape to these hosts, whatever else they ask for.
void hold_to(PodShape& shape, const std::vector<StringId>& names, StringId name_field) {
  if (!shape.affinity) {
    shape.affinity.emplace(1);
  } else {
    // What matches nothing must not come to match these hosts.
    std::erase_if(*shape.affinity, [](const SelectorTerm& term) { return term.labels.empty() && term.fields.empty(); });
  }
  for (SelectorTerm& term : *shape.affinity) {
    SelectorRequirement here;
    here.key = name_field;
    here.values = names;
    term.fields.push_back(std::move(here));
  }
}

// The names of all hosts of the domain of that level in which these nodes lie; nothing where they lie in several.
std::optional<std::vector<StringId>> neighbours(Cluster& cluster, TopologyId topology, int level,
                                                const std::vector<NodeId>& nodes) {
  const DomainTree& tree = cluster.engine().tree(topology);
  std::optional<Domain> common;
  for (const NodeId node : nodes) {
    const std::uint32_t host = tree.host_of(node);
    if (host == DomainTree::kNowhere) {
      return std::nullopt;
    }
    const Domain domain{level, tree.ancestor(tree.host_level(), host, level)};
    if (common.value_or(domain) != domain) {
      return std::nullopt;
    }
    common = domain;
  }
  if (!common) {
    return std::nullopt;
  }
  std::vector<StringId> names;
  const Range hosts = tree.hosts(*common);
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    names.push_back(cluster.inventory().strings().intern(cluster.inventory().node(tree.node(host)).name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Once a group has started, the rest comes as it may; but where nothing says that this gang ever had its minimum (its
// scheduler may have died while it bound the pods), what it lacks of that comes together.
int missing_once_started(const GangRules& rules, const Roster& roster) {
  const std::int64_t missing = std::max(0, rules.min - roster.bound - rules.succeeded);
  return rules.satisfied || roster.pending() < missing ? 0 : static_cast<int>(missing);
}

// The label goes before what the spec says.
bool evicts_nobody(const SpecSource& source, const CoreObjects& core) {
  const json::Value label = source.labels ? text_at(source.labels, kPreemptionPolicy) : json::Value();
  if (label && (label.text() == "Never" || label.text() == "PreemptLowerPriority")) {
    return label.text() == "Never";
  }
  return never_preempts(source.spec, core);
}

std::string unique_name(std::set<std::string>& taken, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; !taken.insert(name).second; ++number) {
    name = fmt::format("{}-{}", wanted, number);
  }
  return name;
}

}  // namespace

void Submitter::submit(const Rosters& rosters) {
  for (const Bundle& bundle : roll_.bundles()) {
    submit_bundle(bundle, rosters);
  }
  for (const Workload& workload : intake_.workloads) {
    const auto roster = rosters.alone.find(&workload);
    if (roster != rosters.alone.end() && (roster->second.pending() > 0 || roster->second.objection)) {
      submit_alone(workload, roster->second);
    }
  }
  std::vector<std::string>& notes = intake_.reading.notes;
  if (no_topology_ > 0) {
    notes.push_back(fmt::format("{} gang{} to gather in layers, but no {} \"{}\" is in the input: that does not count",
                                no_topology_, no_topology_ == 1 ? " prefers" : "s prefer", kTopologyKind,
                                kTopologyName));
  }
  if (!ignored_.empty()) {
    std::sort(ignored_.begin(), ignored_.end());
    ignored_.erase(std::unique(ignored_.begin(), ignored_.end()), ignored_.end());
    notes.push_back(fmt::format("PreferGather of layers that {} \"{}\" does not have is passed over: {}", kTopologyKind,
                                kTopologyName, fmt::join(ignored_, ", ")));
  }
  if (unresolved_priorities_ > 0) {
    notes.push_back(fmt::format("{} gang{} a PriorityClass, but none is in the input: it does not count",
                                unresolved_priorities_, unresolved_priorities_ == 1 ? " names" : "s name"));
  }
}

void Submitter::submit_bundle(const Bundle& bundle, const Rosters& rosters) {
  static const Roster kNobody;
  std::vector<Part> parts;
  std::int64_t pending = 0;
  bool over = true;
  std::set<std::string> names;
  const GatherSpec* gather = nullptr;
  for (const GangId& id : bundle.gangs) {
    const auto roster = rosters.gangs.find(id);
    Part& part = parts.emplace_back();
    part.rules = roll_.rules(id);
    part.roster = roster == rosters.gangs.end() ? &kNobody : &roster->second;
    const std::string name = id.substr(id.find('/') + 1);
    part.name = names.contains(name) ? id : name;
    names.insert(part.name);
    pending += part.roster->pending();
    over = over && (part.roster->bound > 0 || part.roster->elsewhere || (part.rules != nullptr && part.rules->over));
    if (gather == nullptr && part.rules != nullptr && part.rules->gather.present()) {
      gather = &part.rules->gather;
    }
  }
  if (pending == 0 && over) {
    return;  // all of it runs or has ended, or is another dialect's
  }
  Submission submission;
  submission.key = bundle.key;
  submission.dialect = kFamily;
  const auto object = [&](const Part& part) { return part.roster->objection; };
  const auto objecting = std::find_if(parts.begin(), parts.end(), object);
  settle_needs(parts);
  const Gang gang = gang_of(bundle.key, parts);
  for (const PodSet* set : pod_sets(gang.root)) {
    submission.pod_sets.emplace_back(set->name, set->count);
  }
  submission.created_seconds = gang.created_seconds;
  const auto ranked = rank(submission, parts);
  if (bundle.objection || objecting != parts.end()) {
    submission.rejection = rejected(bundle.objection ? *bundle.objection : *objecting->roster->objection);
  } else if (!ranked) {
    submission.rejection = rejected(ranked.error().message);
  } else if (pending > kMostPods) {
    submission.rejection = rejected(fmt::format("{} pods are asked for, more than {}", pending, kMostPods));
  } else if (submission.pod_sets.size() > kMostGroupsTogether) {
    submission.rejection = rejected(fmt::format("its pods have {} different specs; at most {} are placed together",
                                                submission.pod_sets.size(), kMostGroupsTogether));
  } else if (auto lacks = incomplete(bundle, parts)) {
    submission.rejection = {.reason = Reason::kGangIncomplete, .message = std::move(*lacks), .waits = true};
  } else if (pending == 0) {
    return;
  } else {
    Gang prioritised = gang;
    prioritised.priority = submission.priority;
    add_ways(submission, prioritised, gather, parts);
  }
  if (std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.roster->bound > 0; })) {
    submission.begun = insists(gang.root) ? Begun::kTooFew : Begun::kEnough;
  }
  if (is_half_started(parts)) {
    intake_.reading.half_started.emplace(submission.key, std::nullopt);
  }
  intake_.reading.queue.push_back(std::move(submission));
}

std::optional<std::string> Submitter::incomplete(const Bundle& bundle, const std::vector<Part>& parts) {
  std::vector<std::string> lacks;
  const bool started = has_started(parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    if (part.rules == nullptr) {
      lacks.push_back(
          fmt::format("PodGroup \"{}\" is not in the input, and no pod says how large that gang is", bundle.gangs[i]));
      continue;
    }
    const std::int64_t pending = part.roster->pending();
    const std::string_view min_name = part.rules->by_pod_group ? "minMember" : "min-available";
    // Once started, a group that was satisfied takes pods as they come.
    const bool satisfied = started && part.rules->policy == MatchPolicy::kOnceSatisfied;
    const std::int64_t members = pending + part.roster->bound + part.rules->succeeded;
    if (!satisfied && members < part.rules->min) {
      lacks.push_back(fmt::format("{} has {} of the {} pods that it needs ({})", part.rules->title(), members,
                                  part.rules->min, min_name));
    } else if (pending < part.need) {
      lacks.push_back(
          fmt::format("{} has {} pods that wait and {} that run, but needs {} that start together ({} "
                      "only-waiting)",
                      part.rules->title(), pending, part.roster->bound, part.need, kMatchPolicy));
    }
  }
  if (lacks.empty()) {
    return std::nullopt;
  }
  // Every pod of the group is told, so the sentence has an end.
  constexpr std::size_t kShown = 5;
  if (lacks.size() > kShown) {
    const std::string more = fmt::format("and {} more gangs of the group are not complete", lacks.size() - kShown);
    lacks.resize(kShown);
    lacks.push_back(more);
  }
  return fmt::format("{}", fmt::join(lacks, "; "));
}

bool Submitter::has_started(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return part.roster->bound > 0 || (part.rules != nullptr && part.rules->succeeded > 0);
  });
}

// Without a record the pods tell: a scheduler binds a gang when all pods of its minimum are there, so those of a gang
// that was cut short are older than the start of its first pod. A gang that lost pods later has younger ones in their
// place.
bool Submitter::is_half_started(const std::vector<Part>& parts) {
  std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
  int bound = 0;
  for (const Part& part : parts) {
    first_start = std::min(first_start, part.roster->first_start.value_or(first_start));
    bound += part.roster->bound;
  }
  return bound > 0 && std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
           if (part.rules == nullptr) {
             return false;
           }
           const std::int64_t lacks = std::int64_t{part.rules->min} - part.roster->bound - part.rules->succeeded;
           if (lacks <= 0 || part.roster->pending() < lacks) {
             return false;
           }
           if (part.rules->once_whole) {
             return !*part.rules->once_whole;
           }
           const auto& created = part.roster->members_created;
           const auto early = std::count_if(created.begin(), created.end(),
                                            [&](std::int64_t seconds) { return seconds <= first_start; });
           return !part.rules->satisfied && early + part.rules->succeeded >= part.rules->min;
         });
}

// What is bound already counts as the match policy says.
void Submitter::settle_needs(std::vector<Part>& parts) {
  const bool started = has_started(parts);
  for (Part& part : parts) {
    if (part.rules == nullptr) {
      continue;
    }
    switch (part.rules->policy) {
      case MatchPolicy::kOnlyWaiting:
        part.need = part.roster->pending() > 0 || part.roster->bound == 0 ? part.rules->min : 0;
        break;
      case MatchPolicy::kWaitingAndRunning:
        part.need = std::max(0, part.rules->min - part.roster->bound - part.rules->succeeded);
        break;
      case MatchPolicy::kOnceSatisfied:
        part.need = started ? missing_once_started(*part.rules, *part.roster) : part.rules->min;
        break;
    }
  }
}

Gang Submitter::gang_of(const GangKey& key, const std::vector<Part>& parts) const {
  Gang gang;
  gang.key = key;
  gang.dialect = kFamily;
  std::set<std::string> names;
  for (const Part& part : parts) {
    const std::int64_t created =
        part.rules != nullptr && part.rules->by_pod_group ? part.rules->created_seconds : part.roster->created_seconds;
    if (created != 0 && (gang.created_seconds == 0 || created < gang.created_seconds)) {
      gang.created_seconds = created;
    }
    if (part.roster->asking.empty()) {
      continue;
    }
    Group& group = parts.size() > 1 ? gang.root.groups.emplace_back() : gang.root;
    group.name = part.name;
    for (const MemberSet& members : part.roster->asking) {
      PodSet& set = group.pod_sets.emplace_back();
      set.name = unique_name(
          names, part.roster->asking.size() == 1 ? part.name : fmt::format("{}/{}", part.name, members.label));
      set.shape = members.shape;
      set.count = members.count;
      set.min_count = members.count;
      set.pods = members.pods;
      if (part.rules != nullptr && part.rules->ns != key.ns) {
        // Of another namespace than the gang is shown under; names alone would not tell them apart.
        for (std::string& pod : set.pods) {
          pod = fmt::format("{}/{}", part.rules->ns, pod);
        }
      }
    }
    if (group.pod_sets.size() == 1) {
      group.pod_sets.front().min_count = std::min(part.need, group.pod_sets.front().count);
    } else if (part.need < part.roster->pending()) {
      group.min_pods = part.need;
      for (PodSet& set : group.pod_sets) {
        set.min_count = 0;
      }
    }
  }
  return gang;
}

// The highest priority of the pods; one that may evict nothing speaks for all.
Result<> Submitter::rank(Submission& submission, const std::vector<Part>& parts) {
  std::optional<std::int64_t> highest;
  int unresolved = 0;
  for (const Part& part : parts) {
    for (const MemberSet& set : part.roster->asking) {
      for (const SpecSource& source : set.specs) {
        const auto priority = gang_priority(source.file, {source.spec}, intake_.core, unresolved);
        if (!priority) {
          return tl::unexpected(priority.error());
        }
        highest = std::max(*priority, highest.value_or(*priority));
        submission.may_evict = submission.may_evict && !evicts_nobody(source, intake_.core);
      }
    }
  }
  unresolved_priorities_ += unresolved > 0 ? 1 : 0;
  submission.priority = highest.value_or(0);
  return {};
}

void Submitter::submit_alone(const Workload& workload, const Roster& roster) {
  const Part part{.rules = nullptr, .roster = &roster, .name = "main", .need = 0};
  Submission submission;
  submission.key = workload.key;
  submission.dialect = kFamily;
  Gang gang = gang_of(workload.key, {part});
  for (const PodSet* set : pod_sets(gang.root)) {
    submission.pod_sets.emplace_back(set->name, set->count);
  }
  submission.created_seconds = gang.created_seconds;
  const auto ranked = rank(submission, {part});
  if (roster.objection || !ranked) {
    submission.rejection = rejected(roster.objection ? *roster.objection : ranked.error().message);
  } else {
    gang.priority = submission.priority;
    add_open(submission, gang);
  }
  intake_.reading.queue.push_back(std::move(submission));
}

void Submitter::add_open(Submission& submission, const Gang& gang) {
  if (!open_) {
    open_ = open_topologies(intake_);
  }
  for (const TopologyId topology : *open_) {
    Gang way = gang;
    constrain(way, topology, {});
    add_alternative(submission, std::move(way));
  }
}

void Submitter::add_ways(Submission& submission, const Gang& gang, const GatherSpec* gather,
                         const std::vector<Part>& parts) {
  if (gather == nullptr || gather->rules.empty()) {
    add_open(submission, gang);
    return;
  }
  if (!topology_) {
    const auto insists = [](const GatherRule& rule) { return rule.must || rule.multiple > 1; };
    if (std::any_of(gather->rules.begin(), gather->rules.end(), insists)) {
      submission.rejection = rejected(fmt::format("{}: {}: there is no {} \"{}\" in the input to tell the layers",
                                                  json::to_string({gather->file, gather->at.line()}), kTopologySpec,
                                                  kTopologyKind, kTopologyName));
      return;
    }
    ++no_topology_;
    add_open(submission, gang);
    return;
  }
  Engine& engine = intake_.cluster.engine();
  const auto constraint = resolve(*gather, topology_->network, engine.topology(topology_->id), ignored_);
  if (!constraint) {
    submission.rejection = rejected(constraint.error().message);
    return;
  }
  add_confined(submission, gang, *constraint, parts);
  if (!nodes_outside_) {
    nodes_outside_ = leaves_nodes_out(engine.topology(topology_->id), intake_.cluster.inventory());
  }
  if (!constraint->required && constraint->slices.empty() && *nodes_outside_) {
    Gang way = gang;
    constrain(way, hosts_only(engine), {});
    add_alternative(submission, std::move(way));
  }
}

// Members that run hold the others to their domain: to that of a required layer in any case, to that
// of preferred layers where there is room, the finest first.
void Submitter::add_confined(Submission& submission, const Gang& gang, const Constraint& constraint,
                             const std::vector<Part>& parts) {
  std::vector<NodeId> nodes;
  for (const Part& part : parts) {
    nodes.insert(nodes.end(), part.roster->nodes.begin(), part.roster->nodes.end());
  }
  const StringId name_field = intake_.cluster.inventory().strings().intern("metadata.name");
  const auto add = [&](const std::optional<std::vector<StringId>>& hosts) {
    Gang way = gang;
    constrain(way, topology_->id, constraint);
    if (hosts) {
      for_each_set(way, [&](PodSet& set) { hold_to(set.shape, *hosts, name_field); });
    }
    add_alternative(submission, std::move(way));
  };
  const int required = constraint.required.value_or(-1);
  for (int level = constraint.preferred.value_or(-1); level > required && !nodes.empty(); --level) {
    if (const auto hosts = neighbours(intake_.cluster, topology_->id, level, nodes)) {
      add(hosts);
    }
  }
  add(required < 0 ? std::nullopt : neighbours(intake_.cluster, topology_->id, required, nodes));
}

}  // namespace gantree::koordinator
