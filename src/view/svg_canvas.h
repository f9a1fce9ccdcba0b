// Writing SVG: shapes and texts into one string of valid XML, and the look of a plan.
#pragma once

#include <string>
#include <string_view>

namespace gantree::view {

// Text for XML content and attributes: markup escaped, and what XML does not
// allow (control characters, bytes that are not UTF-8) replaced.
[[nodiscard]] std::string xml_text(std::string_view text);

// About how wide a text is in pixels. Errs on the wide side: fonts differ.
[[nodiscard]] double text_width(std::string_view text, double font_size);
// Cut to that many pixels, with an ellipsis.
[[nodiscard]] std::string fitted(std::string_view text, double width, double font_size);

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

enum class Anchor : unsigned char { kStart, kMiddle, kEnd };

class SvgCanvas {
 public:
  // Classes are those of the style sheet; see style_sheet().
  void rect(const Box& box, std::string_view css_class, double radius = 0);
  // A rectangle without a radius, in fewer bytes.
  void area(const Box& box, std::string_view css_class);
  void text(double x, double y, std::string_view text, std::string_view css_class, Anchor anchor = Anchor::kStart);
  // The letter of a gang on its area, around that point.
  void letter(double x, double y, int mark);
  // Everything up to end_group() shows this text when pointed at.
  void begin_group(std::string_view tooltip);
  void end_group();

  // A whole picture of that size.
  [[nodiscard]] std::string finish(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

// The class of a gang's areas by its mark.
[[nodiscard]] std::string gang_class(int mark);

// After so many gangs colours and patterns come again.
inline constexpr int kGangColors = 8;
inline constexpr int kGangPatterns = 4;
inline constexpr int kGangLooks = kGangColors * kGangPatterns;

}  // namespace gantree::view
