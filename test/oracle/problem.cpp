#include "oracle/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace gantree::oracle {
namespace {

using test::GroupSpec;
using test::NodeSpec;
using test::PodSetSpec;
using Path = std::vector<std::string>;

bool tolerated(const test::TaintSpec& taint, const PodSetSpec& pod_set) {
  return std::ranges::any_of(pod_set.tolerations, [&](const test::TolerationSpec& toleration) {
    return (toleration.key.empty() || toleration.key == taint.key) &&
           (toleration.value.empty() || toleration.value == taint.value) &&
           (!toleration.effect || *toleration.effect == taint.effect);
  });
}

bool holds(const test::RequirementSpec& requirement, const NodeSpec& node) {
  const auto label = node.labels.find(requirement.key);
  const bool present = label != node.labels.end();
  const bool listed = present && std::ranges::count(requirement.values, label->second) > 0;
  std::int64_t number = 0;
  const bool numeric =
      present &&
      std::from_chars(label->second.data(), label->second.data() + label->second.size(), number).ec == std::errc{};
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return listed;
    case SelectorOperator::kNotIn:
      return !listed;
    case SelectorOperator::kExists:
      return present;
    case SelectorOperator::kDoesNotExist:
      return !present;
    case SelectorOperator::kGt:
      return numeric && number > requirement.bound;
    case SelectorOperator::kLt:
      return numeric && number < requirement.bound;
  }
  return false;
}

bool eligible(const PodSetSpec& pod_set, const NodeSpec& node) {
  if (!node.ready || node.cordoned) {
    return false;
  }
  for (const test::TaintSpec& taint : node.taints) {
    if (taint.effect != TaintEffect::kPreferNoSchedule && !tolerated(taint, pod_set)) {
      return false;
    }
  }
  for (const auto& [key, value] : pod_set.selector) {
    if (const auto label = node.labels.find(key); label == node.labels.end() || label->second != value) {
      return false;
    }
  }
  return !pod_set.affinity || std::ranges::any_of(*pod_set.affinity, [&](const test::TermSpec& term) {
    return !term.empty() && std::ranges::all_of(term, [&](const auto& r) { return holds(r, node); });
  });
}

// The values of the levels down to one, or none where a label is missing.
std::optional<Path> path_to(const Instance& instance, const NodeSpec& node, std::size_t levels) {
  Path path;
  for (std::size_t level = 0; level < levels; ++level) {
    const auto label = node.labels.find(instance.levels[level]);
    if (label == node.labels.end()) {
      return std::nullopt;
    }
    path.push_back(label->second);
  }
  return path;
}

std::optional<Path> domain_at(const Instance& instance, const std::string& host, int level) {
  const auto node = std::ranges::find(instance.nodes, host, &NodeSpec::name);
  return node == instance.nodes.end() ? std::nullopt : path_to(instance, *node, static_cast<std::size_t>(level) + 1);
}

// ---- exclusive domains ----

// The levels at which each pod set has to be alone, its own and its groups'.
void exclusive_levels(const GroupSpec& group, std::set<int> around, std::vector<std::set<int>>& found) {
  if (group.constraint.exclusive) {
    around.insert(*group.constraint.exclusive);
  }
  for (const PodSetSpec& pod_set : group.pod_sets) {
    found.push_back(around);
    if (pod_set.constraint.exclusive) {
      found.back().insert(*pod_set.constraint.exclusive);
    }
  }
  for (const GroupSpec& nested : group.groups) {
    exclusive_levels(nested, around, found);
  }
}

std::vector<std::set<int>> exclusive_levels(const GangSpec& gang) {
  std::vector<std::set<int>> found;
  exclusive_levels(gang.root, {}, found);
  return found;
}

// Whether a host shares a domain, at a level where either wants to be alone,
// with a pod of another gang of the same kind. Only those that want to be alone
// somewhere take part.
bool kept_out(const Instance& instance, const std::string& host, const std::set<int>& alone, const GangSpec& gang,
              const std::vector<Booking>& booked) {
  for (const Booking& other : booked) {
    if (other.gang.exclusive_kind != gang.exclusive_kind) {
      continue;
    }
    const auto theirs = exclusive_levels(other.gang);
    for (std::size_t s = 0; s < other.shares.size(); ++s) {
      if (alone.empty() || theirs[s].empty()) {
        continue;
      }
      std::set<int> levels = alone;
      levels.insert(theirs[s].begin(), theirs[s].end());
      for (const auto& [their_host, pods] : other.shares[s]) {
        for (const int level : levels) {
          if (pods > 0 && domain_at(instance, host, level) == domain_at(instance, their_host, level)) {
            return true;
          }
        }
      }
    }
  }
  return false;
}

// ---- the parts of a problem ----

std::vector<std::string> resource_names(const Instance& instance, const std::vector<const PodSetSpec*>& sets) {
  std::set<std::string> names;
  for (const NodeSpec& node : instance.nodes) {
    for (const auto& [name, amount] : node.allocatable) {
      names.insert(name);
    }
  }
  for (const PodSetSpec* pod_set : sets) {
    for (const auto& [name, amount] : pod_set->requests) {
      names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::int64_t amount_of(const test::AmountSpec& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

std::int64_t free_now(const NodeSpec& node, const std::string& resource, const std::vector<Booking>& booked) {
  std::int64_t left = amount_of(node.allocatable, resource);
  for (const test::AmountSpec& pod : node.pods) {
    left -= amount_of(pod, resource);
  }
  for (const Booking& booking : booked) {
    const auto sets = test::pod_sets(booking.gang.root);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (const auto share = booking.shares[s].find(node.name); share != booking.shares[s].end()) {
        left -= share->second * amount_of(sets[s]->requests, resource);
      }
    }
  }
  return left;
}

void number_domains(const Instance& instance, const std::vector<const NodeSpec*>& nodes, Problem& problem) {
  const bool ends_in_hosts = instance.levels.back() == kHostnameLabel;
  problem.levels = static_cast<int>(instance.levels.size()) + (ends_in_hosts ? 0 : 1);
  for (int level = 0; level < problem.levels; ++level) {
    std::map<Path, int> numbers;
    std::vector<int> domain;
    for (const NodeSpec* node : nodes) {
      Path path = *path_to(instance, *node, std::min(static_cast<std::size_t>(level) + 1, instance.levels.size()));
      if (level == problem.levels - 1) {
        path.push_back(node->name);
      }
      domain.push_back(numbers.emplace(path, static_cast<int>(numbers.size())).first->second);
    }
    problem.domain.push_back(std::move(domain));
    problem.domains.push_back(static_cast<int>(numbers.size()));
  }
}

// Adds the constrained units of a group; `next` is the number of the next pod set, `depth` the packed units around.
// Returns its pod sets and those below it.
std::vector<std::size_t> add_units(const GroupSpec& group, int depth, bool covered, std::size_t& next, Problem& problem,
                                   Problem::Group& found) {
  auto add = [&](const Constraint& constraint, const std::vector<std::size_t>& sets,
                 int at) -> std::optional<std::size_t> {
    const bool packed = constraint.packing == Packing::kPack;
    // Alone in a domain: that is one domain, so it is required as well.
    const std::optional<int> required = std::max(constraint.required, constraint.exclusive);
    if (!packed && !required) {
      return std::nullopt;
    }
    problem.units.push_back(
        {.pod_sets = sets, .required = required, .exclusive = constraint.exclusive, .packed = packed, .depth = at});
    return problem.units.size() - 1;
  };
  const bool packed = group.constraint.packing == Packing::kPack;
  const int inner = depth + (packed ? 1 : 0);
  std::vector<std::size_t> members;
  for (const PodSetSpec& pod_set : group.pod_sets) {
    problem.pod_sets[next].unit = add(pod_set.constraint, {next}, inner);
    problem.scored = problem.scored && (covered || packed || pod_set.constraint.packing == Packing::kPack);
    found.pod_sets.push_back(next);
    members.push_back(next++);
  }
  for (const GroupSpec& nested : group.groups) {
    const auto theirs = add_units(nested, inner, covered || packed, next, problem, found.groups.emplace_back());
    members.insert(members.end(), theirs.begin(), theirs.end());
  }
  found.unit = add(group.constraint, members, depth);
  found.min_pods = group.min_pods;
  found.min_groups = group.min_groups;
  return members;
}

std::set<int> domains_used(const Problem& problem, const Assignment& assignment, const std::vector<std::size_t>& sets,
                           int level) {
  std::set<int> used;
  for (const std::size_t s : sets) {
    for (std::size_t h = 0; h < problem.hosts.size(); ++h) {
      if (assignment[s][h] > 0) {
        used.insert(problem.domain[static_cast<std::size_t>(level)][h]);
      }
    }
  }
  return used;
}

// Units that want to be alone, in one domain of the coarser one's level. Which contains which is told by their sets.
std::optional<std::string> shared_domain(const Problem& problem, const Assignment& assignment) {
  for (std::size_t a = 0; a < problem.units.size(); ++a) {
    for (std::size_t b = a + 1; b < problem.units.size(); ++b) {
      const Problem::Unit& first = problem.units[a];
      const Problem::Unit& second = problem.units[b];
      const bool related = std::ranges::any_of(
          first.pod_sets, [&](std::size_t s) { return std::ranges::count(second.pod_sets, s) > 0; });
      if (!first.exclusive || !second.exclusive || related) {
        continue;
      }
      const int level = std::min(*first.exclusive, *second.exclusive);
      const std::set<int> theirs = domains_used(problem, assignment, second.pod_sets, level);
      for (const int domain : domains_used(problem, assignment, first.pod_sets, level)) {
        if (theirs.contains(domain)) {
          return fmt::format("the units of {} and {} share a domain of level {}",
                             problem.pod_sets[first.pod_sets[0]].name, problem.pod_sets[second.pod_sets[0]].name,
                             level);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Problem make_problem(const Instance& instance, const GangSpec& gang, const std::vector<Booking>& booked,
                     Moment moment) {
  const std::vector<Booking> others = moment == Moment::kNow ? booked : std::vector<Booking>{};
  Problem problem;
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : instance.nodes) {
    if (path_to(instance, node, instance.levels.size())) {
      nodes.push_back(&node);
      problem.hosts.push_back(node.name);
    }
  }
  number_domains(instance, nodes, problem);

  const auto sets = test::pod_sets(gang.root);
  const auto resources = resource_names(instance, sets);
  for (const NodeSpec* node : nodes) {
    auto& free = problem.free.emplace_back();
    for (const std::string& resource : resources) {
      free.push_back(moment == Moment::kNow ? free_now(*node, resource, others)
                                            : amount_of(node->allocatable, resource));
    }
  }

  const auto alone = exclusive_levels(gang);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    Problem::PodSet pod_set{.name = sets[s]->name,
                            .count = sets[s]->count,
                            .min_count = sets[s]->min_count,
                            .request = {},
                            .allowed = {},
                            .slices = sets[s]->constraint.slices,
                            .unit = std::nullopt};
    for (const std::string& resource : resources) {
      pod_set.request.push_back(amount_of(sets[s]->requests, resource));
    }
    for (const NodeSpec* node : nodes) {
      pod_set.allowed.push_back(eligible(*sets[s], *node) && !kept_out(instance, node->name, alone[s], gang, others));
    }
    problem.pod_sets.push_back(std::move(pod_set));
  }
  std::size_t next = 0;
  problem.scored = true;
  add_units(gang.root, 0, false, next, problem, problem.root);
  return problem;
}

int room(const std::vector<std::int64_t>& free, const std::vector<std::int64_t>& request) {
  std::int64_t most = std::numeric_limits<int>::max();
  for (std::size_t r = 0; r < request.size(); ++r) {
    if (request[r] > 0) {
      most = std::min(most, std::max<std::int64_t>(free[r], 0) / request[r]);
    }
  }
  return static_cast<int>(most);
}

bool cut_well(const Problem& problem, std::size_t pod_set, const std::vector<int>& pods_by_host) {
  const Problem::PodSet& set = problem.pod_sets[pod_set];
  for (const Slice& slice : set.slices) {
    std::map<int, int> pods;
    for (std::size_t h = 0; h < pods_by_host.size(); ++h) {
      pods[problem.domain[static_cast<std::size_t>(slice.level)][h]] += pods_by_host[h];
    }
    // Exactly one domain holds the last, smaller piece beside whole ones.
    const int remainder = set.count % slice.size;
    int uneven = 0;
    for (const auto& [domain, count] : pods) {
      if (count % slice.size != 0) {
        ++uneven;
        if (count % slice.size != remainder) {
          return false;
        }
      }
    }
    if (uneven != (remainder == 0 ? 0 : 1)) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> fault(const Problem& problem, const Assignment& assignment) {
  for (std::size_t h = 0; h < problem.hosts.size(); ++h) {
    std::vector<std::int64_t> asked(problem.free[h].size(), 0);
    for (std::size_t s = 0; s < problem.pod_sets.size(); ++s) {
      if (assignment[s][h] < 0 || (assignment[s][h] > 0 && !problem.pod_sets[s].allowed[h])) {
        return fmt::format("{} may not run on {}", problem.pod_sets[s].name, problem.hosts[h]);
      }
      for (std::size_t r = 0; r < asked.size(); ++r) {
        asked[r] += assignment[s][h] * problem.pod_sets[s].request[r];
      }
    }
    for (std::size_t r = 0; r < asked.size(); ++r) {
      if (asked[r] > 0 && asked[r] > problem.free[h][r]) {
        return fmt::format("{} is overcommitted", problem.hosts[h]);
      }
    }
  }
  for (std::size_t s = 0; s < problem.pod_sets.size(); ++s) {
    int placed = 0;
    for (const int pods : assignment[s]) {
      placed += pods;
    }
    if (placed != problem.pod_sets[s].count) {
      return fmt::format("{} has {} of {} pods", problem.pod_sets[s].name, placed, problem.pod_sets[s].count);
    }
    if (!cut_well(problem, s, assignment[s])) {
      return fmt::format("a slice of {} is torn", problem.pod_sets[s].name);
    }
  }
  for (const Problem::Unit& unit : problem.units) {
    if (unit.required && domains_used(problem, assignment, unit.pod_sets, *unit.required).size() > 1) {
      return fmt::format("the unit of {} leaves its domain of level {}", problem.pod_sets[unit.pod_sets[0]].name,
                         *unit.required);
    }
  }
  return shared_domain(problem, assignment);
}

Score score(const Problem& problem, const Assignment& assignment) {
  int depths = 0;
  for (const Problem::Unit& unit : problem.units) {
    depths = std::max(depths, unit.packed ? unit.depth + 1 : 0);
  }
  const auto levels = static_cast<std::size_t>(problem.levels);
  Score total(static_cast<std::size_t>(depths + 1) * levels, 0);
  auto count = [&](const std::vector<std::size_t>& sets, int depth) {
    for (int level = 0; level < problem.levels; ++level) {
      total[static_cast<std::size_t>(depth) * levels + static_cast<std::size_t>(level)] +=
          static_cast<int>(domains_used(problem, assignment, sets, level).size());
    }
  };
  std::vector<std::size_t> all;
  for (std::size_t s = 0; s < problem.pod_sets.size(); ++s) {
    all.push_back(s);
  }
  for (const Problem::Unit& unit : problem.units) {
    if (unit.packed) {
      count(unit.pod_sets, unit.depth);
    }
  }
  count(all, depths);
  return total;
}

}  // namespace gantree::oracle
