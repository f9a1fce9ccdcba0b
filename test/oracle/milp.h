// The exact answer by integer programming: for some forty hosts.
#pragma once

#include <optional>

#include "oracle/problem.h"

namespace gantree::oracle {

struct ProvenAnswer {
  bool proven = false;               // false: the solver ran out of time
  std::optional<Solution> solution;  // none: there is none
};

// The best assignment of exactly `count` pods a pod set: each part of the score
// in turn, with the parts before it held at their best. Every solution is
// checked against the problem; one that the solver got wrong throws std::logic_error.
[[nodiscard]] ProvenAnswer best_by_program(const Problem& problem);
[[nodiscard]] ProvenAnswer any_by_program(const Problem& problem);

}  // namespace gantree::oracle
