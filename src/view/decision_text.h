// Decisions in words, one paragraph a gang.
#pragma once

#include <string>
#include <vector>

#include "model/decision.h"
#include "state/cluster.h"

namespace gantree {

// Who is placed where, who waits and why; ends with a line that counts them.
[[nodiscard]] std::string decisions_to_text(const std::vector<Decision>& decisions, Cluster& cluster);

}  // namespace gantree
