#include "dialects/kueue/choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/kueue/names.h"
#include "dialects/topologies.h"

namespace gantree::kueue {

namespace {

// The label of `labels` that contradicts `wanted`: the same key with another value.
const Label* contradiction(const std::vector<Label>& labels, const std::vector<Label>& wanted) {
  for (const Label& label : labels) {
    const StringId* value = label_value(wanted, label.key);
    if (value != nullptr && *value != label.value) {
      return &label;
    }
  }
  return nullptr;
}

// Why pods of a set cannot use a flavor; nothing where they can.
std::optional<std::string> unsuitable(const Flavor& flavor, const PodSetRequest& set, const Interner& strings) {
  if (const Label* label = contradiction(flavor.node_labels, set.shape.node_selector)) {
    return fmt::format("its nodes have {}={}, but the nodeSelector of pod set \"{}\" wants {}",
                       strings.text(label->key), strings.text(label->value), set.name,
                       strings.text(*label_value(set.shape.node_selector, label->key)));
  }
  std::vector<Toleration> tolerations = set.shape.tolerations;
  tolerations.insert(tolerations.end(), flavor.tolerations.begin(), flavor.tolerations.end());
  for (const Taint& taint : flavor.node_taints) {
    if (taint.effect != TaintEffect::kPreferNoSchedule && !tolerates(tolerations, taint)) {
      return fmt::format("pod set \"{}\" does not tolerate its taint {}={}", set.name, strings.text(taint.key),
                         strings.text(taint.value));
    }
  }
  return std::nullopt;
}

// Walks the combinations of flavors of several groups in lexicographic order.
class Combinations {
 public:
  explicit Combinations(const std::vector<std::vector<const FlavorQuota*>>& lists)
      : lists_(lists), positions_(lists.size(), 0) {}

  [[nodiscard]] std::vector<const FlavorQuota*> current() const {
    std::vector<const FlavorQuota*> flavors;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      flavors.push_back(lists_[i][positions_[i]]);
    }
    return flavors;
  }
  bool next() {
    for (std::size_t i = lists_.size(); i > 0; --i) {
      if (++positions_[i - 1] < lists_[i - 1].size()) {
        return true;
      }
      positions_[i - 1] = 0;
    }
    return false;
  }

 private:
  const std::vector<std::vector<const FlavorQuota*>>& lists_;
  std::vector<std::size_t> positions_;
};

Result<TopologyId> topology_of(const Unit& unit, const std::vector<const FlavorQuota*>& flavors, Intake& intake) {
  std::optional<TopologyId> topology;
  for (const FlavorQuota* entry : flavors) {
    if (!entry->flavor->topology) {
      continue;
    }
    if (topology && *topology != *entry->flavor->topology) {
      return fail(Errc::kNotFound, "it has another topology than the flavors beside it");
    }
    topology = entry->flavor->topology;
  }
  if (topology) {
    return *topology;
  }
  if (intake.levels) {
    return *intake.levels;
  }
  const TopologyRequest& request = unit.request();
  if (request.asks()) {
    if (flavors.empty()) {
      return invalid(fmt::format("{}: {} asks for a topology, but the queue has no flavors",
                                 json::to_string({request.file, request.asking_at().line()}),
                                 request.asking_annotation()));
    }
    return fail(Errc::kNotFound,
                fmt::format("it has no topologyName, but {} asks for a topology", request.asking_annotation()));
  }
  return hosts_only(intake.cluster.engine());
}

Result<Choice> resolve_unit(const Unit& unit, TopologyId id, const Topology& topology) {
  Choice choice;
  choice.topology = id;
  for (const PodSetRequest* set : unit.pod_sets) {
    const auto constraint = resolve(set->topology, id, topology);
    if (!constraint) {
      return tl::unexpected(constraint.error());
    }
    if (choice.required.empty() || constraint->required < choice.constraint.required) {
      choice.constraint = *constraint;
    }
    choice.required.push_back(constraint->required);
  }
  return choice;
}

// Fails with kNotFound where the flavors cannot serve the unit, with kInvalid where the unit's own
// request is wrong for their topology.
Result<Choice> combine(const Unit& unit, std::vector<const FlavorQuota*> flavors, Intake& intake) {
  for (std::size_t i = 1; i < flavors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (contradiction(flavors[i]->flavor->node_labels, flavors[j]->flavor->node_labels) != nullptr) {
        return fail(Errc::kNotFound,
                    fmt::format("its nodeLabels contradict those of flavor \"{}\"", flavors[j]->flavor_name));
      }
    }
  }
  const auto topology = topology_of(unit, flavors, intake);
  if (!topology) {
    return tl::unexpected(topology.error());
  }
  auto choice = resolve_unit(unit, *topology, intake.cluster.engine().topology(*topology));
  if (choice) {
    choice->elsewhere = intake.quota_alone &&
                        std::none_of(flavors.begin(), flavors.end(),
                                     [](const FlavorQuota* entry) { return entry->flavor->topology.has_value(); });
    choice->flavors = std::move(flavors);
  }
  return choice;
}

std::string name_of(const Unit& unit) {
  return unit.group_name.empty() ? fmt::format("pod set \"{}\"", unit.pod_sets.front()->name)
                                 : fmt::format("pod set group \"{}\"", unit.group_name);
}

tl::unexpected<Error> none_suits(const Unit& unit, const ClusterQueue& queue, const std::vector<std::string>& reasons) {
  const TopologyRequest& request = unit.request();
  const json::Value at = request.asks() ? request.asking_at() : unit.pod_sets.front()->at;
  const std::string where = json::to_string({request.file, at.line()}) + ": ";
  std::string why = fmt::format("{}", fmt::join(reasons, "; "));
  // Reasons that stand in the same line need not say so again.
  for (std::size_t again = why.find(where); again != std::string::npos; again = why.find(where)) {
    why.erase(again, where.size());
  }
  return fail(Errc::kNotFound,
              fmt::format("{}no flavor of ClusterQueue \"{}\" suits {}: {}", where, queue.name, name_of(unit), why));
}

std::string names_of(const std::vector<const FlavorQuota*>& flavors) {
  std::vector<std::string_view> names;
  for (const FlavorQuota* entry : flavors) {
    names.push_back(entry->flavor_name);
  }
  return fmt::format("{}", fmt::join(names, "\", \""));
}

void add_reason(std::vector<std::string>& reasons, std::string_view flavor, std::string_view why) {
  constexpr std::size_t kShown = 8;
  std::string reason = fmt::format("flavor \"{}\": {}", flavor, why);
  if (reasons.size() < kShown && std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
    reasons.push_back(std::move(reason));
  }
}

// The flavors of a group that suit every pod set of the unit.
std::vector<const FlavorQuota*> suitable_flavors(const Unit& unit, const ResourceGroup& group, const Interner& strings,
                                                 std::vector<std::string>& reasons) {
  std::vector<const FlavorQuota*> suitable;
  for (const FlavorQuota& entry : group.flavors) {
    std::optional<std::string> why;
    for (const PodSetRequest* set : unit.pod_sets) {
      why = why ? why : unsuitable(*entry.flavor, *set, strings);
    }
    if (why) {
      add_reason(reasons, entry.flavor_name, *why);
    } else {
      suitable.push_back(&entry);
    }
  }
  return suitable;
}

bool has_all_levels(const Unit& unit, const Topology& topology) {
  const std::vector<std::string_view> named = unit.named_levels();
  return std::all_of(named.begin(), named.end(), [&](std::string_view label) { return topology.level(label) >= 0; });
}

Result<TopologyId> topology_without_queue(const Unit& unit, const Setup& setup, Intake& intake) {
  Engine& engine = intake.cluster.engine();
  const TopologyRequest& request = unit.request();
  if (intake.levels && has_all_levels(unit, engine.topology(*intake.levels))) {
    return *intake.levels;
  }
  std::vector<TopologyId> candidates;
  for (const auto& [name, id] : setup.topologies) {
    if (has_all_levels(unit, engine.topology(id))) {
      candidates.push_back(id);
    }
  }
  if (candidates.size() == 1) {
    return candidates.front();
  }
  if (has_all_levels(unit, {.name = kHostnameLabel, .levels = {kHostnameLabel}})) {
    return hosts_only(engine);
  }
  const std::string where =
      fmt::format("{}: {}", json::to_string({request.file, request.asking_at().line()}), request.asking_annotation());
  const std::string levels = fmt::format("{}", fmt::join(unit.named_levels(), ", "));
  return candidates.empty()
             ? invalid(fmt::format("{}: no Topology in the input has {} (give one, or name the labels of the levels, "
                                   "coarse to fine, with --levels)",
                                   where, levels))
             : invalid(fmt::format("{}: {} Topologies in the input have {}: name a queue whose flavor says which is "
                                   "meant",
                                   where, candidates.size(), levels));
}

}  // namespace

std::vector<std::string_view> Unit::named_levels() const {
  std::vector<std::string_view> levels;
  for (const PodSetRequest* set : pod_sets) {
    for (const std::string_view level : set->topology.named_levels()) {
      if (std::find(levels.begin(), levels.end(), level) == levels.end()) {
        levels.push_back(level);
      }
    }
  }
  return levels;
}

std::vector<Unit> units_of(const JobRequest& workload) {
  std::vector<Unit> units;
  for (const PodSetRequest& set : workload.pod_sets) {
    if (set.count == 0) {
      continue;
    }
    const std::string_view name = set.topology.group_name;
    auto unit = name.empty() ? units.end() : std::find_if(units.begin(), units.end(), [&](const Unit& other) {
      return other.group_name == name;
    });
    if (unit == units.end()) {
      unit = units.insert(units.end(), Unit{.group_name = name, .pod_sets = {}});
    }
    unit->pod_sets.push_back(&set);
  }
  return units;
}

std::vector<const ResourceGroup*> groups_in_use(const Unit& unit, const ClusterQueue& queue) {
  std::vector<const ResourceGroup*> groups;
  for (const ResourceGroup& group : queue.groups) {
    const bool used = std::any_of(group.covered.begin(), group.covered.end(), [&](ResourceId id) {
      return std::any_of(unit.pod_sets.begin(), unit.pod_sets.end(),
                         [&](const PodSetRequest* set) { return set->shape.requests.get(id) > 0; });
    });
    if (used) {
      groups.push_back(&group);
    }
  }
  if (groups.empty() && !queue.groups.empty()) {
    const auto has_topology = [](const ResourceGroup& group) {
      return std::any_of(group.flavors.begin(), group.flavors.end(),
                         [](const FlavorQuota& entry) { return entry.flavor->topology.has_value(); });
    };
    const auto it = std::find_if(queue.groups.begin(), queue.groups.end(), has_topology);
    groups.push_back(it == queue.groups.end() ? &queue.groups.front() : &*it);
  }
  return groups;
}

Result<std::vector<Choice>> choices_in_queue(const Unit& unit, const ClusterQueue& queue, Intake& intake,
                                             std::size_t limit) {
  const std::vector<const ResourceGroup*> groups = groups_in_use(unit, queue);
  std::vector<std::string> reasons;
  std::vector<std::vector<const FlavorQuota*>> lists;
  for (const ResourceGroup* group : groups) {
    lists.push_back(suitable_flavors(unit, *group, intake.cluster.inventory().strings(), reasons));
    if (lists.back().empty()) {
      return none_suits(unit, queue, reasons);
    }
  }
  // A bound on the work, too: most combinations may contradict each other.
  constexpr std::size_t kMostTried = 4096;
  std::vector<Choice> choices;
  std::optional<Error> wrong_request;
  Combinations combinations(lists);
  for (std::size_t tried = 0; tried < kMostTried && choices.size() < limit; ++tried) {
    auto choice = combine(unit, combinations.current(), intake);
    if (choice) {
      choice->groups = groups;
      choices.push_back(std::move(*choice));
    } else if (choice.error().code == Errc::kInvalid) {
      wrong_request = wrong_request ? wrong_request : choice.error();
    } else {
      add_reason(reasons, names_of(combinations.current()), choice.error().message);
    }
    if (!combinations.next()) {
      break;
    }
  }
  if (choices.empty()) {
    return wrong_request ? tl::unexpected(*wrong_request) : none_suits(unit, queue, reasons);
  }
  return choices;
}

Result<std::vector<Choice>> choices_without_queue(const Unit& unit, const Setup& setup, Intake& intake) {
  Engine& engine = intake.cluster.engine();
  const auto topology = topology_without_queue(unit, setup, intake);
  if (!topology) {
    return tl::unexpected(topology.error());
  }
  std::vector<TopologyId> topologies{*topology};
  if (!unit.request().asks() && setup.partial.contains(*topology)) {
    topologies.push_back(hosts_only(engine));
  }
  std::vector<Choice> choices;
  for (const TopologyId id : topologies) {
    auto choice = resolve_unit(unit, id, engine.topology(id));
    if (!choice) {
      return tl::unexpected(choice.error());
    }
    choices.push_back(std::move(*choice));
  }
  return choices;
}

}  // namespace gantree::kueue
