#include "view/terminal_text.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "view/words.h"

namespace gantree::view {

namespace {

constexpr Glyphs kUnicode{.free = "·",
                          .used = "▒",
                          .partly = "░",
                          .off = "x",
                          .tainted = "t",
                          .without = "-",
                          .several = "*",
                          .dash = "–",
                          .ellipsis = "…",
                          .deeper = "›"};
constexpr Glyphs kAscii{.free = ".",
                        .used = "#",
                        .partly = "+",
                        .off = "x",
                        .tainted = "t",
                        .without = "-",
                        .several = "*",
                        .dash = "-",
                        .ellipsis = "~",
                        .deeper = ">"};

// Backgrounds of the 256-colour table under black letters.
constexpr std::array<int, 16> kGangColors{75, 214, 78, 221, 211, 141, 80, 180, 203, 149, 111, 223, 139, 107, 252, 173};

std::string escape(Ink ink) {
  if (ink.gang >= 0) {
    return fmt::format("\x1b[38;5;16;48;5;{}m", kGangColors[static_cast<std::size_t>(ink.gang) % kGangColors.size()]);
  }
  switch (ink.tone) {
    case Tone::kPlain:
      return {};
    case Tone::kStrong:
      return "\x1b[1m";
    case Tone::kFaint:
      return "\x1b[38;5;244m";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kWarning:
      return "\x1b[33m";
    case Tone::kBad:
      return "\x1b[31m";
  }
  return {};
}

bool same(Ink a, Ink b) {
  return a.tone == b.tone && a.gang == b.gang;
}

}  // namespace

const Glyphs& glyphs(bool unicode) {
  return unicode ? kUnicode : kAscii;
}

TextLine& TextLine::add(std::string_view text, Ink ink) {
  if (text.empty()) {
    return *this;
  }
  if (!pieces_.empty() && same(pieces_.back().second, ink)) {
    pieces_.back().first += text;
  } else {
    pieces_.emplace_back(text, ink);
  }
  width_ += columns(text);
  return *this;
}

TextLine& TextLine::pad_to(int column) {
  return column > width_ ? add(std::string(static_cast<std::size_t>(column - width_), ' ')) : *this;
}

TextLine& TextLine::add_right(std::string_view text, int column, Ink ink) {
  return pad_to(column - columns(text)).add(text, ink);
}

std::string TextLine::render(bool color) const {
  std::string out;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    std::string_view text = pieces_[i].first;
    if (i + 1 == pieces_.size()) {
      const std::size_t last = text.find_last_not_of(' ');
      text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    }
    const std::string start = color && !text.empty() ? escape(pieces_[i].second) : std::string();
    out += start;
    out += text;
    out += start.empty() ? "" : "\x1b[0m";
  }
  return out + '\n';
}

void append(std::vector<TextLine>& lines, std::vector<TextLine> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string render(const std::vector<TextLine>& lines, bool color) {
  std::string text;
  for (const TextLine& line : lines) {
    text += line.render(color);
  }
  return text;
}

}  // namespace gantree::view
