// Why a gang waits or landed where it did, as a screenful of text.
#pragma once

#include <string>
#include <vector>

#include "explain/why.h"
#include "view/present.h"
#include "view/terminal_text.h"

namespace gantree::view {

// `known`: what the cluster says of its gangs. What would happen to one of those is a matter of its own. The cluster
// is as the cycle left it.
[[nodiscard]] std::string explanation_to_text(const Explanation& why, const std::vector<PresentGang>& known,
                                              Cluster& cluster, const TextOptions& options);

}  // namespace gantree::view
