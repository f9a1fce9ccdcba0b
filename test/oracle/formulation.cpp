#include "oracle/formulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gantree::oracle {
namespace {

constexpr double kNone = -IntegerProgram::kNoLimit;

std::size_t to(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

Formulation::Formulation(const Problem& problem, Naming naming, Minima minima)
    : problem_(problem), named_(naming == Naming::kEach || minima == Minima::kHeld), minima_(minima == Minima::kHeld) {
  for (int level = 0; level < problem.levels; ++level) {
    auto& domains = hosts_.emplace_back(to(problem.domains[to(level)]));
    for (std::size_t h = 0; h < problem.hosts.size(); ++h) {
      domains[to(problem.domain[to(level)][h])].push_back(h);
    }
  }
  add_groups({&problem.root});
  add_capacity();
  if (minima_) {
    const int root = program_.add_column(1);
    program_.add_row(1, {{root, 1}}, 1);
    add_starts(problem.root, root);
  }
  for (Kind& kind : kinds_) {
    if (kind.unit->required) {
      add_required(kind);
    }
  }
  add_exclusive();
  if (!minima_) {
    add_slices();
    add_score();
  }
}

// ---- what is alike ----

std::string Formulation::unit_signature(const std::optional<std::size_t>& unit) const {
  if (!unit) {
    return "-";
  }
  const Problem::Unit& of = problem_.units[*unit];
  return fmt::format("{},{},{},{}", of.required.value_or(-1), of.exclusive.value_or(-1), of.packed, of.depth);
}

std::string Formulation::signature(std::size_t pod_set) {
  const Problem::PodSet& of = problem_.pod_sets[pod_set];
  std::string text = fmt::format("set {} [{}] [{}] {}", of.count, fmt::join(of.request, ","), fmt::join(of.allowed, ""),
                                 unit_signature(of.unit));
  for (const Slice& slice : of.slices) {
    text += fmt::format(" {}/{}", slice.size, slice.level);
  }
  return named_ ? fmt::format("{}", next_name_++) : text;
}

std::string Formulation::signature(const Problem::Group& group) {
  std::vector<std::string> below;
  for (const std::size_t pod_set : group.pod_sets) {
    below.push_back(signature(pod_set));
  }
  for (const Problem::Group& nested : group.groups) {
    below.push_back(signature(nested));
  }
  std::ranges::sort(below);
  return fmt::format("group {} ({})", unit_signature(group.unit), fmt::join(below, ";"));
}

std::size_t Formulation::add_leaf(const std::vector<std::size_t>& alike) {
  Leaf leaf{.pod_set = alike.front(), .sets = static_cast<int>(alike.size()), .pods = {}};
  const Problem::PodSet& of = problem_.pod_sets[leaf.pod_set];
  const int all = of.count * leaf.sets;
  IntegerProgram::Terms terms;
  for (std::size_t h = 0; h < problem_.hosts.size(); ++h) {
    const int most = of.allowed[h] ? std::min(all, room(problem_.free[h], of.request)) : 0;
    leaf.pods.push_back(program_.add_column(most));
    most_[leaf.pods.back()] = most;
    terms.emplace_back(leaf.pods.back(), 1);
  }
  if (minima_) {
    missing_.push_back(program_.add_column(of.count));
    terms.emplace_back(missing_.back(), 1);
  }
  program_.add_row(all, terms, all);
  leaves_.push_back(std::move(leaf));
  return leaves_.size() - 1;
}

void Formulation::add_kind(const std::optional<std::size_t>& unit, std::size_t groups,
                           std::vector<std::size_t> leaves) {
  if (unit && !leaves.empty()) {
    kinds_.push_back({.unit = &problem_.units[*unit],
                      .groups = static_cast<int>(groups),
                      .leaves = std::move(leaves),
                      .inside = {}});
  }
}

std::vector<std::size_t> Formulation::add_groups(const std::vector<const Problem::Group*>& alike) {
  std::map<std::string, std::vector<std::size_t>> sets;
  std::map<std::string, std::vector<const Problem::Group*>> groups;
  for (const Problem::Group* group : alike) {
    for (const std::size_t pod_set : group->pod_sets) {
      if (problem_.pod_sets[pod_set].count > 0) {
        sets[signature(pod_set)].push_back(pod_set);
      }
    }
    for (const Problem::Group& nested : group->groups) {
      groups[signature(nested)].push_back(&nested);
    }
  }
  std::vector<std::size_t> leaves;
  for (const auto& [text, members] : sets) {
    leaves.push_back(add_leaf(members));
    add_kind(problem_.pod_sets[members.front()].unit, members.size(), {leaves.back()});
  }
  for (const auto& [text, members] : groups) {
    const std::vector<std::size_t> theirs = add_groups(members);
    leaves.insert(leaves.end(), theirs.begin(), theirs.end());
  }
  add_kind(alike.front()->unit, alike.size(), leaves);
  return leaves;
}

int Formulation::each(std::size_t leaf, int groups) const {
  return set(leaf).count * leaves_[leaf].sets / groups;
}

const std::vector<std::size_t>& Formulation::hosts_in(int level, int domain) const {
  return hosts_[to(level)][to(domain)];
}

int Formulation::above(int level, int domain, int at) const {
  return problem_.domain[to(at)][hosts_in(level, domain).front()];
}

// ---- what has to hold ----

// A group starts with its minima or not at all.
void Formulation::add_starts(const Problem::Group& group, int started) {
  IntegerProgram::Terms own{{started, -group.min_pods.value_or(0)}};
  int pods = 0;
  for (const std::size_t pod_set : group.pod_sets) {
    const auto leaf = std::ranges::find(leaves_, pod_set, &Leaf::pod_set);
    if (leaf == leaves_.end()) {
      continue;
    }
    const int missing = missing_[static_cast<std::size_t>(leaf - leaves_.begin())];
    const int count = problem_.pod_sets[pod_set].count;
    program_.add_row(kNone, {{missing, 1}, {started, problem_.pod_sets[pod_set].min_count}}, count);
    program_.add_row(count, {{missing, 1}, {started, count}}, IntegerProgram::kNoLimit);
    own.emplace_back(missing, -1);
    pods += count;
  }
  program_.add_row(-pods, own, IntegerProgram::kNoLimit);
  IntegerProgram::Terms nested;
  for (const Problem::Group& below : group.groups) {
    const int column = program_.add_column(1);
    program_.add_row(kNone, {{column, 1}, {started, -1}}, 0);
    nested.emplace_back(column, 1);
    add_starts(below, column);
  }
  const auto groups = static_cast<int>(group.groups.size());
  nested.emplace_back(started, -std::min(groups, group.min_groups.value_or(groups)));
  program_.add_row(0, nested, IntegerProgram::kNoLimit);
}

void Formulation::add_capacity() {
  for (std::size_t h = 0; h < problem_.hosts.size(); ++h) {
    for (std::size_t r = 0; r < problem_.free[h].size(); ++r) {
      IntegerProgram::Terms asked;
      for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        if (set(leaf).request[r] > 0 && most_.at(leaves_[leaf].pods[h]) > 0) {
          asked.emplace_back(leaves_[leaf].pods[h], static_cast<double>(set(leaf).request[r]));
        }
      }
      if (asked.size() > 1) {  // one pod set alone is held by its columns' limits
        program_.add_row(kNone, asked, static_cast<double>(problem_.free[h][r]));
      }
    }
  }
}

// In every domain of the level whole groups.
void Formulation::add_required(Kind& kind) {
  const int level = *kind.unit->required;
  IntegerProgram::Terms all;
  for (int d = 0; d < problem_.domains[to(level)]; ++d) {
    kind.inside.push_back(program_.add_column(kind.groups));
    all.emplace_back(kind.inside.back(), 1);
    for (const std::size_t leaf : kind.leaves) {
      const int most = each(leaf, kind.groups);
      IntegerProgram::Terms pods{{kind.inside.back(), -most}};
      for (const std::size_t h : hosts_in(level, d)) {
        pods.emplace_back(leaves_[leaf].pods[h], 1);
      }
      program_.add_row(minima_ ? kNone : 0, pods, 0);
    }
  }
  program_.add_row(minima_ ? 0 : kind.groups, all, kind.groups);
}

void Formulation::add_exclusive() {
  const auto in = [&](const Kind& kind, int level, int d, double factor, IntegerProgram::Terms& out) {
    for (int at = 0; at < static_cast<int>(kind.inside.size()); ++at) {
      if (above(*kind.unit->required, at, level) == d) {
        out.emplace_back(kind.inside[to(at)], factor);
      }
    }
  };
  for (std::size_t a = 0; a < kinds_.size(); ++a) {
    const Kind& kind = kinds_[a];
    if (!kind.unit->exclusive) {
      continue;
    }
    const int level = *kind.unit->exclusive;
    for (int d = 0; d < problem_.domains[to(level)]; ++d) {
      IntegerProgram::Terms own;
      in(kind, level, d, 1, own);
      program_.add_row(0, own, 1);
      // Others that want to be alone there or further down.
      for (std::size_t b = 0; b < kinds_.size(); ++b) {
        const Kind& other = kinds_[b];
        const bool related = std::ranges::any_of(
            kind.leaves, [&](std::size_t leaf) { return std::ranges::count(other.leaves, leaf) > 0; });
        if (!related && other.unit->exclusive && *other.unit->exclusive >= level) {
          IntegerProgram::Terms both;
          in(kind, level, d, other.groups, both);
          in(other, level, d, 1, both);
          program_.add_row(0, both, other.groups);
        }
      }
    }
  }
}

// Pods in a domain = size * pieces, and of every pod set in one domain the last piece besides.
void Formulation::add_slices() {
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    const int count = set(leaf).count;
    for (const Slice& slice : set(leaf).slices) {
      const int remainder = count % slice.size;
      Columns lasts;
      for (int d = 0; d < problem_.domains[to(slice.level)]; ++d) {
        IntegerProgram::Terms balance;
        for (const std::size_t h : hosts_in(slice.level, d)) {
          balance.emplace_back(leaves_[leaf].pods[h], 1);
        }
        balance.emplace_back(program_.add_column(count / slice.size * leaves_[leaf].sets), -slice.size);
        lasts.push_back(program_.add_column(remainder > 0 ? leaves_[leaf].sets : 0));
        balance.emplace_back(lasts.back(), -remainder);
        program_.add_row(0, balance, 0);
      }
      if (remainder == 0) {
        continue;
      }
      IntegerProgram::Terms all;
      for (const int last : lasts) {
        all.emplace_back(last, 1);
      }
      program_.add_row(leaves_[leaf].sets, all, leaves_[leaf].sets);
      // Where whole groups are, so are their last pieces.
      for (const Kind& kind : kinds_) {
        if (std::ranges::count(kind.leaves, leaf) == 0 || kind.inside.empty() || *kind.unit->required > slice.level) {
          continue;
        }
        for (int d = 0; d < static_cast<int>(kind.inside.size()); ++d) {
          IntegerProgram::Terms inside{{kind.inside[to(d)], -leaves_[leaf].sets / kind.groups}};
          for (int below = 0; below < static_cast<int>(lasts.size()); ++below) {
            if (above(slice.level, below, *kind.unit->required) == d) {
              inside.emplace_back(lasts[to(below)], 1);
            }
          }
          program_.add_row(0, inside, 0);
        }
      }
    }
  }
}

// ---- how good it is ----

void Formulation::add_score() {
  int depths = 0;
  for (const Problem::Unit& unit : problem_.units) {
    depths = std::max(depths, unit.packed ? unit.depth + 1 : 0);
  }
  parts_.resize(to((depths + 1) * problem_.levels));
  for (const Kind& kind : kinds_) {
    if (kind.unit->packed) {
      count_domains(kind.leaves, kind.groups, to(kind.unit->depth * problem_.levels));
    }
  }
  std::vector<std::size_t> all(leaves_.size());
  std::iota(all.begin(), all.end(), 0U);
  count_domains(all, 1, to(depths * problem_.levels));
}

// By domain, how many of these groups have pods there: at least as many as the pods of each leaf make up.
void Formulation::count_domains(const std::vector<std::size_t>& leaves, int groups, std::size_t first_part) {
  Columns around;
  for (int level = 0; level < problem_.levels; ++level) {
    Columns used;
    IntegerProgram::Terms all;
    for (int d = 0; d < problem_.domains[to(level)]; ++d) {
      used.push_back(program_.add_column(groups));
      all.emplace_back(used.back(), 1);
      for (const std::size_t leaf : leaves) {
        IntegerProgram::Terms inside;
        int most = 0;
        for (const std::size_t h : hosts_in(level, d)) {
          if (most_.at(leaves_[leaf].pods[h]) > 0) {
            inside.emplace_back(leaves_[leaf].pods[h], 1);
            most += most_.at(leaves_[leaf].pods[h]);
          }
        }
        if (most > 0) {
          inside.emplace_back(used.back(), -std::min(most, each(leaf, groups)));
          program_.add_row(kNone, inside, 0);
        }
      }
      if (level > 0) {
        program_.add_row(kNone, {{used.back(), 1}, {around[to(above(level, d, level - 1))], -1}}, 0);
      }
    }
    program_.add_row(groups, all, IntegerProgram::kNoLimit);
    Columns& part = parts_[first_part + to(level)];
    part.insert(part.end(), used.begin(), used.end());
    around = std::move(used);
  }
}

void Formulation::limit(const Columns& columns, int most) {
  IntegerProgram::Terms terms;
  for (const int column : columns) {
    terms.emplace_back(column, 1);
  }
  program_.add_row(kNone, terms, most);
}

Assignment Formulation::read(const std::vector<int>& values) const {
  Assignment assignment(problem_.pod_sets.size(), std::vector<int>(problem_.hosts.size(), 0));
  for (const Leaf& leaf : leaves_) {
    for (std::size_t h = 0; h < problem_.hosts.size(); ++h) {
      assignment[leaf.pod_set][h] = values[to(leaf.pods[h])];
    }
  }
  return assignment;
}

}  // namespace gantree::oracle
