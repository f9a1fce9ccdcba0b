// The exact half of packing identical pods inside one domain.
#pragma once

#include <vector>

#include "engine/budget.h"
#include "engine/pack.h"

namespace gantree {

// The placement of `pods` pods inside `domain` that uses the fewest domains per
// level, from the top down to hosts. Exact as far as the budget goes, level by
// level; the levels it no longer reaches are packed greedily.
//
// Requires that the domain holds the pods. `incumbent`, where given, is the
// number of domains per level of a placement elsewhere: the answer is empty
// where this domain is proven to be no better than it.
[[nodiscard]] Shares pack_exactly(const SlotCounts& counts, Domain domain, int pods, const std::vector<int>* incumbent,
                                  Budget& budget);

}  // namespace gantree
