#include "json/utf8.h"

#include <cstdint>

namespace gantree::json {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

Character first_character(std::string_view text) {
  constexpr Character kInvalid{.code = 0xFFFD, .length = 1, .valid = false};
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) {
    return {.code = lead};
  }
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length) {
    return kInvalid;
  }
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return kInvalid;
    }
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  // Overlong forms, surrogates, and what is beyond the last plane.
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return kInvalid;
  }
  return {.code = code, .length = length};
}

bool is_printable(char32_t code) {
  constexpr char32_t kLineSeparator = 0x2028;
  constexpr char32_t kParagraphSeparator = 0x2029;
  constexpr char32_t kByteOrderMark = 0xFEFF;
  return (code >= 0x20 && code <= 0x7E) ||
         (code >= 0xA0 && code <= 0xD7FF && code != kLineSeparator && code != kParagraphSeparator) ||
         (code >= 0xE000 && code <= 0xFFFD && code != kByteOrderMark) || code >= 0x10000;
}

std::string as_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    valid += character.valid ? text.substr(0, character.length) : kReplacement;
    text.remove_prefix(character.length);
  }
  return valid;
}

}  // namespace gantree::json
