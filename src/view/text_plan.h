// A whole plan as text: the tree of every topology with the gangs in it, and the
// gangs one by one.
#pragma once

#include <string>

#include "model/decision.h"
#include "state/cluster.h"
#include "view/terminal_text.h"

namespace gantree::view {

// The cluster is as the plan leaves it: with the placed gangs assumed and the evicted ones gone.
[[nodiscard]] std::string text_plan(Cluster& cluster, const Plan& plan, const TextOptions& options);

}  // namespace gantree::view
