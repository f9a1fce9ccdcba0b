// Quantities and times in the one form in which Kubernetes writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/json.h"

namespace gantree::apiserver {

// An amount of a resource, exact to 10^-9 (finer amounts are rounded up) and bounded by 2^63-1 as in Kubernetes.
struct Amount {
  enum class Style : unsigned char { kDecimal, kBinary, kExponent };
  __extension__ __int128 nanos = 0;
  Style style = Style::kDecimal;

  Amount& operator+=(const Amount& more) {
    nanos += more.nanos;
    return *this;
  }
  friend bool operator<(const Amount& a, const Amount& b) { return a.nanos < b.nanos; }
};

// Nothing where the text is no quantity.
[[nodiscard]] std::optional<Amount> parse_amount(std::string_view text);
// A string, or a number as YAML users write it.
[[nodiscard]] std::optional<Amount> parse_amount(const Value& value);
// "1500m", "1Gi", "2k": no fraction, the largest suffix.
[[nodiscard]] std::string to_text(const Amount& amount);

// What is no quantity or time stays as it is: that is said elsewhere.
void canonicalize_quantity(Value& value);
void canonicalize_time(Value& value, bool micro);

}  // namespace gantree::apiserver
