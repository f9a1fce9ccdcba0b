// The gangs of a plan one by one: where they went, or why they wait.
#pragma once

#include <span>
#include <vector>

#include "model/decision.h"
#include "state/cluster.h"
#include "view/terminal_text.h"

namespace gantree::view {

// Placed gangs with their letters first, then those that wait, then those rejected;
// each in the order of the decisions. `resource` is the one whose sum is shown.
[[nodiscard]] std::vector<TextLine> draw_gangs(Cluster& cluster, ResourceId resource,
                                               std::span<const Decision> decisions, const TextOptions& options);

}  // namespace gantree::view
