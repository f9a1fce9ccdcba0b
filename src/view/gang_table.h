// The gangs of a plan one by one: where they went, or why they wait.
#pragma once

#include <vector>

#include "model/decision.h"
#include "state/cluster.h"
#include "view/terminal_text.h"

namespace gantree::view {

// Placed gangs with their letters first, then those that are evicted for them, those that
// wait and those rejected; each in the order of the plan. `resource` is the one whose sum is shown.
[[nodiscard]] std::vector<TextLine> draw_gangs(Cluster& cluster, ResourceId resource, const Plan& plan,
                                               const TextOptions& options);

}  // namespace gantree::view
