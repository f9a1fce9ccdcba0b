// Why a gang waits or landed where it did, as a screenful of text.
#pragma once

#include <string>

#include "cycle/why.h"
#include "view/terminal_text.h"

namespace gantree::view {

// The cluster is as the cycle left it.
[[nodiscard]] std::string explanation_to_text(const Explanation& why, Cluster& cluster, const TextOptions& options);

}  // namespace gantree::view
