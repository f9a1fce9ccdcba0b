#include "oracle/milp.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "oracle/formulation.h"

namespace gantree::oracle {
namespace {

using Status = IntegerProgram::Status;

Solution checked(const Problem& problem, Assignment assignment) {
  if (const auto wrong = fault(problem, assignment)) {
    throw std::logic_error("the solver is wrong: " + *wrong);
  }
  Score found = score(problem, assignment);
  return {.assignment = std::move(assignment), .score = std::move(found)};
}

// No part of the score can be below this: every unit uses a domain, and a
// level has no fewer used domains than the one above.
int floor_of(const Problem& problem, std::size_t part, const Score& score) {
  const auto levels = static_cast<std::size_t>(problem.levels);
  if (part % levels != 0) {
    return score[part - 1];
  }
  const auto depth = static_cast<int>(part / levels);
  const auto units = std::ranges::count_if(problem.units, [&](const Problem::Unit& unit) {
    return unit.packed && unit.depth == depth &&
           std::ranges::any_of(unit.pod_sets, [&](std::size_t s) { return problem.pod_sets[s].count > 0; });
  });
  return std::max(part / levels + 1 == score.size() / levels ? 1 : 0, static_cast<int>(units));
}

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

}  // namespace

ProvenAnswer best_by_program(const Problem& problem) {
  if (too_many(problem)) {
    return {.proven = true, .solution = std::nullopt};
  }
  Formulation formulation(problem, Naming::kEach, Minima::kIgnored);
  ProvenAnswer answer;
  for (std::size_t part = 0; part < formulation.parts(); ++part) {
    if (!answer.solution || answer.solution->score[part] > floor_of(problem, part, answer.solution->score)) {
      const auto found = formulation.program().minimize(formulation.part(part));
      if (found.status == Status::kInfeasible && answer.solution) {
        throw std::logic_error("the solver lost a solution that it had found");
      }
      if (found.status != Status::kOptimal) {
        return {.proven = found.status == Status::kInfeasible, .solution = std::nullopt};
      }
      answer.solution = checked(problem, formulation.read(found.values));
    }
    formulation.limit(formulation.part(part), answer.solution->score[part]);
  }
  answer.proven = true;
  return answer;
}

ProvenAnswer any_by_program(const Problem& problem) {
  if (too_many(problem)) {
    return {.proven = true, .solution = std::nullopt};
  }
  Formulation formulation(problem, Naming::kEach, Minima::kIgnored);
  const auto found = formulation.program().minimize({});
  if (found.status != Status::kOptimal) {
    return {.proven = found.status == Status::kInfeasible, .solution = std::nullopt};
  }
  return {.proven = true, .solution = checked(problem, formulation.read(found.values))};
}

Proof all_fit(const Problem& problem, double seconds) {
  if (too_many(problem)) {
    return Proof::kNo;
  }
  Formulation formulation(problem, Naming::kKinds, Minima::kIgnored);
  switch (formulation.program().minimize({}, seconds).status) {
    case Status::kOptimal:
      return Proof::kYes;
    case Status::kInfeasible:
      return Proof::kNo;
    case Status::kGaveUp:
      break;
  }
  return Proof::kUnknown;
}

MostPods most_pods(const Problem& problem, double seconds) {
  Formulation formulation(problem, Naming::kEach, Minima::kHeld);
  int all = 0;
  for (const Problem::PodSet& set : problem.pod_sets) {
    all += set.count;
  }
  formulation.limit(formulation.missing(), all - 1);  // "placed with nothing" is no answer
  const auto found = formulation.program().minimize(formulation.missing(), seconds);
  if (found.status == Status::kInfeasible) {
    return {.fits = Proof::kNo, .pods = 0, .proven = true};
  }
  if (found.status == Status::kGaveUp) {
    return {};
  }
  const Assignment assignment = formulation.read(found.values);
  int pods = 0;
  Problem started = problem;
  for (std::size_t s = 0; s < assignment.size(); ++s) {
    started.pod_sets[s].count = std::accumulate(assignment[s].begin(), assignment[s].end(), 0);
    pods += started.pod_sets[s].count;
  }
  checked(started, assignment);
  return {.fits = Proof::kYes, .pods = pods, .proven = true};
}

Improvement improve(const Problem& problem, const Score& reached, double seconds) {
  Formulation kinds(problem, Naming::kKinds, Minima::kIgnored);
  std::optional<Formulation> each;
  for (std::size_t part = 0; part < reached.size(); ++part) {
    if (reached[part] > floor_of(problem, part, reached)) {
      // First without names: that a better one cannot be is mostly seen there.
      Formulation fewer = kinds;
      fewer.limit(fewer.part(part), reached[part] - 1);
      const auto bound = fewer.program().minimize({}, seconds);
      if (bound.status != Status::kInfeasible) {
        each.emplace(problem, Naming::kEach, Minima::kIgnored);
        for (std::size_t before = 0; before < part; ++before) {
          each->limit(each->part(before), reached[before]);
        }
        each->limit(each->part(part), reached[part] - 1);
        const auto found = each->program().minimize(each->part(part), seconds);
        if (found.status == Status::kOptimal) {
          Solution solution = checked(problem, each->read(found.values));
          const int least = solution.score[part];
          return {.possible = Proof::kYes, .part = part, .least = least, .solution = std::move(solution)};
        }
        if (found.status == Status::kGaveUp) {
          return {.possible = Proof::kUnknown, .part = part};
        }
      }
    }
    kinds.limit(kinds.part(part), reached[part]);
  }
  return {.possible = Proof::kNo};
}

}  // namespace gantree::oracle
