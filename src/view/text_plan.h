// A whole plan as text: the tree of every topology with the gangs in it, and the
// gangs one by one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/decision.h"
#include "state/cluster.h"
#include "view/terminal_text.h"

namespace gantree::view {

// The tree of every topology in which a gang has a place, each followed by an empty line; one line where there is no
// topology.
[[nodiscard]] std::vector<TextLine> draw_scenes(Cluster& cluster, std::span<const Decision> decisions,
                                                const TextOptions& options);

// The cluster is as the plan leaves it: with the placed gangs assumed and the evicted ones gone.
[[nodiscard]] std::string text_plan(Cluster& cluster, const Plan& plan, const TextOptions& options);

}  // namespace gantree::view
