// How wide the parts of a drawn tree are.
//
//   |  label  |  cells of one line of hosts  |  free/total |
#pragma once

#include <string>

#include "view/outline.h"
#include "view/scene.h"

namespace gantree::view {

inline constexpr int kIndent = 2;     // columns a level
inline constexpr int kGap = 2;        // between label, cells and numbers
inline constexpr int kCellGroup = 8;  // cells of one column stand in groups of this many

struct Layout {
  int label = 0;   // columns of the widest row label, indented
  int cell = 1;    // columns of one host: 8, 4, 2 or 1
  int line = 1;    // hosts on one line
  int number = 0;  // columns of the widest numbers
  int right = 0;   // where the numbers end
};

// "412/1024": what is free of what there is.
[[nodiscard]] std::string free_of_total(const Totals& totals, ResourceId resource);

// The widest cells with which the largest row is one line, but never wider than
// one column a unit of the resource; where none will do, rows take several lines.
[[nodiscard]] Layout lay_out(const Scene& scene, const OutlineEntry& outline, int width);

}  // namespace gantree::view
