// The racks of a scene as pictures: panels of racks, racks of hosts, hosts filled
// by who has them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "view/outline.h"
#include "view/scene.h"
#include "view/svg_canvas.h"

namespace gantree::view {

// Rows that stand together: those of one parent domain.
struct Panel {
  std::string title;  // the path of the parent, or "all"
  std::vector<const OutlineEntry*> rows;
  Totals totals;
};

// The panels of a tree in order. The outline must outlive them.
[[nodiscard]] std::vector<Panel> make_panels(const OutlineEntry& outline);

// Sizes in pixels, smaller the more hosts there are to draw.
struct RackStyle {
  double host_width = 48;
  double host_height = 12;
  double gap = 6;           // between racks
  bool letters = true;      // in every host; otherwise one for hosts of a gang above each other
  bool every_host = true;   // a tooltip for every host, not only for those with gangs
  bool numbers = true;      // below every rack: free and total
  double page_width = 960;  // within the margins
};
[[nodiscard]] RackStyle rack_style(std::int64_t hosts);

class RackDrawing {
 public:
  // All must outlive the drawing. `names` are those of the gangs by mark.
  RackDrawing(const Scene& scene, const std::vector<std::string>& names, const RackStyle& style, SvgCanvas& canvas);

  // Draws the panels one after the other, in lines, below `y`; returns where they end.
  double draw(const std::vector<Panel>& panels, double left, double y);
  // How wide the widest line of panels is.
  [[nodiscard]] double width(const std::vector<Panel>& panels) const;

 private:
  struct Size {
    double width = 0;
    double height = 0;
  };
  [[nodiscard]] std::size_t stack(const OutlineEntry& row) const;  // hosts in one column
  [[nodiscard]] Size rack_size(const OutlineEntry& row) const;
  [[nodiscard]] Size panel_size(const Panel& panel) const;
  void draw_panel(const Panel& panel, double x, double y, double height);
  void draw_rack(const OutlineEntry& row, double x, double y);
  void draw_host(const HostView& host, const Box& box);
  void draw_run_letters(std::span<const std::uint32_t> column, double x, double y);
  [[nodiscard]] std::string tooltip(std::uint32_t host) const;

  const Scene& scene_;
  const std::vector<std::string>& names_;
  const RackStyle& style_;
  SvgCanvas& canvas_;
};

}  // namespace gantree::view
