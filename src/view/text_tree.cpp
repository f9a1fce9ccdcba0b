#include "view/text_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/cell.h"
#include "view/outline.h"
#include "view/text_layout.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr int kMaxRowLines = 4;  // a row that needs more shows only the hosts with gangs

// Draws at one degree of folding:
//   0        runs of siblings that are all free, all in use, ...: one line
//   1        all siblings that no gang touched: one line
//   2, 3...  besides, 1, 2... of the levels above the hosts are not drawn
class TreeDrawing {
 public:
  TreeDrawing(const Scene& scene, const TextOptions& options, const Layout& layout, int fold)
      : scene_(scene),
        options_(options),
        glyphs_(glyphs(options.unicode)),
        layout_(layout),
        words_(level_words(*scene.topology)),
        fold_(fold) {}

  std::vector<TextLine> draw(const OutlineEntry& outline) {
    if (outline.row) {
      draw_entry(outline, 0);
    } else {
      draw_children(outline, 0);
    }
    return std::move(lines_);
  }

 private:
  using Entries = std::span<const OutlineEntry* const>;

  [[nodiscard]] bool closed(const OutlineEntry& entry) const {
    return fold_ >= 2 && entry.domain.level >= scene_.tree->host_level() - fold_;
  }
  [[nodiscard]] std::string uniform(const Totals& totals) const { return uniform_text(totals, scene_.resource_name); }
  [[nodiscard]] const std::string& word(int level) const {
    return words_[static_cast<std::size_t>(std::max(level, 0))];
  }

  void draw_children(const OutlineEntry& parent, int depth) {
    std::vector<const OutlineEntry*> touched;
    std::vector<const OutlineEntry*> others;
    if (fold_ == 0) {
      draw_runs(parent, depth);
      return;
    }
    for (const OutlineEntry& child : parent.children) {
      (child.totals.touched() ? touched : others).push_back(&child);
    }
    for (std::size_t i = 0; i < touched.size(); ++i) {
      if (static_cast<int>(lines_.size()) >= options_.max_lines && i + 1 < touched.size()) {
        draw_folded(Entries(touched).subspan(i), depth);
        break;
      }
      draw_entry(*touched[i], depth);
    }
    if (!others.empty()) {
      draw_folded(others, depth);
    }
  }

  // Neighbours that are alike, and untouched, on one line.
  void draw_runs(const OutlineEntry& parent, int depth) {
    std::vector<const OutlineEntry*> run;
    const auto flush = [&] {
      if (run.size() > 1) {
        draw_run(run, depth);
      } else if (!run.empty()) {
        draw_entry(*run.front(), depth);
      }
      run.clear();
    };
    for (const OutlineEntry& child : parent.children) {
      const std::string text = uniform(child.totals);
      const bool joins = !run.empty() && !text.empty() && text == uniform(run.back()->totals) &&
                         child.domain.level == run.back()->domain.level;
      if (!joins) {
        flush();
      }
      run.push_back(&child);
    }
    flush();
  }

  void draw_entry(const OutlineEntry& entry, int depth) {
    const bool open = !closed(entry) && uniform(entry.totals).empty();
    if (entry.row && open) {
      draw_row(entry, depth);
      return;
    }
    TextLine& line = begin(depth, entry.label, entry.row ? Tone::kPlain : Tone::kStrong);
    line.add(inside_text(entry), {Tone::kFaint});
    if (!open) {
      add_state(line, entry.totals);
    }
    end(line, entry.totals);
    if (open) {
      draw_children(entry, depth + 1);
    }
  }

  void draw_row(const OutlineEntry& row, int depth) {
    std::vector<std::uint32_t> hosts = hosts_in_order(*scene_.tree, row.domain);
    Totals rest;
    if (hosts.size() > static_cast<std::size_t>(layout_.line) * kMaxRowLines) {
      const auto untouched = [&](std::uint32_t host) { return scene_.hosts[host].shares.empty(); };
      const auto end = std::stable_partition(hosts.begin(), hosts.end(), std::not_fn(untouched));
      std::for_each(end, hosts.end(), [&](std::uint32_t host) { rest.add(scene_.hosts[host]); });
      hosts.erase(end, hosts.end());
    }
    TextLine* line = &begin(depth, row.label, Tone::kPlain);
    TextLine* first = nullptr;
    const auto finish_line = [&] {
      if (first == nullptr) {
        end(*line, row.totals);
        first = line;
      }
    };
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const std::size_t at = i % static_cast<std::size_t>(layout_.line);
      if (i > 0 && at == 0) {
        finish_line();
        line = &begin(depth, "", Tone::kPlain);
      }
      if (at > 0 && (layout_.cell > 1 || at % kCellGroup == 0)) {
        line->add(" ");
      }
      add_cell(*line, scene_.hosts[hosts[i]], layout_.cell, glyphs_);
    }
    if (rest.hosts > 0) {
      if (!hosts.empty()) {
        finish_line();
        line = &begin(depth, "", Tone::kPlain);
      }
      line->add(fmt::format("{}{}", hosts.empty() ? "" : "and ", counted(rest.hosts, "host")), {Tone::kFaint});
      line->add(hosts.empty() ? "" : " without a new gang", {Tone::kFaint});
      add_state(*line, rest);
    }
    finish_line();
  }

  // "r4–r7": neighbours that are all alike.
  void draw_run(Entries entries, int depth) {
    const Totals sum = sum_of(entries);
    TextLine& line = begin_folded(depth, entries.front()->label + std::string(glyphs_.dash) + entries.back()->label);
    line.add(size_text(entries.front()->domain.level, entries.size(), sum), {Tone::kFaint});
    add_state(line, sum);
    end(line, sum);
  }

  // "5 more": any siblings.
  void draw_folded(Entries entries, int depth) {
    if (entries.size() == 1 && (entries[0]->row || !entries[0]->totals.touched())) {
      draw_entry(*entries[0], depth);
      return;
    }
    const Totals sum = sum_of(entries);
    const auto count = static_cast<std::int64_t>(entries.size());
    TextLine& line = begin_folded(depth, "and");
    line.add(fmt::format("{}, {}", counted(count, "more " + word(entries.front()->domain.level)),
                         counted(sum.hosts, "host")),
             {Tone::kFaint});
    add_state(line, sum);
    end(line, sum);
  }

  [[nodiscard]] static Totals sum_of(Entries entries) {
    Totals sum;
    for (const OutlineEntry* entry : entries) {
      sum.add(entry->totals);
    }
    return sum;
  }

  // "4 racks, 64 hosts"
  [[nodiscard]] std::string size_text(int level, std::size_t domains, const Totals& totals) const {
    return counted(static_cast<std::int64_t>(domains), word(level)) + ", " + counted(totals.hosts, "host");
  }
  [[nodiscard]] std::string inside_text(const OutlineEntry& entry) const {
    if (entry.row) {
      return counted(entry.totals.hosts, "host");
    }
    const int below = entry.domain.level + 1;
    return size_text(below, scene_.tree->children(entry.domain).size(), entry.totals);
  }

  TextLine& begin(int depth, std::string_view label, Tone tone) {
    TextLine& line = lines_.emplace_back();
    const int indent = std::min(depth * kIndent, layout_.label - 2);
    line.pad_to(indent).add(clipped_inside(label, layout_.label - indent, options_.unicode), {tone});
    return line.pad_to(layout_.label + kGap);
  }
  // Words follow, not cells: the label may be wider than the others.
  TextLine& begin_folded(int depth, std::string_view label) {
    TextLine& line = lines_.emplace_back();
    const int indent = std::min(depth * kIndent, layout_.label - 2);
    line.pad_to(indent).add(clipped_inside(label, options_.width / 3, options_.unicode));
    return line.pad_to(layout_.label).add("  ");
  }
  void end(TextLine& line, const Totals& totals) {
    line.add(" ").add_right(free_of_total(totals, scene_.resource), layout_.right);
  }

  // ", all free", or the gangs that are inside.
  void add_state(TextLine& line, const Totals& totals) {
    if (const std::string text = uniform(totals); !text.empty()) {
      line.add(", " + text, {Tone::kFaint});
    }
    if (!totals.touched()) {
      return;
    }
    line.add(": ");
    const int room = layout_.right - layout_.number - kGap;
    for (std::size_t i = 0; i < totals.gangs.size(); ++i) {
      if (line.width() + 1 >= room && i + 1 < totals.gangs.size()) {
        line.add(glyphs_.ellipsis);
        return;
      }
      line.add(std::string(1, gang_letter(totals.gangs[i])), {Tone::kPlain, totals.gangs[i]});
    }
  }

  const Scene& scene_;
  const TextOptions& options_;
  const Glyphs& glyphs_;
  const Layout& layout_;
  const std::vector<std::string> words_;
  const int fold_;
  std::vector<TextLine> lines_;
};

}  // namespace

std::vector<TextLine> draw_tree(const Scene& scene, const OutlineEntry& outline, const Layout& layout,
                                const TextOptions& options) {
  for (int fold = 0;; ++fold) {
    std::vector<TextLine> lines = TreeDrawing(scene, options, layout, fold).draw(outline);
    if (static_cast<int>(lines.size()) <= options.max_lines || fold > scene.tree->host_level()) {
      return lines;
    }
  }
}

}  // namespace gantree::view
