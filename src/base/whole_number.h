// Whole numbers in text, strictly: no sign but '-', no blanks, nothing after the digits.
#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace gantree {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Nothing where the text is no such number, too large for T, or below `min`.
template <class T = int>
[[nodiscard]] std::optional<T> whole_number(std::string_view text, T min = std::numeric_limits<T>::min()) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && number >= min ? std::optional(number) : std::nullopt;
}

}  // namespace gantree
