// Rows of text under titles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view/terminal_text.h"

namespace gantree::view {

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
};

struct TableCell {
  std::string text;
  Ink ink = {};
};
using TableRow = std::vector<TableCell>;  // one cell a column

// A count; faint where it is nothing, strong where it is notable.
[[nodiscard]] TableCell number_cell(std::int64_t value, bool notable = false);

// Columns as wide as what is in them, two spaces apart, after `indent` spaces.
[[nodiscard]] std::vector<TextLine> draw_table(const std::vector<Column>& head, const std::vector<TableRow>& rows,
                                               int indent = 0);

}  // namespace gantree::view
