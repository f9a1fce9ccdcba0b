#include "view/text_heading.h"

#include <fmt/format.h>

#include "view/outline.h"
#include "view/words.h"

namespace gantree::view {

namespace {

std::vector<TextLine> headline(const Scene& scene, const TextOptions& options) {
  std::vector<TextLine> lines(1);
  lines[0]
      .add("topology ")
      .add(clipped(printable(scene.name, options.unicode), options.width / 2, options.unicode), {Tone::kStrong});
  std::string levels;
  for (const std::string& word : level_words(*scene.topology)) {
    levels += levels.empty() ? "" : fmt::format(" {} ", glyphs(options.unicode).deeper);
    levels += printable(word, options.unicode);
  }
  const int indent = lines[0].width() + 2;
  for (const std::string& text : wrapped(levels, options.width - indent)) {
    lines.back().pad_to(indent).add(text, {Tone::kFaint});
    lines.emplace_back();
  }
  lines.pop_back();
  return lines;
}

}  // namespace

std::vector<TextLine> draw_heading(const Scene& scene, const Totals& totals, const TextOptions& options) {
  std::vector<TextLine> lines = headline(scene, options);
  const std::string text = printable(totals_text(scene, totals, options.present), options.unicode);
  for (const std::string& line : wrapped(text, options.width)) {
    lines.emplace_back().add(line);
  }
  if (scene.outside > 0) {
    lines.emplace_back().add(
        fmt::format("{} without its labels: outside this topology", counted(scene.outside, "node")), {Tone::kWarning});
  }
  return lines;
}

}  // namespace gantree::view
