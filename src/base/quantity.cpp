#include "base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <limits>
#include <optional>

#include "base/whole_number.h"

namespace gantree {
namespace {

// Longer text is not a quantity anybody meant. The bound also keeps every
// intermediate value below within the 512 bits of Wide.
constexpr std::size_t kMaxLength = 128;
constexpr std::size_t kMaxShown = 40;

// Up to 20 digits and any suffix (2^60 at most) fit 128 bits; the rare longer
// number takes the wide type.
constexpr std::size_t kNarrowDigits = 20;
__extension__ using Narrow = unsigned __int128;
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    512, 512, boost::multiprecision::unsigned_magnitude, boost::multiprecision::unchecked, void>>;

// What the text says: +-digits * 10^ten * 2^two.
struct Parsed {
  bool negative = false;
  std::string digits;  // without leading or trailing zeros; empty is zero
  std::int64_t ten = 0;
  int two = 0;
};

struct Suffix {
  std::string_view text;
  int ten;
  int two;
};
constexpr std::array<Suffix, 16> kSuffixes{{{"", 0, 0},
                                            {"n", -9, 0},
                                            {"u", -6, 0},
                                            {"m", -3, 0},
                                            {"k", 3, 0},
                                            {"M", 6, 0},
                                            {"G", 9, 0},
                                            {"T", 12, 0},
                                            {"P", 15, 0},
                                            {"E", 18, 0},
                                            {"Ki", 0, 10},
                                            {"Mi", 0, 20},
                                            {"Gi", 0, 30},
                                            {"Ti", 0, 40},
                                            {"Pi", 0, 50},
                                            {"Ei", 0, 60}}};

std::string shown(std::string_view text) {
  return text.size() <= kMaxShown ? fmt::format("\"{}\"", text) : fmt::format("\"{}...\"", text.substr(0, kMaxShown));
}

// "e3", "E-3": a decimal exponent. Saturates: anything beyond is far out of
// range in the same direction.
std::optional<std::int64_t> exponent(std::string_view suffix) {
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) {
    return std::nullopt;
  }
  suffix.remove_prefix(1);
  const bool negative = suffix[0] == '-';
  if (suffix[0] == '-' || suffix[0] == '+') {
    suffix.remove_prefix(1);
  }
  if (suffix.empty() || !std::all_of(suffix.begin(), suffix.end(), is_digit)) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (const char c : suffix) {
    value = std::min<std::int64_t>(value * 10 + (c - '0'), 1'000'000);
  }
  return negative ? -value : value;
}

bool read_suffix(std::string_view suffix, Parsed& parsed) {
  const auto* known =
      std::find_if(kSuffixes.begin(), kSuffixes.end(), [&](const Suffix& s) { return s.text == suffix; });
  if (known != kSuffixes.end()) {
    parsed.ten += known->ten;
    parsed.two = known->two;
    return true;
  }
  const std::optional<std::int64_t> ten = exponent(suffix);
  parsed.ten += ten.value_or(0);
  return ten.has_value();
}

std::optional<Parsed> read(std::string_view text) {
  Parsed parsed;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    parsed.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  bool any = false;
  bool fraction = false;
  std::size_t at = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    any = true;
    parsed.ten -= fraction ? 1 : 0;
    if (text[at] != '0' || !parsed.digits.empty()) {
      parsed.digits.push_back(text[at]);
    }
  }
  if (!any || !read_suffix(text.substr(at), parsed)) {
    return std::nullopt;
  }
  while (!parsed.digits.empty() && parsed.digits.back() == '0') {
    parsed.digits.pop_back();
    ++parsed.ten;
  }
  return parsed;
}

template <class Integer>
Integer power_of_ten(std::int64_t exponent) {
  Integer power = 1;
  for (; exponent > 0; --exponent) {
    power *= 10;
  }
  return power;
}

// The magnitude in whole units, rounded away from zero if asked; nothing where
// it exceeds `limit`.
template <class Integer>
std::optional<std::uint64_t> magnitude(const Parsed& parsed, bool away, std::uint64_t limit) {
  Integer value = 0;
  for (const char c : parsed.digits) {
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  value *= std::uint64_t{1} << parsed.two;
  if (parsed.ten >= 0) {
    if (parsed.ten > 19 || value > limit / power_of_ten<std::uint64_t>(parsed.ten)) {
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(value) * power_of_ten<std::uint64_t>(parsed.ten);
  }
  // Beyond this the value is below one unit, and the divisor would overflow.
  const auto digits = static_cast<std::int64_t>(parsed.digits.size());
  if (-parsed.ten > digits + 19) {
    return away ? 1 : 0;
  }
  const Integer divisor = power_of_ten<Integer>(-parsed.ten);
  Integer whole = value / divisor;
  if (away && whole * divisor != value) {
    whole += 1;
  }
  if (whole > limit) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(whole);
}

}  // namespace

Result<std::int64_t> parse_quantity(std::string_view text, Unit unit, Round round) {
  if (text.size() > kMaxLength) {
    return fail(Errc::kLimit, fmt::format("the quantity {} is longer than {} characters", shown(text), kMaxLength));
  }
  std::optional<Parsed> parsed = read(text);
  if (!parsed) {
    return invalid(fmt::format("{} is not a quantity", shown(text)));
  }
  if (parsed->digits.empty()) {
    return 0;
  }
  parsed->ten += unit == Unit::kMilli ? 3 : 0;
  const bool away = (round == Round::kUp) != parsed->negative;
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t limit = largest + (parsed->negative ? 1 : 0);
  const auto amount = parsed->digits.size() <= kNarrowDigits ? magnitude<Narrow>(*parsed, away, limit)
                                                             : magnitude<Wide>(*parsed, away, limit);
  if (!amount) {
    return fail(Errc::kLimit, fmt::format("the quantity {} is out of range", shown(text)));
  }
  return static_cast<std::int64_t>(parsed->negative ? ~*amount + 1 : *amount);
}

std::string format_quantity(std::int64_t amount, Unit unit) {
  if (unit == Unit::kMilli) {
    return amount % 1000 == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}m", amount);
  }
  // Small numbers are those of things, not of bytes: 4096 GPUs are no 4Ki.
  constexpr std::int64_t kBytes = std::int64_t{1} << 20;
  const Suffix* best = &kSuffixes.front();
  for (const Suffix& suffix : kSuffixes) {
    if ((amount >= kBytes || amount <= -kBytes) && suffix.two > best->two &&
        amount % (std::int64_t{1} << suffix.two) == 0) {
      best = &suffix;
    }
  }
  return fmt::format("{}{}", amount / (std::int64_t{1} << best->two), best->text);
}

}  // namespace gantree
