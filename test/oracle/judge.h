// Holds the engine's answers against an exact solver's.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "oracle/milp.h"
#include "oracle/problem.h"
#include "support/world.h"

namespace gantree::oracle {

struct Solver {
  std::function<ProvenAnswer(const Problem&)> any;
  std::function<ProvenAnswer(const Problem&)> best;
};
[[nodiscard]] Solver trying();
[[nodiscard]] Solver programming();

struct Verdict {
  std::optional<std::string> fault;  // what the engine did wrong, in a sentence
  int undecided = 0;                 // questions that the solver ran out of time for
  int placed = 0;
  int refused = 0;
};

// Lets the gangs of an instance ask one after the other, books what is placed,
// and stops at the first wrong answer.
[[nodiscard]] Verdict judge(const Instance& instance, const Solver& solver);

// What is wrong with the order of ranks on the hosts of one pod set; or none:
// every domain of every level is visited once, and every slice lies in one.
[[nodiscard]] std::optional<std::string> rank_fault(const Problem& problem, std::size_t pod_set,
                                                    const test::NamedShares& shares);

}  // namespace gantree::oracle
