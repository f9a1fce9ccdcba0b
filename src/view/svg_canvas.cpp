#include "view/svg_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "json/utf8.h"
#include "view/words.h"

namespace gantree::view {

namespace {

struct GangColor {
  std::string_view fill;
  std::string_view letter;
};

// Told apart by people of any colour vision, also beside each other and in print.
constexpr std::array<GangColor, kGangColors> kColors{{{"#56b4e9", "#000"},
                                                      {"#e69f00", "#000"},
                                                      {"#009e73", "#fff"},
                                                      {"#cc79a7", "#000"},
                                                      {"#0072b2", "#fff"},
                                                      {"#f0e442", "#000"},
                                                      {"#d55e00", "#fff"},
                                                      {"#5d3a9b", "#fff"}}};

constexpr std::string_view kLook =
    R"(text{font:11px Inter,"Helvetica Neue",Helvetica,Arial,"DejaVu Sans",sans-serif;fill:#1f2933}
.title{font-size:20px;font-weight:700}.sub{font-size:12px;fill:#52606d}.head{font-size:13px;font-weight:700}
.small{font-size:10px;fill:#52606d}.faint{fill:#7b8794}.strong{font-weight:700}.message{font-size:11px;fill:#3e4c59}
.column{font-size:10px;font-weight:700;fill:#7b8794}
.page{fill:#fff}.panel{fill:#f5f7fa;stroke:#cbd2d9}.rack{fill:#fff;stroke:#7b8794}.host{fill:none;stroke:#e4e7eb;stroke-width:.6}
.free{fill:#fff}.used{fill:#bcc4ce}.off{fill:url(#off)}.tainted{fill:url(#tainted)}.without{fill:#eef1f4}
.edge{fill:none;stroke:#7b8794;stroke-width:.6}.rule{fill:#cbd2d9}
.placed{fill:#0b7a4b}.waiting{fill:#b7791f}.rejected{fill:#c0341d}
.l{font-size:9px;font-weight:700;text-anchor:middle}
)";

std::string number(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0 : rounded);
}

// A pattern of a gang's colour with white marks in it.
std::string pattern(int color, int kind) {
  constexpr std::array<std::string_view, kGangPatterns - 1> kMarks{
      R"(<path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="#fff" stroke-opacity=".6" stroke-width="1"/>)",
      R"(<circle cx="1.5" cy="1.5" r=".9" fill="#fff" fill-opacity=".75"/><circle cx="4.5" cy="4.5" r=".9" fill="#fff" fill-opacity=".75"/>)",
      R"(<path d="M0 1.5H6M0 4.5H6" stroke="#fff" stroke-opacity=".6" stroke-width=".8"/>)"};
  return fmt::format(
      R"(<pattern id="p{}" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="{}"/>{}</pattern>)"
      "\n",
      kind * kGangColors + color, kColors[static_cast<std::size_t>(color)].fill,
      kMarks[static_cast<std::size_t>(kind - 1)]);
}

std::string definitions() {
  std::string out = "<defs>\n";
  out +=
      R"(<pattern id="off" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="#fff"/><path d="M0 0L5 5M5 0L0 5" stroke="#d9a19a" stroke-width=".8"/></pattern>)"
      "\n"
      R"(<pattern id="tainted" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="#fff"/><circle cx="2" cy="2" r=".8" fill="#9aa5b1"/></pattern>)"
      "\n";
  std::string style(kLook);
  for (int look = 0; look < kGangLooks; ++look) {
    const int color = look % kGangColors;
    const int kind = look / kGangColors;
    const GangColor& colors = kColors[static_cast<std::size_t>(color)];
    out += kind == 0 ? "" : pattern(color, kind);
    style +=
        fmt::format(".g{}{{fill:{}}}", look, kind == 0 ? std::string(colors.fill) : fmt::format("url(#p{})", look));
    style += fmt::format(".t{}{{fill:{}}}.b{}{{fill:{}}}", look, colors.letter, look, colors.fill);
    style += color + 1 == kGangColors ? "\n" : "";
  }
  return out + "</defs>\n<style>" + style + "</style>\n";
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const json::Character character = json::first_character(text);
    const std::string_view bytes = text.substr(0, character.length);
    text.remove_prefix(character.length);
    const bool control = character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0);
    if (!character.valid || control || character.code == 0xFFFE || character.code == 0xFFFF) {
      out += "\xEF\xBF\xBD";
    } else if (bytes == "&") {
      out += "&amp;";
    } else if (bytes == "<") {
      out += "&lt;";
    } else if (bytes == ">") {
      out += "&gt;";
    } else if (bytes == "\"") {
      out += "&quot;";
    } else {
      out += bytes;
    }
  }
  return out;
}

double text_width(std::string_view text, double font_size) {
  return columns(text) * font_size * 0.6;
}

std::string fitted(std::string_view text, double width, double font_size) {
  return clipped(text, static_cast<int>(width / (font_size * 0.6)), true);
}

void SvgCanvas::rect(const Box& box, std::string_view css_class, double radius) {
  body_ += fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}")", css_class, number(box.x),
                       number(box.y), number(box.width), number(box.height));
  body_ += radius > 0 ? fmt::format(R"( rx="{}"/>)", number(radius)) : "/>";
  body_ += '\n';
}

void SvgCanvas::area(const Box& box, std::string_view css_class) {
  body_ += fmt::format(R"(<path class="{}" d="M{} {}h{}v{}h-{}z"/>)", css_class, number(box.x), number(box.y),
                       number(box.width), number(box.height), number(box.width));
}

void SvgCanvas::text(double x, double y, std::string_view text, std::string_view css_class, Anchor anchor) {
  const std::string_view where = anchor == Anchor::kStart    ? ""
                                 : anchor == Anchor::kMiddle ? R"( text-anchor="middle")"
                                                             : R"( text-anchor="end")";
  body_ += fmt::format(R"(<text class="{}" x="{}" y="{}"{}>{}</text>)", css_class, number(x), number(y), where,
                       xml_text(text));
  body_ += '\n';
}

void SvgCanvas::begin_group(std::string_view tooltip) {
  body_ += fmt::format("<g><title>{}</title>", xml_text(tooltip));
}

void SvgCanvas::end_group() {
  body_ += "</g>\n";
}

std::string SvgCanvas::finish(double width, double height, std::string_view title) const {
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)"
      "\n<title>{2}</title>\n",
      number(width), number(height), xml_text(title));
  out += definitions();
  out += fmt::format(R"(<rect class="page" width="{}" height="{}"/>)", number(width), number(height));
  return out + "\n" + body_ + "</svg>\n";
}

std::string gang_class(int mark) {
  return fmt::format("g{}", mark % kGangLooks);
}

void SvgCanvas::letter(double x, double y, int mark) {
  const int look = mark % kGangLooks;
  if (look >= kGangColors) {
    area({x - 4.5, y - 4.5, 9, 9}, fmt::format("b{}", look));  // without the pattern: it would disturb
  }
  body_ += fmt::format(R"(<text class="l t{}" x="{}" y="{}">{}</text>)", look, number(x), number(y + 3.2),
                       gang_letter(mark));
}

}  // namespace gantree::view
