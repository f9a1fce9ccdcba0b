// A host as a few characters: who has which part of it.
#pragma once

#include <string>
#include <vector>

#include "view/scene.h"
#include "view/terminal_text.h"

namespace gantree::view {

// Splits `width` columns over the parts by size. A part that is not zero gets at
// least one column while there are any: earlier parts first.
[[nodiscard]] std::vector<int> apportion(const std::vector<std::int64_t>& parts, int width);

// Draws the host `width` columns wide: what was in use before, the gangs by
// letter, what is free.
void add_cell(TextLine& line, const HostView& host, int width, const Glyphs& glyphs);

}  // namespace gantree::view
