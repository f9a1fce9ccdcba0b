#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/text_heading.h"
#include "view/tree_report.h"
#include "view/where.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr int kBar = 10;
constexpr int kIndentation = 2;

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
};

struct Cell {
  std::string text;
  Ink ink;
};

using Row = std::vector<Cell>;

// Rows under titles, columns as wide as what is in them, two spaces apart.
std::vector<TextLine> table(const std::vector<Column>& head, const std::vector<Row>& rows) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < head.size(); ++c) {
    int width = columns(head[c].title);
    for (const Row& row : rows) {
      width = std::max(width, columns(row[c].text));
    }
    widths.push_back(width);
  }
  std::vector<TextLine> lines;
  const auto add = [&](auto&& cell_of) {
    TextLine& line = lines.emplace_back();
    int at = 0;
    for (std::size_t c = 0; c < head.size(); ++c) {
      const Cell cell = cell_of(c);
      line.pad_to(at);
      if (head[c].align == Align::kRight) {
        line.add_right(cell.text, at + widths[c], cell.ink);
      } else {
        line.add(cell.text, cell.ink);
      }
      at += widths[c] + 2;
    }
  };
  add([&](std::size_t c) { return Cell{head[c].title, {Tone::kFaint}}; });
  for (const Row& row : rows) {
    add([&](std::size_t c) { return row[c]; });
  }
  return lines;
}

Cell number(std::int64_t value, bool notable = false) {
  return {fmt::format("{}", value), {notable ? Tone::kStrong : value == 0 ? Tone::kFaint : Tone::kPlain}};
}

// "1 nvidia.com/gpu, 4 cpu"
std::string request_text(const Amounts& request, const ResourceNames& names) {
  std::string text;
  for (const auto& [resource, amount] : request.entries()) {
    text += text.empty() ? "" : ", ";
    text += fmt::format("{} {}", format_quantity(amount, ResourceNames::unit(resource)), names.name(resource));
  }
  return text;
}

std::string tolerated_text(const std::vector<std::string>& keys) {
  if (std::find(keys.begin(), keys.end(), "*") != keys.end()) {
    return ", tolerating every taint";
  }
  return keys.empty() ? "" : fmt::format(", tolerating {}", fmt::join(keys, ", "));
}

class TreeText {
 public:
  TreeText(const TreeReport& report, const ResourceNames& names, const TextOptions& options)
      : report_(report),
        tree_(*report.scene.tree),
        names_(names),
        options_(options),
        words_(level_words(*report.scene.topology)) {}

  std::vector<TextLine> draw() {
    std::vector<TextLine> lines = draw_heading(report_.scene, report_.root.totals, options_);
    lines.emplace_back();
    const std::string pods =
        fmt::format("Pods of {}{}", request_text(report_.request, names_), tolerated_text(report_.tolerated));
    for (const std::string& text : wrapped(printable(pods, options_.unicode), options_.width)) {
      lines.emplace_back().add(text, {Tone::kStrong});
    }
    lines.emplace_back();
    append(lines, largest());
    if (report_.root.domains.empty()) {
      return lines;
    }
    lines.emplace_back();
    append(lines, domains());
    return lines;
  }

 private:
  // The largest gang on every level.
  std::vector<TextLine> largest() {
    std::vector<Row> rows;
    for (const LevelRoom& room : report_.levels) {
      const std::string place = room.level < 0 ? "anywhere" : "in one " + word(room.level);
      rows.push_back({{place, {}},
                      number(room.pods, true),
                      {room.pods > 0 ? where(room.pods_in) : "", {}},
                      number(room.pods_when_empty),
                      number(room.empty),
                      {room.empty > 0 ? where(room.empty_in) : "", {}}});
    }
    return table({{"largest gang", Align::kLeft},
                  {"pods"},
                  {"where", Align::kLeft},
                  {"if all were free"},
                  {"whole hosts"},
                  {"where", Align::kLeft}},
                 rows);
  }

  std::vector<TextLine> domains() {
    rows_.clear();
    for (const DomainRoom& room : report_.root.domains) {
      add_domain(room);
    }
    const std::string resource = printable(short_name(report_.scene.resource_name), options_.unicode);
    return table({{"domain", Align::kLeft},
                  {"hosts"},
                  {"usable"},
                  {"whole"},
                  {resource},
                  {"used"},
                  {"free"},
                  {"in use", Align::kLeft},
                  {"fits pods"}},
                 rows_);
  }

  void add_domain(const DomainRoom& room) {
    const ResourceId resource = report_.scene.resource;
    const std::string indent(static_cast<std::size_t>(room.domain.level * kIndentation), ' ');
    const std::string name = clipped_inside(printable(tree_.name(room.domain), options_.unicode),
                                            std::max(8, options_.width / 3), options_.unicode);
    const bool group = !room.domains.empty();
    rows_.push_back({{indent + name, {group ? Tone::kStrong : Tone::kPlain}},
                     number(room.totals.hosts),
                     number(room.eligible),
                     number(room.empty),
                     {amount_text(room.totals.total, resource), {}},
                     {amount_text(room.totals.before, resource), {}},
                     {amount_text(room.free, resource), {}},
                     {bar(room.totals), {Tone::kFaint}},
                     number(room.pods, true)});
    for (const DomainRoom& inside : room.domains) {
      add_domain(inside);
    }
  }

  // How full, in tenths; full only where nothing is free, and empty only where nothing is used.
  [[nodiscard]] std::string bar(const Totals& totals) const {
    const double share =
        totals.total <= 0 ? 0 : static_cast<double>(totals.before) / static_cast<double>(totals.total) * kBar;
    int full = std::clamp(static_cast<int>(std::lround(share)), 0, kBar);
    full = totals.before > 0 ? std::max(full, 1) : full;
    full = totals.before < totals.total ? std::min(full, kBar - 1) : full;
    std::string text;
    for (int i = 0; i < kBar; ++i) {
      text += i < full ? (options_.unicode ? "█" : "#") : glyphs(options_.unicode).free;
    }
    return text;
  }

  [[nodiscard]] std::string word(int level) const {
    return printable(words_[static_cast<std::size_t>(level)], options_.unicode);
  }
  [[nodiscard]] std::string where(Domain domain) const {
    return clipped_inside(path_text(tree_, domain, options_.unicode), std::max(12, options_.width / 4),
                          options_.unicode);
  }

  const TreeReport& report_;
  const DomainTree& tree_;
  const ResourceNames& names_;
  const TextOptions& options_;
  const std::vector<std::string> words_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<TextLine> tree_to_text(const TreeReport& report, const ResourceNames& names, const TextOptions& options) {
  return TreeText(report, names, options).draw();
}

}  // namespace gantree::view
