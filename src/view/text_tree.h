// The tree of one topology as text: one line a row of hosts, and folded what no
// gang touched.
#pragma once

#include <vector>

#include "view/outline.h"
#include "view/scene.h"
#include "view/terminal_text.h"
#include "view/text_layout.h"

namespace gantree::view {

// Where the lines would be more than options.max_lines, first all that no gang
// touched is folded, then the lowest levels, then the last domains of the level
// that is left: the result is never much longer than that.
[[nodiscard]] std::vector<TextLine> draw_tree(const Scene& scene, const OutlineEntry& outline, const Layout& layout,
                                              const TextOptions& options);

}  // namespace gantree::view
