// Kubernetes quantities ("100m", "1.5Gi", "1e3"), read exactly into integers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace gantree {

enum class Unit : std::uint8_t { kOne, kMilli };  // what the integer counts
enum class Round : std::uint8_t { kUp, kDown };   // for what is finer than the unit

// "1500m" in kMilli is 1500, in kOne it is 2 (kUp) or 1 (kDown). Fails with a
// sentence on bad syntax and on values outside the signed 64-bit range;
// negative values are read (callers that forbid them say so).
[[nodiscard]] Result<std::int64_t> parse_quantity(std::string_view text, Unit unit, Round round);

// How an amount of the unit is written: 1500 milli is "1500m", 2000 milli is
// "2"; in ones, multiples of 1Ki and more use binary suffixes.
[[nodiscard]] std::string format_quantity(std::int64_t amount, Unit unit);

}  // namespace gantree
