#include "view/text_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/words.h"

namespace gantree::view {

namespace {

constexpr int kWidestCell = 8;
constexpr int kLeastCells = 24;  // columns for cells, numbers or words, however narrow the terminal

struct Extent {
  int label = 0;
  int number = 0;
  std::int64_t hosts = 1;
};

void measure(const OutlineEntry& entry, int depth, ResourceId resource, Extent& extent) {
  extent.number = std::max(extent.number, columns(free_of_total(entry.totals, resource)));
  extent.label = std::max(extent.label, std::max(depth, 0) * kIndent + columns(entry.label));
  if (entry.row) {
    extent.hosts = std::max(extent.hosts, entry.totals.hosts);
  }
  for (const OutlineEntry& child : entry.children) {
    measure(child, depth + 1, resource, extent);
  }
}

std::int64_t width_of(std::int64_t hosts, int cell) {
  return hosts * cell + (cell == 1 ? (hosts - 1) / kCellGroup : hosts - 1);
}

std::int64_t largest_host(const Scene& scene) {
  std::int64_t units = 1;
  for (const HostView& host : scene.hosts) {
    units = std::max(units, ResourceNames::unit(scene.resource) == Unit::kMilli ? host.total / 1000 : host.total);
  }
  return units;
}

}  // namespace

std::string free_of_total(const Totals& totals, ResourceId resource) {
  return fmt::format("{}/{}", amount_text(totals.usable, resource), amount_text(totals.total, resource));
}

Layout lay_out(const Scene& scene, const OutlineEntry& outline, int width) {
  Extent extent;
  measure(outline, -1, scene.resource, extent);
  Layout layout;
  layout.label = std::clamp(extent.label, 1, std::max(width / 4, 8));
  layout.number = std::max(extent.number, columns("free/total"));
  const int room = std::max(width - layout.label - layout.number - 2 * kGap, kLeastCells);
  const std::int64_t units = largest_host(scene);
  layout.cell = kWidestCell;
  while (layout.cell > 1 && (layout.cell > units || width_of(extent.hosts, layout.cell) > room)) {
    layout.cell /= 2;
  }
  const std::int64_t fitting =
      std::max<std::int64_t>(1, (room + 1) / (kCellGroup + 1)) * kCellGroup;  // in whole groups
  layout.line = static_cast<int>(width_of(extent.hosts, layout.cell) <= room ? extent.hosts : fitting);
  const int cells = std::max(static_cast<int>(width_of(layout.line, layout.cell)), std::min(room, 2 * kLeastCells));
  layout.right = layout.label + kGap + cells + kGap + layout.number;
  return layout;
}

}  // namespace gantree::view
