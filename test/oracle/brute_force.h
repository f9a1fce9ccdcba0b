// The exact answer by trying everything: for a handful of hosts and pods.
#pragma once

#include <optional>

#include "oracle/problem.h"

namespace gantree::oracle {

// The best assignment of exactly `count` pods a pod set; none: there is none.
[[nodiscard]] std::optional<Solution> best_by_trying(const Problem& problem);
// The first one found.
[[nodiscard]] std::optional<Solution> any_by_trying(const Problem& problem);

}  // namespace gantree::oracle
