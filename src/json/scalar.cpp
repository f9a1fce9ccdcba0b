#include "json/scalar.h"

#include <algorithm>
#include <array>

#include "base/whole_number.h"

namespace gantree::json {
namespace {

constexpr std::array<std::string_view, 11> kTrue{"true", "True", "TRUE", "yes", "Yes", "YES",
                                                 "on",   "On",   "ON",   "y",   "Y"};
constexpr std::array<std::string_view, 11> kFalse{"false", "False", "FALSE", "no", "No", "NO",
                                                  "off",   "Off",   "OFF",   "n",  "N"};
constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 6> kSpecial{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) {
    ++at;
  }
  return at;
}

// The rest from `at` is empty or an exponent.
bool ends_number(std::string_view text, std::size_t at) {
  if (at == text.size()) {
    return true;
  }
  if (text[at] != 'e' && text[at] != 'E') {
    return false;
  }
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    ++at;
  }
  return at < text.size() && skip_digits(text, at) == text.size();
}

bool is_based_integer(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') {
    return false;
  }
  std::string_view digits;
  switch (text[1]) {
    case 'x':
      digits = "0123456789abcdefABCDEF";
      break;
    case 'o':
      digits = "01234567";
      break;
    case 'b':
      digits = "01";
      break;
    default:
      return false;
  }
  return text.find_first_not_of(digits, 2) == std::string_view::npos;
}

bool is_number(std::string_view text) {
  if (text[0] == '-' || text[0] == '+') {
    text.remove_prefix(1);
  }
  if (text.empty()) {
    return false;
  }
  if (text[0] == '.' && among(kSpecial, text)) {
    return true;
  }
  if (is_based_integer(text)) {
    return true;
  }
  const std::size_t whole = skip_digits(text, 0);
  std::size_t at = whole;
  bool any = whole > 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = skip_digits(text, at + 1);
    any = any || fraction > at + 1;
    at = fraction;
  }
  return any && ends_number(text, at);
}

}  // namespace

Kind kind_of_plain(std::string_view text) {
  if (text.empty()) {
    return Kind::kNull;
  }
  // Most scalars are strings: the first character tells.
  const char first = text[0];
  if (is_digit(first) || first == '-' || first == '+' || first == '.') {
    return is_number(text) ? Kind::kNumber : Kind::kString;
  }
  if (text.size() > 5) {
    return Kind::kString;
  }
  if (among(kNull, text)) {
    return Kind::kNull;
  }
  return among(kTrue, text) || among(kFalse, text) ? Kind::kBool : Kind::kString;
}

bool boolean_of_plain(std::string_view text) {
  return among(kTrue, text);
}

bool is_json_number(std::string_view text) {
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    ++at;
  }
  if (at == text.size() || !is_digit(text[at])) {
    return false;
  }
  at = text[at] == '0' ? at + 1 : skip_digits(text, at);
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = skip_digits(text, at + 1);
    if (fraction == at + 1) {
      return false;
    }
    at = fraction;
  }
  return ends_number(text, at);
}

}  // namespace gantree::json
