#include "view/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/words.h"

namespace gantree::view {

TableCell number_cell(std::int64_t value, bool notable) {
  return {fmt::format("{}", value), {notable ? Tone::kStrong : value == 0 ? Tone::kFaint : Tone::kPlain}};
}

std::vector<TextLine> draw_table(const std::vector<Column>& head, const std::vector<TableRow>& rows, int indent) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < head.size(); ++c) {
    int width = columns(head[c].title);
    for (const TableRow& row : rows) {
      width = std::max(width, columns(row[c].text));
    }
    widths.push_back(width);
  }
  std::vector<TextLine> lines;
  const auto add = [&](auto&& cell_of) {
    TextLine& line = lines.emplace_back();
    int at = indent;
    for (std::size_t c = 0; c < head.size(); ++c) {
      const TableCell cell = cell_of(c);
      line.pad_to(at);
      if (head[c].align == Align::kRight) {
        line.add_right(cell.text, at + widths[c], cell.ink);
      } else {
        line.add(cell.text, cell.ink);
      }
      at += widths[c] + 2;
    }
  };
  add([&](std::size_t c) { return TableCell{head[c].title, {Tone::kFaint}}; });
  for (const TableRow& row : rows) {
    add([&](std::size_t c) { return row[c]; });
  }
  return lines;
}

}  // namespace gantree::view
