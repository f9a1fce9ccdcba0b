// Lines of text with colours, measured in columns, and the glyphs to draw with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gantree::view {

struct TextOptions {
  int width = 100;
  bool color = false;    // ANSI escapes
  bool unicode = true;   // otherwise nothing but ASCII
  int max_lines = 240;   // of one tree: beyond, more of what no gang touches is folded
  bool present = false;  // what is shown is there by now, and no plan
  bool hosts = false;    // the hosts of every gang by name
};

// One column each.
struct Glyphs {
  std::string_view free, used, partly, off, tainted, without, several;
  std::string_view dash, ellipsis, deeper;
};
[[nodiscard]] const Glyphs& glyphs(bool unicode);

enum class Tone : std::uint8_t { kPlain, kStrong, kFaint, kGood, kWarning, kBad };

struct Ink {
  Tone tone = Tone::kPlain;
  int gang = -1;  // a placed gang's own colour, by its mark
};

class TextLine {
 public:
  // Text is taken as printable.
  TextLine& add(std::string_view text, Ink ink = {});
  TextLine& pad_to(int column);
  // So that the text ends at that column, where there is room.
  TextLine& add_right(std::string_view text, int column, Ink ink = {});
  [[nodiscard]] int width() const { return width_; }
  // With a line feed, without trailing spaces.
  [[nodiscard]] std::string render(bool color) const;

 private:
  std::vector<std::pair<std::string, Ink>> pieces_;
  int width_ = 0;
};

void append(std::vector<TextLine>& lines, std::vector<TextLine> more);
[[nodiscard]] std::string render(const std::vector<TextLine>& lines, bool color);

}  // namespace gantree::view
