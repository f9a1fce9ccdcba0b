#include "view/svg_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "view/gang_words.h"
#include "view/outline.h"
#include "view/scene.h"
#include "view/svg_canvas.h"
#include "view/svg_legend.h"
#include "view/svg_racks.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr double kMargin = 24;
constexpr double kLeastWidth = 720;
constexpr std::int64_t kMostHosts = 12000;  // drawn one by one

std::vector<std::string> gang_names(std::span<const Decision> decisions) {
  std::vector<std::string> names;
  for (const Decision& decision : decisions) {
    if (decision.state == GangState::kPlaced) {
      names.push_back(gang_name(decision, true));
    }
  }
  return names;
}

// Takes panels away until the hosts left can be drawn: those that no gang touched
// first, and then from the end. What is left out is summed up.
Totals leave_out(std::vector<Panel>& panels) {
  Totals left_out;
  std::int64_t hosts = 0;
  for (const Panel& panel : panels) {
    hosts += panel.totals.hosts;
  }
  for (const bool touched : {false, true}) {
    for (std::size_t i = panels.size(); i-- > 0 && hosts > kMostHosts;) {
      if (panels[i].totals.touched() == touched && panels.size() > 1) {
        hosts -= panels[i].totals.hosts;
        left_out.add(panels[i].totals);
        panels.erase(panels.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  return left_out;
}

// One topology, ready to be drawn.
struct Section {
  const Scene* scene = nullptr;
  OutlineEntry outline;
  std::vector<Panel> panels;
  Totals left_out;
  RackStyle style;
};

double draw_section(const Section& section, const std::vector<std::string>& names, double width, double y,
                    SvgCanvas& canvas) {
  const Scene& scene = *section.scene;
  y = draw_totals(canvas, scene, section.outline.totals, {kMargin, y, width, 0});
  RackDrawing racks(scene, names, section.style, canvas);
  y = racks.draw(section.panels, kMargin, y);
  if (section.left_out.hosts > 0) {
    canvas.text(kMargin, y,
                fmt::format("Not drawn: {} more hosts, {} of {} {} free", section.left_out.hosts,
                            amount_text(section.left_out.usable, scene.resource),
                            amount_text(section.left_out.total, scene.resource), scene.resource_name),
                "sub");
    y += 20;
  }
  return draw_key(canvas, scene, kMargin, y) + 12;
}

}  // namespace

std::string svg_plan(Cluster& cluster, const Plan& plan) {
  const std::span<const Decision> decisions = plan.decisions;
  const std::vector<Scene> scenes = make_scenes(cluster, decisions);
  const std::vector<std::string> names = gang_names(decisions);
  SvgCanvas canvas;
  std::vector<Section> sections;
  double width = kLeastWidth;
  for (const Scene& scene : scenes) {
    Section& section = sections.emplace_back();
    section.scene = &scene;
    section.outline = make_outline(scene, true);
  }
  for (Section& section : sections) {
    section.panels = make_panels(section.outline);
    section.left_out = leave_out(section.panels);
    section.style = rack_style(section.outline.totals.hosts - section.left_out.hosts);
    width = std::max(width, RackDrawing(*section.scene, names, section.style, canvas).width(section.panels));
  }
  const std::string title = "Plan: " + summary(plan);
  canvas.text(kMargin, kMargin + 16, title, "title");
  double y = kMargin + 28;
  for (const Section& section : sections) {
    y = draw_section(section, names, width, y, canvas);
  }
  if (sections.empty()) {
    canvas.text(kMargin, y + 16, "There is no topology to draw.", "sub");
    y += 32;
  }
  y = draw_gang_list(canvas, cluster, main_resource(cluster.inventory(), decisions), plan, {kMargin, y, width, 0});
  return canvas.finish(width + 2 * kMargin, y + kMargin - 8, title);
}

}  // namespace gantree::view
