#include "view/svg_racks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/words.h"

namespace gantree::view {

namespace {

constexpr char kAll[] = "all";  // the title where there is no domain above the racks
constexpr double kPanelGap = 16;
constexpr double kPadding = 12;
constexpr double kHeading = 34;    // of a panel
constexpr double kRackLabel = 15;  // above a rack
constexpr double kRackFoot = 14;   // below it
constexpr double kLetterHeight = 10;
constexpr std::size_t kHighestRack = 32;  // hosts above each other
constexpr std::size_t kLargestRack = 128;

void collect(const OutlineEntry& entry, const std::string& path, std::vector<Panel>& panels) {
  Panel panel;
  panel.title = path.empty() ? kAll : path;
  for (const OutlineEntry& child : entry.children) {
    if (child.row) {
      panel.rows.push_back(&child);
      panel.totals.add(child.totals);
    }
  }
  if (!panel.rows.empty()) {
    panels.push_back(std::move(panel));
  }
  for (const OutlineEntry& child : entry.children) {
    if (!child.row) {
      collect(child, path.empty() ? child.label : path + "/" + child.label, panels);
    }
  }
}

std::string_view state_class(const HostView& host) {
  if (host.state() == HostState::kOff) {
    return "off";
  }
  if (host.trouble == Trouble::kTainted) {
    return "tainted";
  }
  return host.state() == HostState::kWithout ? "without" : "free";
}

std::string_view trouble_text(Trouble trouble) {
  switch (trouble) {
    case Trouble::kNone:
      return "";
    case Trouble::kTainted:
      return ", tainted";
    case Trouble::kCordoned:
      return ", cordoned";
    case Trouble::kNotReady:
      return ", not ready";
  }
  return "";
}

}  // namespace

std::vector<Panel> make_panels(const OutlineEntry& outline) {
  std::vector<Panel> panels;
  if (outline.row) {
    panels.push_back({kAll, {&outline}, outline.totals});
  } else {
    collect(outline, "", panels);
  }
  return panels;
}

RackStyle rack_style(std::int64_t hosts) {
  RackStyle style;
  if (hosts <= 64) {
    style.host_width = 96;
    style.host_height = 18;
    return style;
  }
  if (hosts <= 1024) {
    return style;
  }
  if (hosts <= 3000) {
    style.host_width = 36;
    style.host_height = 10;
    style.page_width = 1280;
    return style;
  }
  style.letters = style.every_host = style.numbers = false;
  style.gap = 4;
  style.host_width = 20;
  style.host_height = hosts <= 12000 ? 5 : 3;
  style.page_width = 1680;
  return style;
}

RackDrawing::RackDrawing(const Scene& scene, const std::vector<std::string>& names, const RackStyle& style,
                         SvgCanvas& canvas)
    : scene_(scene), names_(names), style_(style), canvas_(canvas) {}

std::size_t RackDrawing::stack(const OutlineEntry& row) const {
  const auto hosts = static_cast<std::size_t>(row.totals.hosts);
  const auto widest = static_cast<std::size_t>((style_.page_width - 2 * kPadding) / style_.host_width);
  // What is no rack but a heap of hosts lies rather than stands.
  const std::size_t high = hosts <= kLargestRack ? kHighestRack : kHighestRack / 2;
  const std::size_t columns = std::clamp<std::size_t>((hosts + high - 1) / high, 1, widest);
  return std::max<std::size_t>(1, (hosts + columns - 1) / columns);
}

RackDrawing::Size RackDrawing::rack_size(const OutlineEntry& row) const {
  const std::size_t high = stack(row);
  const auto columns = (static_cast<std::size_t>(row.totals.hosts) + high - 1) / high;
  return {static_cast<double>(columns) * style_.host_width,
          kRackLabel + static_cast<double>(high) * style_.host_height + (style_.numbers ? kRackFoot : 4)};
}

RackDrawing::Size RackDrawing::panel_size(const Panel& panel) const {
  Size size;
  Size line;
  const double most = style_.page_width - 2 * kPadding;
  for (const OutlineEntry* row : panel.rows) {
    const Size rack = rack_size(*row);
    if (line.width > 0 && line.width + style_.gap + rack.width > most) {
      size.height += line.height + style_.gap;
      line = {};
    }
    line.width += (line.width > 0 ? style_.gap : 0) + rack.width;
    line.height = std::max(line.height, rack.height);
    size.width = std::max(size.width, line.width);
  }
  const double title = text_width(panel.title, 13) + 190;  // the heading's words and numbers
  return {std::max(size.width, std::min(title, most)) + 2 * kPadding,
          kHeading + size.height + line.height + kPadding / 2};
}

double RackDrawing::width(const std::vector<Panel>& panels) const {
  double widest = 0;
  double line = 0;
  for (const Panel& panel : panels) {
    const double own = panel_size(panel).width;
    line = line > 0 && line + kPanelGap + own <= style_.page_width ? line + kPanelGap + own : own;
    widest = std::max(widest, line);
  }
  return widest;
}

double RackDrawing::draw(const std::vector<Panel>& panels, double left, double y) {
  std::size_t begin = 0;
  while (begin < panels.size()) {
    double used = 0;
    double height = 0;
    std::size_t end = begin;
    for (; end < panels.size(); ++end) {
      const Size size = panel_size(panels[end]);
      if (end > begin && used + size.width > style_.page_width) {
        break;
      }
      used += size.width + kPanelGap;
      height = std::max(height, size.height);
    }
    double x = left;
    for (; begin < end; ++begin) {
      draw_panel(panels[begin], x, y, height);
      x += panel_size(panels[begin]).width + kPanelGap;
    }
    y += height + kPanelGap;
  }
  return y;
}

void RackDrawing::draw_panel(const Panel& panel, double x, double y, double height) {
  const double width = panel_size(panel).width;
  canvas_.rect({x, y, width, height}, "panel", 6);
  const double baseline = y + 20;
  const std::string shown = fitted(panel.title, width - 2 * kPadding - 170, 13);
  canvas_.text(x + kPadding, baseline, shown, "head");
  canvas_.text(x + kPadding + text_width(shown, 14) + 8, baseline, counted(panel.totals.hosts, "host"), "small");
  canvas_.text(x + width - kPadding, baseline,
               fmt::format("{} of {} free", amount_text(panel.totals.usable, scene_.resource),
                           amount_text(panel.totals.total, scene_.resource)),
               "small", Anchor::kEnd);
  double at = x + kPadding;
  double top = y + kHeading - 4;
  double line = 0;
  for (const OutlineEntry* row : panel.rows) {
    const Size size = rack_size(*row);
    if (at > x + kPadding && at + size.width > x + width - kPadding + 0.5) {
      at = x + kPadding;
      top += line + style_.gap;
      line = 0;
    }
    draw_rack(*row, at, top);
    at += size.width + style_.gap;
    line = std::max(line, size.height);
  }
}

void RackDrawing::draw_rack(const OutlineEntry& row, double x, double y) {
  const Size size = rack_size(row);
  const std::size_t high = stack(row);
  const Box box{x, y + kRackLabel, size.width, static_cast<double>(high) * style_.host_height};
  canvas_.text(x + size.width / 2, y + kRackLabel - 4, fitted(row.label, size.width + style_.gap, 10), "small",
               Anchor::kMiddle);
  canvas_.begin_group(fmt::format("{}: {}, {} of {} {} free", row.label, counted(row.totals.hosts, "host"),
                                  amount_text(row.totals.usable, scene_.resource),
                                  amount_text(row.totals.total, scene_.resource), scene_.resource_name));
  canvas_.area(box, "free");
  const std::vector<std::uint32_t> hosts = hosts_in_order(*scene_.tree, row.domain);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const HostView& host = scene_.hosts[hosts[i]];
    const std::size_t column = i / high;
    const Box cell{x + static_cast<double>(column) * style_.host_width,
                   box.y + static_cast<double>(i % high) * style_.host_height, style_.host_width, style_.host_height};
    const bool named = style_.every_host || !host.shares.empty();
    if (named) {
      canvas_.begin_group(tooltip(hosts[i]));
    }
    draw_host(host, cell);
    if (named) {
      canvas_.end_group();
    }
  }
  for (std::size_t i = 0; i < hosts.size() && !style_.letters; i += high) {
    const std::size_t size_of_column = std::min(high, hosts.size() - i);
    const std::size_t column = i / high;
    draw_run_letters(std::span(hosts).subspan(i, size_of_column),
                     x + (static_cast<double>(column) + 0.5) * style_.host_width, box.y);
  }
  canvas_.end_group();
  canvas_.rect(box, "edge", 1.5);
  if (style_.numbers) {
    canvas_.text(x + size.width / 2, box.y + box.height + kRackFoot - 3,
                 fmt::format("{}/{}", amount_text(row.totals.usable, scene_.resource),
                             amount_text(row.totals.total, scene_.resource)),
                 "small", Anchor::kMiddle);
  }
}

void RackDrawing::draw_host(const HostView& host, const Box& box) {
  const std::string_view state = state_class(host);
  if (style_.every_host || state != "free") {
    canvas_.area(box, state);
  }
  double whole = static_cast<double>(host.before) + static_cast<double>(host.free);
  for (const GangShare& share : host.shares) {
    whole += static_cast<double>(share.amount);
  }
  double x = box.x;
  const auto add = [&](double part, std::string_view css_class) {
    const Box piece{x, box.y, box.width * part, box.height};
    canvas_.area(piece, css_class);
    x += piece.width;
    return piece;
  };
  if (host.total > 0 && host.before > 0) {
    add(static_cast<double>(host.before) / whole, "used");
  }
  for (const GangShare& share : host.shares) {
    // A gang that uses none of the resource still shows, as a thin mark.
    const double part = whole > 0 ? static_cast<double>(share.amount) / whole : 1.0;
    const Box piece = add(part > 0 ? part : std::min(0.08, 1 - (x - box.x) / box.width), gang_class(share.gang));
    if (style_.letters && piece.width >= kLetterHeight - 1) {
      canvas_.letter(piece.x + piece.width / 2, box.y + box.height / 2, share.gang);
    }
  }
  if (style_.every_host) {
    canvas_.area(box, "host");
  }
}

// One letter in the middle of hosts that one gang has, where that is large enough.
void RackDrawing::draw_run_letters(std::span<const std::uint32_t> column, double x, double y) {
  const auto owner = [&](std::size_t i) {
    const HostView& host = scene_.hosts[column[i]];
    return host.shares.size() == 1 && host.before + host.free < host.shares[0].amount ? host.shares[0].gang : -1;
  };
  for (std::size_t begin = 0, end = 0; begin < column.size(); begin = end) {
    while (end < column.size() && owner(end) == owner(begin)) {
      ++end;
    }
    if (owner(begin) >= 0 && static_cast<double>(end - begin) * style_.host_height >= kLetterHeight) {
      canvas_.letter(x, y + static_cast<double>(begin + end) / 2 * style_.host_height, owner(begin));
    }
  }
}

std::string RackDrawing::tooltip(std::uint32_t host) const {
  const HostView& seen = scene_.hosts[host];
  const auto amount = [&](std::int64_t value) { return amount_text(value, scene_.resource); };
  std::string text = fmt::format("{}: {} of {} {} free", scene_.tree->name({scene_.tree->host_level(), host}),
                                 amount(seen.free), amount(seen.total), short_name(scene_.resource_name));
  if (seen.before > 0) {
    text += fmt::format(", {} in use before", amount(seen.before));
  }
  for (const GangShare& share : seen.shares) {
    text += fmt::format(", {} {}: {}, {} {}", std::string(1, gang_letter(share.gang)),
                        names_[static_cast<std::size_t>(share.gang)], counted(share.pods, "pod"), amount(share.amount),
                        short_name(scene_.resource_name));
  }
  return text + std::string(trouble_text(seen.trouble));
}

}  // namespace gantree::view
