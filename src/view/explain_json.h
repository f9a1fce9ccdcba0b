// An explanation as JSON, with nothing left out.
#pragma once

#include <vector>

#include "explain/why.h"
#include "json/write.h"
#include "view/present.h"

namespace gantree::view {

// `known`: what the cluster says of its gangs. What would happen to one of those is a matter of its own. The cluster
// is as the cycle left it.
[[nodiscard]] json::Out explanation_to_json(const Explanation& why, const std::vector<PresentGang>& known,
                                            Cluster& cluster);

}  // namespace gantree::view
