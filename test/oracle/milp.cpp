#include "oracle/milp.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "oracle/integer_program.h"

namespace gantree::oracle {
namespace {

using Columns = std::vector<int>;

class Formulation {
 public:
  explicit Formulation(const Problem& problem) : problem_(problem) {
    add_pods();
    add_capacity();
    add_slices();
    std::vector<std::size_t> all(problem.pod_sets.size());
    std::iota(all.begin(), all.end(), 0U);
    int depths = 0;
    for (const Problem::Unit& unit : problem.units) {
      depths = std::max(depths, unit.packed ? unit.depth + 1 : 0);
    }
    parts_.resize(static_cast<std::size_t>((depths + 1) * problem.levels));
    for (const Problem::Unit& unit : problem.units) {
      const auto used = add_domains(unit.pod_sets);
      if (unit.required) {
        limit(used[static_cast<std::size_t>(*unit.required)], 1);
      }
      if (unit.packed) {
        count(used, unit.depth);
      }
    }
    count(add_domains(all), depths);
  }

  ProvenAnswer solve(bool best) {
    ProvenAnswer answer;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (!answer.solution || answer.solution->score[part] > floor_of(part, answer.solution->score)) {
        const auto found = program_.minimize(best ? parts_[part] : Columns{});
        if (found.status == IntegerProgram::Status::kInfeasible && !answer.solution) {
          return {.proven = true, .solution = std::nullopt};
        }
        if (found.status != IntegerProgram::Status::kOptimal) {
          if (found.status == IntegerProgram::Status::kInfeasible) {
            throw std::logic_error("the solver lost a solution that it had found");
          }
          return {};
        }
        answer.solution = read(found.values);
      }
      if (!best) {
        break;
      }
      limit(parts_[part], answer.solution->score[part]);
    }
    answer.proven = true;
    return answer;
  }

 private:
  void add_pods() {
    for (const Problem::PodSet& set : problem_.pod_sets) {
      Columns& columns = pods_.emplace_back();
      IntegerProgram::Terms all;
      for (std::size_t h = 0; h < problem_.hosts.size(); ++h) {
        const int most = set.allowed[h] ? std::min(set.count, room(problem_.free[h], set.request)) : 0;
        columns.push_back(program_.add_column(most));
        all.emplace_back(columns.back(), 1);
        most_[columns.back()] = most;
      }
      program_.add_row(set.count, all, set.count);
    }
  }

  void add_capacity() {
    for (std::size_t h = 0; h < problem_.hosts.size(); ++h) {
      for (std::size_t r = 0; r < problem_.free[h].size(); ++r) {
        IntegerProgram::Terms asked;
        for (std::size_t s = 0; s < pods_.size(); ++s) {
          if (problem_.pod_sets[s].request[r] > 0 && most_.at(pods_[s][h]) > 0) {
            asked.emplace_back(pods_[s][h], static_cast<double>(problem_.pod_sets[s].request[r]));
          }
        }
        if (asked.size() > 1) {  // one pod set alone is held by its columns' limits
          program_.add_row(-IntegerProgram::kNoLimit, asked, static_cast<double>(problem_.free[h][r]));
        }
      }
    }
  }

  // Pods in a domain = size * pieces, and in one domain the last piece besides.
  void add_slices() {
    for (std::size_t s = 0; s < pods_.size(); ++s) {
      const Problem::PodSet& set = problem_.pod_sets[s];
      for (const Slice& slice : set.slices) {
        const int remainder = set.count % slice.size;
        IntegerProgram::Terms lasts;
        for (int d = 0; d < problem_.domains[static_cast<std::size_t>(slice.level)]; ++d) {
          IntegerProgram::Terms balance;
          for (const std::size_t h : hosts_in(slice.level, d)) {
            balance.emplace_back(pods_[s][h], 1);
          }
          balance.emplace_back(program_.add_column(set.count / slice.size), -slice.size);
          if (remainder > 0) {
            lasts.emplace_back(program_.add_column(1), 1);
            balance.emplace_back(lasts.back().first, -remainder);
          }
          program_.add_row(0, balance, 0);
        }
        if (remainder > 0) {
          program_.add_row(1, lasts, 1);
        }
      }
    }
  }

  // A column a domain and level that is 1 where the pod sets use it; by level.
  std::vector<Columns> add_domains(const std::vector<std::size_t>& sets) {
    std::vector<Columns> used;
    for (int level = 0; level < problem_.levels; ++level) {
      Columns columns;
      IntegerProgram::Terms all;
      for (int d = 0; d < problem_.domains[static_cast<std::size_t>(level)]; ++d) {
        columns.push_back(program_.add_column(1));
        all.emplace_back(columns.back(), 1);
        link(sets, level, d, columns.back());
        if (level > 0) {
          const auto host = hosts_in(level, d).front();
          const int above = problem_.domain[static_cast<std::size_t>(level) - 1][host];
          program_.add_row(-IntegerProgram::kNoLimit,
                           {{columns.back(), 1}, {used.back()[static_cast<std::size_t>(above)], -1}}, 0);
        }
      }
      program_.add_row(1, all, IntegerProgram::kNoLimit);
      used.push_back(std::move(columns));
    }
    return used;
  }

  void link(const std::vector<std::size_t>& sets, int level, int d, int column) {
    for (const std::size_t s : sets) {
      IntegerProgram::Terms inside;
      int most = 0;
      for (const std::size_t h : hosts_in(level, d)) {
        if (most_.at(pods_[s][h]) > 0) {
          inside.emplace_back(pods_[s][h], 1);
          most += most_.at(pods_[s][h]);
        }
      }
      if (most > 0) {
        inside.emplace_back(column, -std::min(most, problem_.pod_sets[s].count));
        program_.add_row(-IntegerProgram::kNoLimit, inside, 0);
      }
    }
  }

  void limit(const Columns& columns, int most) {
    IntegerProgram::Terms terms;
    for (const int column : columns) {
      terms.emplace_back(column, 1);
    }
    program_.add_row(-IntegerProgram::kNoLimit, terms, most);
  }

  void count(const std::vector<Columns>& used, int depth) {
    for (int level = 0; level < problem_.levels; ++level) {
      const auto& columns = used[static_cast<std::size_t>(level)];
      Columns& part = parts_[static_cast<std::size_t>(depth * problem_.levels + level)];
      part.insert(part.end(), columns.begin(), columns.end());
    }
  }

  // No part of the score can be below this: every unit uses a domain, and a
  // level has no fewer used domains than the one above.
  [[nodiscard]] int floor_of(std::size_t part, const Score& score) const {
    const auto levels = static_cast<std::size_t>(problem_.levels);
    if (part % levels != 0) {
      return score[part - 1];
    }
    const auto depth = static_cast<int>(part / levels);
    const auto units = std::ranges::count_if(
        problem_.units, [&](const Problem::Unit& unit) { return unit.packed && unit.depth == depth; });
    return std::max(1, static_cast<int>(units));
  }

  [[nodiscard]] Solution read(const std::vector<int>& values) const {
    Assignment assignment;
    for (const Columns& columns : pods_) {
      auto& pods = assignment.emplace_back();
      for (const int column : columns) {
        pods.push_back(values[static_cast<std::size_t>(column)]);
      }
    }
    if (const auto wrong = fault(problem_, assignment)) {
      throw std::logic_error("the solver is wrong: " + *wrong);
    }
    Score found = score(problem_, assignment);
    return {.assignment = std::move(assignment), .score = std::move(found)};
  }

  [[nodiscard]] std::vector<std::size_t> hosts_in(int level, int d) const {
    std::vector<std::size_t> hosts;
    for (std::size_t h = 0; h < problem_.hosts.size(); ++h) {
      if (problem_.domain[static_cast<std::size_t>(level)][h] == d) {
        hosts.push_back(h);
      }
    }
    return hosts;
  }

  const Problem& problem_;
  IntegerProgram program_;
  std::vector<Columns> pods_;   // [pod set][host]
  std::map<int, int> most_;     // of those columns
  std::vector<Columns> parts_;  // of the score
};

// What one host after the other can take; too little of it needs no solver.
bool too_many(const Problem& problem) {
  return std::ranges::any_of(problem.pod_sets, [&](const Problem::PodSet& set) {
    std::int64_t slots = 0;
    for (std::size_t h = 0; h < problem.hosts.size(); ++h) {
      slots += set.allowed[h] ? std::min(set.count, room(problem.free[h], set.request)) : 0;
    }
    return slots < set.count;
  });
}

ProvenAnswer solve(const Problem& problem, bool best) {
  if (too_many(problem)) {
    return {.proven = true, .solution = std::nullopt};
  }
  return Formulation(problem).solve(best);
}

}  // namespace

ProvenAnswer best_by_program(const Problem& problem) {
  return solve(problem, true);
}

ProvenAnswer any_by_program(const Problem& problem) {
  return solve(problem, false);
}

}  // namespace gantree::oracle
