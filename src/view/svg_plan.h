// A whole plan as one picture that a person would put into a report.
#pragma once

#include <string>

#include "model/decision.h"
#include "state/cluster.h"

namespace gantree::view {

// Self-contained SVG: every block a panel, every rack a column of hosts, every
// host filled by what was in use before, what each gang got and what is free;
// below, the gangs by colour and letter with where they are or why they wait.
// The cluster is as the plan leaves it: with the placed gangs assumed and the evicted ones gone.
[[nodiscard]] std::string svg_plan(Cluster& cluster, const Plan& plan);

}  // namespace gantree::view
