// What stands above a tree: which topology, and how much there is in all.
#pragma once

#include <vector>

#include "view/scene.h"
#include "view/terminal_text.h"

namespace gantree::view {

[[nodiscard]] std::vector<TextLine> draw_heading(const Scene& scene, const Totals& totals, const TextOptions& options);

}  // namespace gantree::view
