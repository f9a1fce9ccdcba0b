#include "apiserver/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/time.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

__extension__ using Wide = __int128;

// Of the years 0 and 9999.
constexpr std::int64_t kFirstSecond = -62'167'219'200;
constexpr std::int64_t kLastSecond = 253'402'300'799;
constexpr Wide kNano = 1'000'000'000;
constexpr Wide kMost = Wide(std::numeric_limits<std::int64_t>::max()) * kNano;
constexpr std::array<std::string_view, 10> kDecimalSuffixes = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 7> kBinarySuffixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

struct Scale {
  int ten = 0;  // powers of ten
  int two = 0;  // powers of 1024
  Amount::Style style = Amount::Style::kDecimal;
};

std::optional<Scale> read_suffix(std::string_view suffix) {
  const auto decimal = std::find(kDecimalSuffixes.begin(), kDecimalSuffixes.end(), suffix);
  if (decimal != kDecimalSuffixes.end()) {
    return Scale{static_cast<int>(decimal - kDecimalSuffixes.begin()) * 3 - 9, 0, Amount::Style::kDecimal};
  }
  const auto binary = std::find(kBinarySuffixes.begin() + 1, kBinarySuffixes.end(), suffix);
  if (binary != kBinarySuffixes.end()) {
    return Scale{0, static_cast<int>(binary - kBinarySuffixes.begin()), Amount::Style::kBinary};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) {
    return std::nullopt;
  }
  suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
  int exponent = 0;
  const auto read = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (read.ec != std::errc{} || read.ptr != suffix.data() + suffix.size() || exponent < -1000 || exponent > 1000) {
    return std::nullopt;
  }
  return Scale{exponent, 0, Amount::Style::kExponent};
}

// Digits that are read before the value is bounded anyway; more behind the point are finer than any unit.
constexpr std::size_t kMaxDigits = 24;

struct Digits {
  Wide value = 0;
  int exponent = 0;      // powers of ten
  bool finer = false;    // there is more, too fine to keep
  std::size_t read = 0;  // characters
  bool any = false;
};

Digits read_digits(std::string_view text) {
  Digits digits;
  std::size_t kept = 0;
  bool fraction = false;
  for (; digits.read < text.size(); ++digits.read) {
    const char c = text[digits.read];
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      break;
    }
    digits.any = true;
    if (kept < kMaxDigits) {
      digits.value = digits.value * 10 + (c - '0');
      kept += digits.value > 0 ? 1 : 0;
      digits.exponent -= fraction ? 1 : 0;
    } else {
      digits.finer |= c != '0';
      digits.exponent += fraction ? 0 : 1;
    }
  }
  return digits;
}

// value * 10^ten in nanos, rounded up, bounded.
Wide scaled(Wide value, int ten, bool finer) {
  ten += 9;
  while (ten > 0 && value != 0 && value <= kMost) {
    value *= 10;
    --ten;
  }
  if (value > kMost) {
    return kMost;
  }
  for (; ten < 0 && value != 0; ++ten) {
    finer |= value % 10 != 0;
    value /= 10;
  }
  return std::min(value + (finer ? 1 : 0), kMost);
}

std::string decimal_text(Wide nanos, bool exponent_form) {
  std::size_t suffix = 0;
  while (suffix + 1 < kDecimalSuffixes.size() && nanos % 1000 == 0) {
    nanos /= 1000;
    ++suffix;
  }
  const auto number = static_cast<std::int64_t>(nanos);
  if (!exponent_form) {
    return fmt::format("{}{}", number, kDecimalSuffixes[suffix]);
  }
  const int exponent = static_cast<int>(suffix) * 3 - 9;
  return exponent == 0 ? fmt::format("{}", number) : fmt::format("{}e{}", number, exponent);
}

}  // namespace

std::optional<Amount> parse_amount(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
  }
  const Digits digits = read_digits(text);
  const auto scale = read_suffix(text.substr(digits.read));
  if (!digits.any || !scale) {
    return std::nullopt;
  }
  Wide value = digits.value;
  for (int i = 0; i < scale->two && value <= kMost; ++i) {
    value *= 1024;
  }
  Amount amount{scaled(value, digits.exponent + scale->ten, digits.finer), scale->style};
  amount.nanos = negative ? -amount.nanos : amount.nanos;
  return amount;
}

std::optional<Amount> parse_amount(const Value& value) {
  if (value.is_string()) {
    return parse_amount(text_of(value));
  }
  return value.is_number() ? parse_amount(to_json(value)) : std::nullopt;
}

std::string to_text(const Amount& amount) {
  if (amount.nanos == 0) {
    return "0";
  }
  const bool negative = amount.nanos < 0;
  Wide nanos = negative ? -amount.nanos : amount.nanos;
  std::string text;
  if (amount.style == Amount::Style::kBinary && nanos >= 1024 * kNano) {
    Wide whole = (nanos + kNano - 1) / kNano;
    std::size_t suffix = 0;
    while (suffix + 1 < kBinarySuffixes.size() && whole % 1024 == 0) {
      whole /= 1024;
      ++suffix;
    }
    text = fmt::format("{}{}", static_cast<std::int64_t>(whole), kBinarySuffixes[suffix]);
  } else {
    // Beyond 64 bits of nanos there are no nanos left to show: Kubernetes keeps whole numbers there.
    if (nanos > Wide(std::numeric_limits<std::int64_t>::max())) {
      nanos = (nanos + 999'999) / 1'000'000 * 1'000'000;
    }
    if (nanos / 1'000'000 > Wide(std::numeric_limits<std::int64_t>::max())) {
      nanos = (nanos + kNano - 1) / kNano * kNano;
    }
    text = decimal_text(nanos, amount.style == Amount::Style::kExponent);
  }
  return negative ? "-" + text : text;
}

void canonicalize_quantity(Value& value) {
  if (const auto amount = parse_amount(value)) {
    value = to_text(*amount);
  }
}

void canonicalize_time(Value& value, bool micro) {
  const std::string_view text = text_of(value);
  if (text.empty() || (text.ends_with('Z') && text.size() == (micro ? 27U : 20U))) {
    return;
  }
  const auto seconds = parse_time(text);
  // In another zone it may already be the year 10000, which cannot be written.
  if (!seconds || *seconds < kFirstSecond || *seconds > kLastSecond) {
    return;
  }
  const Time time{std::chrono::seconds(*seconds)};
  if (!micro) {
    value = rfc3339(time);
    return;
  }
  std::string fraction = "000000";
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    for (std::size_t i = 0; i < 6 && point + 1 + i < text.size(); ++i) {
      const char c = text[point + 1 + i];
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
        break;
      }
      fraction[i] = c;
    }
  }
  const std::string whole = rfc3339(time);
  value = fmt::format("{}.{}Z", whole.substr(0, whole.size() - 1), fraction);
}

}  // namespace gantree::apiserver
