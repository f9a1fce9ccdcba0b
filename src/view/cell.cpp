#include "view/cell.h"

#include <algorithm>
#include <numeric>

#include "view/words.h"

namespace gantree::view {

namespace {

std::string_view free_glyph(const HostView& host, const Glyphs& glyphs) {
  switch (host.trouble) {
    case Trouble::kNone:
      return glyphs.free;
    case Trouble::kTainted:
      return glyphs.tainted;
    case Trouble::kCordoned:
    case Trouble::kNotReady:
      return glyphs.off;
  }
  return glyphs.free;
}

Ink free_ink(const HostView& host) {
  return {host.state() == HostState::kOff ? Tone::kBad : Tone::kFaint};
}

void add_times(TextLine& line, std::string_view glyph, int count, Ink ink) {
  for (int i = 0; i < count; ++i) {
    line.add(glyph, ink);
  }
}

void add_narrow_cell(TextLine& line, const HostView& host, const Glyphs& glyphs) {
  if (host.shares.size() > 1) {
    line.add(glyphs.several, {Tone::kStrong});
  } else if (!host.shares.empty()) {
    line.add(std::string(1, gang_letter(host.shares[0].gang)), {Tone::kPlain, host.shares[0].gang});
  } else if (host.total > 0 && host.free <= 0) {
    line.add(glyphs.used, {Tone::kFaint});
  } else if (host.state() == HostState::kPartly) {
    line.add(glyphs.partly, {Tone::kFaint});
  } else {
    line.add(host.state() == HostState::kWithout ? glyphs.without : free_glyph(host, glyphs), free_ink(host));
  }
}

}  // namespace

std::vector<int> apportion(const std::vector<std::int64_t>& parts, int width) {
  const double total = std::accumulate(parts.begin(), parts.end(), 0.0,
                                       [](double sum, std::int64_t part) { return sum + static_cast<double>(part); });
  std::vector<int> columns(parts.size(), 0);
  std::vector<double> excess(parts.size(), 0);  // given less due
  if (total <= 0) {
    return columns;
  }
  int left = width;
  for (std::size_t i = 0; i < parts.size() && left > 0; ++i) {
    columns[i] = parts[i] > 0 ? 1 : 0;
    left -= columns[i];
  }
  for (; left > 0; --left) {
    std::size_t neediest = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      excess[i] = columns[i] - static_cast<double>(parts[i]) / total * width;
      neediest = excess[i] < excess[neediest] - 1e-9 ? i : neediest;
    }
    ++columns[neediest];
  }
  return columns;
}

void add_cell(TextLine& line, const HostView& host, int width, const Glyphs& glyphs) {
  if (width == 1) {
    add_narrow_cell(line, host, glyphs);
    return;
  }
  if (host.state() == HostState::kWithout && host.shares.empty()) {
    add_times(line, glyphs.without, width, {Tone::kFaint});
    return;
  }
  // The gangs come first where columns are short; then what was there before.
  std::vector<std::int64_t> parts;
  std::int64_t idle = host.free;
  for (const GangShare& share : host.shares) {
    // A gang that uses none of the resource still shows, on columns that are free.
    const std::int64_t shown = share.amount > 0 ? share.amount : std::min<std::int64_t>(idle, 1);
    idle -= share.amount > 0 ? 0 : shown;
    parts.push_back(host.total > 0 ? shown : 1);
  }
  parts.push_back(host.total > 0 ? host.before : 0);
  parts.push_back(host.total > 0 ? idle : 0);
  const std::vector<int> widths = apportion(parts, width);
  const std::size_t gangs = host.shares.size();
  add_times(line, glyphs.used, widths[gangs], {Tone::kFaint});
  const bool crowded = static_cast<int>(gangs) > width;
  for (std::size_t i = 0; i < gangs; ++i) {
    const int mark = host.shares[i].gang;
    if (crowded && static_cast<int>(i) == width - 1) {
      line.add(glyphs.several, {Tone::kStrong});
      break;
    }
    add_times(line, std::string(1, gang_letter(mark)), widths[i], {Tone::kPlain, mark});
  }
  add_times(line, free_glyph(host, glyphs), widths[gangs + 1], free_ink(host));
}

}  // namespace gantree::view
