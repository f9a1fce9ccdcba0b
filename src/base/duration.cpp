#include "base/duration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/whole_number.h"

namespace gantree {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Nanoseconds of a unit; longer names before those that they begin with.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kUnits{{{"ns", 1},
                                                                           {"us", 1'000},
                                                                           {"\u00b5s", 1'000},
                                                                           {"\u03bcs", 1'000},
                                                                           {"ms", 1'000'000},
                                                                           {"s", 1'000'000'000},
                                                                           {"m", 60'000'000'000},
                                                                           {"h", 3'600'000'000'000}}};

// Takes the digits in front. Nothing where they are too many.
std::optional<std::int64_t> take_whole(std::string_view& text) {
  std::int64_t whole = 0;
  while (!text.empty() && is_digit(text.front())) {
    const int digit = text.front() - '0';
    if (whole > (kMost - digit) / 10) {
      return std::nullopt;
    }
    whole = whole * 10 + digit;
    text.remove_prefix(1);
  }
  return whole;
}

// "1.5h": number and unit, taken off the front.
std::optional<std::int64_t> take_part(std::string_view& text) {
  const std::size_t before = text.size();
  const auto whole = take_whole(text);
  bool digits = text.size() < before;
  double fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    for (double place = 0.1; !text.empty() && is_digit(text.front()); place /= 10) {
      fraction += place * (text.front() - '0');
      text.remove_prefix(1);
      digits = true;
    }
  }
  const auto unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& one) { return text.starts_with(one.first); });
  if (!whole || !digits || unit == kUnits.end() || *whole > kMost / unit->second - 1) {
    return std::nullopt;
  }
  text.remove_prefix(unit->first.size());
  return *whole * unit->second + static_cast<std::int64_t>(fraction * static_cast<double>(unit->second));
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text == "0") {
    return std::chrono::nanoseconds(0);
  }
  std::int64_t sum = text.empty() ? -1 : 0;
  while (sum >= 0 && !text.empty()) {
    const auto part = take_part(text);
    sum = part && *part <= kMost - sum ? sum + *part : -1;
  }
  return sum < 0 ? std::nullopt : std::optional(std::chrono::nanoseconds(negative ? -sum : sum));
}

}  // namespace gantree
