#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/text_heading.h"
#include "view/text_table.h"
#include "view/tree_report.h"
#include "view/where.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr int kBar = 10;
constexpr int kIndentation = 2;

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
        fmt::format("Pods of {}{}", amounts_text(report_.request, names_), tolerated_text(report_.tolerated));
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
    std::vector<TableRow> rows;
    for (const LevelRoom& room : report_.levels) {
      const std::string place = room.level < 0 ? "anywhere" : "in one " + word(room.level);
      rows.push_back({{place, {}},
                      number_cell(room.pods, true),
                      {room.pods > 0 ? where(room.pods_in) : "", {}},
                      number_cell(room.pods_when_empty),
                      number_cell(room.empty),
                      {room.empty > 0 ? where(room.empty_in) : "", {}}});
    }
    return draw_table({{"largest gang", Align::kLeft},
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
    return draw_table({{"domain", Align::kLeft},
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
                     number_cell(room.totals.hosts),
                     number_cell(room.eligible),
                     number_cell(room.empty),
                     {amount_text(room.totals.total, resource), {}},
                     {amount_text(room.totals.before, resource), {}},
                     {amount_text(room.free, resource), {}},
                     {bar(room.totals), {Tone::kFaint}},
                     number_cell(room.pods, true)});
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
  std::vector<TableRow> rows_;
};

}  // namespace

std::vector<TextLine> tree_to_text(const TreeReport& report, const ResourceNames& names, const TextOptions& options) {
  return TreeText(report, names, options).draw();
}

}  // namespace gantree::view
