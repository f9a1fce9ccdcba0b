// An explanation as JSON, with nothing left out.
#pragma once

#include "cycle/why.h"
#include "json/write.h"

namespace gantree::view {

// The cluster is as the cycle left it.
[[nodiscard]] json::Out explanation_to_json(const Explanation& why, Cluster& cluster);

}  // namespace gantree::view
