#include "base/base64.h"

#include <cstdint>

namespace gantree {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= bytes.size() ? kAlphabet[group >> (18 - 6 * i) & 63U] : '=';
    }
    bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3);
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;  // of digits
  int padding = 0;
  for (const char c : text) {
    if (is_blank(c)) {
      continue;
    }
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos || padding > 0) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    ++count;
    if (count % 4 != 1) {
      bytes += static_cast<char>(bits >> (6 - 2 * ((count - 1) % 4)) & 255U);
    }
  }
  const bool whole = count % 4 != 1 && (padding == 0 || (count + padding) % 4 == 0) && padding <= 2;
  return whole ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace gantree
