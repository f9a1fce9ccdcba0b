// From pods on hosts to hosts in rank order.
#pragma once

#include <vector>

#include "engine/gang_plan.h"
#include "engine/pack.h"
#include "model/decision.h"

namespace gantree {

// Consecutive ranks share a host, then a lowest domain, then the next one up. So they do from one pod set to the next
// of a group that asks to be together: workers begin where their leader is. Where slices leave a smaller last piece,
// the domain that holds it comes last on every level, so that piece i is ranks i*size up to (i+1)*size.
[[nodiscard]] Placement in_rank_order(const Gang& gang, const GangPlan& plan, const std::vector<Shares>& shares,
                                      const TreeOf& tree_of);

}  // namespace gantree
