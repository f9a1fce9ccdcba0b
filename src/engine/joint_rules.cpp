#include <algorithm>

#include "engine/joint_limit.h"
#include "engine/joint_tables.h"

namespace gantree {

namespace {

bool related(const JointRule& a, const JointRule& b) {
  const auto holds = [](const JointRule& outer, const JointRule& inner) {
    return std::all_of(inner.parts.begin(), inner.parts.end(), [&](std::size_t p) {
      return std::find(outer.parts.begin(), outer.parts.end(), p) != outer.parts.end();
    });
  };
  return holds(a, b) || holds(b, a);
}

}  // namespace

// As much of a combination as rules and slices allow in a domain. "Alone" is
// left to finish(), since it leaves a choice.
std::uint64_t Joint::permitted(Domain domain, std::uint64_t combination) const {
  for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
    const int pods = combinations_.pods(combination, p);
    if (const int rest = pods % problem_.parts[p].counts->unit(domain.level); rest != 0) {
      combination = combinations_.without(combination, p) + combinations_.of(p, pods - rest);
    }
  }
  // Dropping a group can leave another one incomplete that contains it.
  for (bool again = true; again;) {
    again = false;
    for (const JointRule& rule : problem_.rules) {
      if (rule.level != domain.level) {
        continue;
      }
      const bool taken = rule.occupied != nullptr && (*rule.occupied)[domain.index];
      int whole = taken ? 0 : rule.exclusive ? 1 : rule.groups;
      for (const std::size_t p : rule.parts) {
        whole = std::min(whole, combinations_.pods(combination, p) / each(p, rule.groups));
      }
      for (const std::size_t p : rule.parts) {
        if (const int most = whole * each(p, rule.groups); combinations_.pods(combination, p) > most) {
          combination = combinations_.without(combination, p) + combinations_.of(p, most);
          again = true;
        }
      }
    }
  }
  return combination;
}

// Adds what a domain that holds this combination costs at its own level.
void Joint::charge(Domain domain, std::uint64_t combination, std::uint64_t* cost) const {
  const auto count = [&](int depth, int groups) {
    const int field = depth * tree_.levels() + domain.level;
    const int shift = 16 * (kFieldsPerWord - 1 - field % kFieldsPerWord);
    cost[field / kFieldsPerWord] += static_cast<std::uint64_t>(groups) << shift;
  };
  const auto here = [&](std::size_t p) { return combinations_.pods(combination, p) > 0; };
  const auto known = [&](const UsedDomains& used) {
    return !used.empty() && used[static_cast<std::size_t>(domain.level)][domain.index];
  };
  for (const JointUnit& unit : problem_.units) {
    if (known(unit.used)) {
      continue;
    }
    // So many groups have pods here, at the least.
    int groups = 0;
    for (const std::size_t p : unit.parts) {
      const int size = each(p, unit.groups);
      groups = std::max(groups, (combinations_.pods(combination, p) + size - 1) / size);
    }
    count(unit.depth, groups);
  }
  if (count_union_ && !known(problem_.used)) {
    count(union_depth_, 1);
  }
  for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
    if (here(p)) {
      cost[words_ - 1] += static_cast<std::uint64_t>(problem_.parts[p].counts->capacity(domain));
      break;  // the tightest fit, by its first part
    }
  }
}

// Whether those that want to be alone in a domain around all of this can be.
bool Joint::alone_above() const {
  return std::none_of(problem_.rules.begin(), problem_.rules.end(), [&](const JointRule& rule) {
    if (!rule.exclusive || rule.level >= problem_.within.level) {
      return false;
    }
    const std::uint32_t domain = tree_.ancestor(problem_.within.level, problem_.within.index, rule.level);
    return rule.groups > 1 || (rule.occupied != nullptr && (*rule.occupied)[domain]) ||
           std::any_of(problem_.rules.begin(), problem_.rules.end(), [&](const JointRule& other) {
             return other.exclusive && other.level >= rule.level && !related(rule, other);
           });
  });
}

// Where groups want to be alone that are not parts of each other, some of them have to stay out: every way to choose,
// from a rule on.
void Joint::ways_to_be_alone(Domain domain, std::uint64_t combination, std::size_t next,
                             std::vector<std::uint64_t>& ways) const {
  const auto drop = [&](std::uint64_t from, const JointRule& rule) {
    for (const std::size_t p : rule.parts) {
      from = combinations_.without(from, p);
    }
    return from;
  };
  for (; next < problem_.rules.size(); ++next) {
    const JointRule& kept = problem_.rules[next];
    if (!kept.exclusive || kept.level != domain.level || drop(combination, kept) == combination) {
      continue;
    }
    std::uint64_t only = combination;
    for (const JointRule& other : problem_.rules) {
      if (other.exclusive && other.level >= domain.level && !related(kept, other)) {
        only = drop(only, other);
      }
    }
    if (only != combination) {
      ways_to_be_alone(domain, only, next + 1, ways);
      ways_to_be_alone(domain, drop(combination, kept), next + 1, ways);
      return;
    }
  }
  ways.push_back(combination);
}

// From what the children hold together to what the domain holds.
void Joint::finish(Table& table, const Front& sum) {
  std::vector<std::uint64_t> own(words_);
  std::vector<std::uint64_t> ways;
  Front& all = finished_;
  all.clear();
  const auto add_entry = [&](std::size_t entry, std::uint64_t combination) {
    std::copy_n(cost(sum, entry), words_, own.begin());
    if (combination != 0 && table.domain.level >= 0 && !problem_.any) {
      charge(table.domain, combination, own.data());
    }
    append(all, combination, own.data(), entry, 0);
  };
  for (std::size_t entry = 0; entry < sum.size() && !stopped(); ++entry) {
    if (table.domain.level < 0) {
      add_entry(entry, sum.combination[entry]);
      continue;
    }
    const std::uint64_t combination = permitted(table.domain, sum.combination[entry]);
    if (exclusive_rules_ < 2) {
      add_entry(entry, combination);
      continue;
    }
    ways.clear();
    ways_to_be_alone(table.domain, combination, 0, ways);
    for (const std::uint64_t way : ways) {
      add_entry(entry, permitted(table.domain, way));
    }
  }
  table.front = best_of(all);
}

}  // namespace gantree
