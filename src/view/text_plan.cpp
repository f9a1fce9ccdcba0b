#include "view/text_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/gang_table.h"
#include "view/gang_words.h"
#include "view/outline.h"
#include "view/scene.h"
#include "view/text_heading.h"
#include "view/text_layout.h"
#include "view/text_tree.h"
#include "view/words.h"

namespace gantree::view {

namespace {

// What every host has of the resource; 0 where they differ.
std::int64_t same_size(const Scene& scene) {
  std::int64_t size = 0;
  for (const HostView& host : scene.hosts) {
    if (host.total != size && size != 0) {
      return 0;
    }
    size = host.total;
  }
  return size;
}

// What the glyphs mean, as far as they occur.
class Legend {
 public:
  Legend(const Scene& scene, const Totals& totals, int cell, const TextOptions& options)
      : options_(options), glyphs_(glyphs(options.unicode)) {
    if (totals.touched()) {
      add_gangs(totals.gangs);
    }
    add_states(scene, cell);
    const std::int64_t unit = ResourceNames::unit(scene.resource) == Unit::kMilli ? 1000 : 1;
    if (const std::int64_t each = same_size(scene); each > cell * unit && each % (cell * unit) == 0) {
      add({}, {},
          fmt::format("1 column = {} {}", amount_text(each / cell, scene.resource),
                      printable(short_name(scene.resource_name), options.unicode)));
    }
  }

  [[nodiscard]] std::vector<TextLine> lines() && { return std::move(lines_); }

 private:
  void make_room(int width) {
    if (lines_.empty() || lines_.back().width() + 3 + width > options_.width) {
      lines_.emplace_back();
    } else {
      lines_.back().add("   ");
    }
  }
  void add(std::string_view sign, Ink ink, std::string_view meaning) {
    make_room(columns(sign) + 1 + columns(meaning));
    lines_.back().add(sign, ink).add(sign.empty() ? "" : " ").add(meaning, {Tone::kFaint});
  }

  void add_gangs(const std::vector<int>& marks) {
    const std::string_view meaning = options_.present   ? " gangs, as listed below"
                                     : marks.size() > 1 ? " gangs of this plan"
                                                        : " the gang of this plan";
    make_room(3 + columns(meaning));
    TextLine& line = lines_.back();
    line.add(std::string(1, gang_letter(marks.front())), {Tone::kPlain, marks.front()});
    if (marks.size() > 1) {
      line.add(glyphs_.dash, {Tone::kFaint});
      line.add(std::string(1, gang_letter(std::min(marks.back(), kLetters - 1))), {Tone::kPlain, marks.back()});
    }
    line.add(meaning, {Tone::kFaint});
  }

  void add_states(const Scene& scene, int cell) {
    const auto add_if = [&](auto&& condition, std::string_view sign, std::string_view meaning,
                            Tone tone = Tone::kFaint) {
      if (std::any_of(scene.hosts.begin(), scene.hosts.end(), condition)) {
        add(sign, {tone}, meaning);
      }
    };
    add_if([](const HostView& host) { return host.total > 0 && host.before > 0; }, glyphs_.used,
           options_.present ? "in use by others" : "in use before");
    add_if([&](const HostView& host) { return cell == 1 && host.shares.empty() && host.state() == HostState::kPartly; },
           glyphs_.partly, "partly in use");
    add_if([](const HostView& host) { return host.trouble == Trouble::kNone && host.free > 0; }, glyphs_.free, "free");
    add_if([](const HostView& host) { return host.state() == HostState::kOff && host.free > 0; }, glyphs_.off,
           "not ready or cordoned", Tone::kBad);
    add_if([](const HostView& host) { return host.trouble == Trouble::kTainted && host.free > 0; }, glyphs_.tainted,
           "tainted");
    add_if([](const HostView& host) { return host.state() == HostState::kWithout; }, glyphs_.without,
           fmt::format("without {}", printable(short_name(scene.resource_name), options_.unicode)));
    add_if([&](const HostView& host) { return static_cast<int>(host.shares.size()) > cell; }, glyphs_.several,
           "several gangs", Tone::kStrong);
  }

  const TextOptions& options_;
  const Glyphs& glyphs_;
  std::vector<TextLine> lines_;
};

void draw_scene(const Scene& scene, const TextOptions& options, std::vector<TextLine>& lines) {
  const OutlineEntry outline = make_outline(scene, options.unicode);
  append(lines, draw_heading(scene, outline.totals, options));
  if (scene.hosts.empty()) {
    return;
  }
  lines.emplace_back();
  const Layout layout = lay_out(scene, outline, options.width);
  lines.emplace_back().add_right("free/total", layout.right, {Tone::kFaint});
  append(lines, draw_tree(scene, outline, layout, options));
  lines.emplace_back();
  append(lines, Legend(scene, outline.totals, layout.cell, options).lines());
}

}  // namespace

std::vector<TextLine> draw_scenes(Cluster& cluster, std::span<const Decision> decisions, const TextOptions& options) {
  std::vector<TextLine> lines;
  for (const Scene& scene : make_scenes(cluster, decisions)) {
    draw_scene(scene, options, lines);
    lines.emplace_back();
  }
  if (lines.empty()) {
    lines.emplace_back().add("There is no topology to draw.");
    lines.emplace_back();
  }
  return lines;
}

std::string text_plan(Cluster& cluster, const Plan& plan, const TextOptions& options) {
  const std::span<const Decision> decisions = plan.decisions;
  std::vector<TextLine> lines = draw_scenes(cluster, decisions, options);
  if (!decisions.empty()) {
    append(lines, draw_gangs(cluster, main_resource(cluster.inventory(), decisions), plan, options));
    lines.emplace_back();
  }
  lines.emplace_back().add(summary(plan));
  return render(lines, options.color);
}

}  // namespace gantree::view
