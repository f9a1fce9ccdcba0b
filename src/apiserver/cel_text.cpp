// Functions of text. Places in a text are counted in characters, not in bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/cel_functions.h"
#include "apiserver/pattern.h"

namespace gantree::apiserver {

namespace {

// A pattern that is not known beforehand has to be read each time.
constexpr std::size_t kCompilation = 5'000;

bool are_texts(CelArguments arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const Value* value) { return value->is_string(); });
}

// Where the n-th character begins, or the end; npos beyond that.
std::size_t byte_of(std::string_view text, std::int64_t character) {
  if (character < 0) {
    return std::string_view::npos;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && character-- == 0) {
      return i;
    }
  }
  return character == 0 ? text.size() : std::string_view::npos;
}

tl::unexpected<Error> out_of_range(std::int64_t at) {
  return invalid(fmt::format("index out of range: {}", at));
}

template <class Test>
Result<Value> tested(CelArguments arguments, CelCost& cost, Test test) {
  if (!are_texts(arguments)) {
    return no_overload();
  }
  const std::string_view text = text_of(*arguments[0]);
  const std::string_view other = text_of(*arguments[1]);
  return cost.pay_search(text, other) ? Result<Value>(Value(test(text, other))) : Result<Value>(too_dear());
}

Result<Value> starts_with(CelArguments arguments, CelCost& cost) {
  return tested(arguments, cost, [](std::string_view text, std::string_view other) { return text.starts_with(other); });
}
Result<Value> ends_with(CelArguments arguments, CelCost& cost) {
  return tested(arguments, cost, [](std::string_view text, std::string_view other) { return text.ends_with(other); });
}
Result<Value> contains(CelArguments arguments, CelCost& cost) {
  return tested(arguments, cost, [](std::string_view text, std::string_view other) {
    return text.find(other) != std::string_view::npos;
  });
}

Result<std::shared_ptr<const Pattern>> pattern_of(const Value& value, CelCost& cost) {
  return cost.pay(kCompilation) ? Pattern::compile(text_of(value)) : Result<std::shared_ptr<const Pattern>>(too_dear());
}

Result<Value> matches(CelArguments arguments, CelCost& cost) {
  if (!are_texts(arguments)) {
    return no_overload();
  }
  const auto pattern = pattern_of(*arguments[1], cost);
  return pattern ? Result<Value>(Value((*pattern)->matches(text_of(*arguments[0])))) : tl::unexpected(pattern.error());
}

Result<Value> found(CelArguments arguments, CelCost& cost, std::size_t most) {
  if (!are_texts(arguments.first(2))) {
    return no_overload();
  }
  const auto pattern = pattern_of(*arguments[1], cost);
  if (!pattern) {
    return tl::unexpected(pattern.error());
  }
  Array all;
  for (const std::string_view one : (*pattern)->find_all(text_of(*arguments[0]), most)) {
    if (!cost.pay_text(one)) {
      return too_dear();
    }
    all.push_back(Value(one));
  }
  return Value(std::move(all));
}

Result<Value> find_first(CelArguments arguments, CelCost& cost) {
  auto all = found(arguments, cost, 1);
  if (!all) {
    return all;
  }
  return all->get_array().empty() ? Value("") : all->get_array().front();
}
Result<Value> find_every(CelArguments arguments, CelCost& cost) {
  return found(arguments, cost, std::numeric_limits<std::size_t>::max());
}
Result<Value> find_some(CelArguments arguments, CelCost& cost) {
  const std::int64_t most = arguments[2]->is_int64() ? arguments[2]->get_int64() : -1;
  return found(arguments, cost, most < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(most));
}

template <class Change>
Result<Value> changed(CelArguments arguments, Change change) {
  if (!are_texts(arguments)) {
    return no_overload();
  }
  std::string text(text_of(*arguments[0]));
  std::transform(text.begin(), text.end(), text.begin(), change);
  return Value(text);
}

Result<Value> lower_ascii(CelArguments arguments, CelCost&) {
  return changed(arguments, [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
}
Result<Value> upper_ascii(CelArguments arguments, CelCost&) {
  return changed(arguments, [](char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); });
}

Result<Value> trimmed(CelArguments arguments, CelCost&) {
  if (!are_texts(arguments)) {
    return no_overload();
  }
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::string_view text = text_of(*arguments[0]);
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? Value("")
                                         : Value(text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1));
}

Result<Value> part(CelArguments arguments, std::int64_t end) {
  if (!arguments[0]->is_string() || !arguments[1]->is_int64()) {
    return no_overload();
  }
  const std::string_view text = text_of(*arguments[0]);
  const std::int64_t begin = arguments[1]->get_int64();
  const std::size_t from = byte_of(text, begin);
  const std::size_t to = byte_of(text, end);
  if (from == std::string_view::npos || to == std::string_view::npos || to < from) {
    return out_of_range(from == std::string_view::npos ? begin : end);
  }
  return Value(text.substr(from, to - from));
}

Result<Value> substring_from(CelArguments arguments, CelCost&) {
  return part(arguments, characters_in(text_of(*arguments[0])));
}
Result<Value> substring(CelArguments arguments, CelCost&) {
  return arguments[2]->is_int64() ? part(arguments, arguments[2]->get_int64()) : Result<Value>(no_overload());
}

Result<Value> char_at(CelArguments arguments, CelCost&) {
  if (!arguments[0]->is_string() || !arguments[1]->is_int64()) {
    return no_overload();
  }
  const std::int64_t at = arguments[1]->get_int64();
  const std::int64_t size = characters_in(text_of(*arguments[0]));
  return at == size ? Value("") : part(arguments, std::min(at, size) + 1);
}

// Splits into at most `most` parts; without any text between, into characters.
Result<Value> split_into(CelArguments arguments, CelCost& cost, std::int64_t most) {
  if (!are_texts(arguments.first(2))) {
    return no_overload();
  }
  std::string_view text = text_of(*arguments[0]);
  const std::string_view between = text_of(*arguments[1]);
  Array parts;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) + 1 < most) {
    const std::size_t end = between.empty() ? byte_of(text, 1) : text.find(between);
    if (end == std::string_view::npos || (between.empty() && end == text.size())) {
      break;
    }
    if (!cost.pay(2)) {
      return too_dear();
    }
    parts.push_back(Value(text.substr(0, end)));
    text.remove_prefix(end + between.size());
  }
  if (most != 0 && !(between.empty() && text.empty())) {
    parts.push_back(Value(text));
  }
  return Value(std::move(parts));
}

Result<Value> split(CelArguments arguments, CelCost& cost) {
  return split_into(arguments, cost, -1);
}
Result<Value> split_some(CelArguments arguments, CelCost& cost) {
  return arguments[2]->is_int64() ? split_into(arguments, cost, arguments[2]->get_int64())
                                  : Result<Value>(no_overload());
}

Result<Value> replaced(CelArguments arguments, CelCost& cost, std::int64_t most) {
  if (!are_texts(arguments.first(3))) {
    return no_overload();
  }
  std::string_view text = text_of(*arguments[0]);
  const std::string_view old = text_of(*arguments[1]);
  std::string result;
  for (; most != 0 && !old.empty(); --most) {
    const std::size_t at = text.find(old);
    if (at == std::string_view::npos) {
      break;
    }
    if (!cost.pay_text(text_of(*arguments[2]))) {
      return too_dear();
    }
    result += text.substr(0, at);
    result += text_of(*arguments[2]);
    text.remove_prefix(at + old.size());
  }
  result += text;
  return Value(result);
}

Result<Value> replace(CelArguments arguments, CelCost& cost) {
  return replaced(arguments, cost, -1);
}
Result<Value> replace_some(CelArguments arguments, CelCost& cost) {
  return arguments[3]->is_int64() ? replaced(arguments, cost, arguments[3]->get_int64()) : Result<Value>(no_overload());
}

Result<Value> joined(CelArguments arguments, CelCost& cost) {
  const Array* array = arguments[0]->if_array();
  const std::string_view between = arguments.size() > 1 ? text_of(*arguments[1]) : std::string_view();
  if (array == nullptr) {
    return no_overload();
  }
  std::string text;
  for (std::size_t i = 0; i < array->size(); ++i) {
    if (!(*array)[i].is_string()) {
      return no_overload();
    }
    if (!cost.pay_text(between)) {
      return too_dear();
    }
    text += i == 0 ? "" : between;
    text += text_of((*array)[i]);
  }
  return Value(text);
}

Result<std::string> written(char how, std::optional<std::size_t> digits, const Value& value) {
  if (how == 's') {
    return value.is_string() ? std::string(text_of(value)) : to_json(value);
  }
  if (how == 'd' && value.is_int64()) {
    return std::to_string(value.get_int64());
  }
  if ((how == 'f' || how == 'e') && value.is_number()) {
    constexpr std::size_t kUsual = 6;
    const std::size_t precision = std::min<std::size_t>(digits.value_or(kUsual), 100);
    return how == 'f' ? fmt::format("{:.{}f}", value.to_number<double>(), precision)
                      : fmt::format("{:.{}e}", value.to_number<double>(), precision);
  }
  if (!value.is_int64()) {
    return no_overload();
  }
  switch (how) {
    case 'x':
      return fmt::format("{:x}", value.get_int64());
    case 'X':
      return fmt::format("{:X}", value.get_int64());
    case 'o':
      return fmt::format("{:o}", value.get_int64());
    case 'b':
      return fmt::format("{:b}", value.get_int64());
    default:
      return invalid("could not parse formatting clause");
  }
}

// "%s has %d parts": the arguments are a list.
Result<Value> formatted(CelArguments arguments, CelCost& cost) {
  const Array* values = arguments[1]->if_array();
  if (!arguments[0]->is_string() || values == nullptr) {
    return no_overload();
  }
  const std::string_view clause = text_of(*arguments[0]);
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < clause.size(); ++i) {
    if (clause[i] != '%') {
      text += clause[i];
      continue;
    }
    std::optional<std::size_t> digits;
    if (++i < clause.size() && clause[i] == '.') {
      std::size_t precision = 0;
      const auto read = std::from_chars(clause.data() + i + 1, clause.data() + clause.size(), precision);
      digits = precision;
      i = static_cast<std::size_t>(read.ptr - clause.data());
    }
    if (i >= clause.size()) {
      return invalid("unexpected end of the formatting clause");
    }
    if (clause[i] == '%') {
      text += '%';
      continue;
    }
    if (next == values->size()) {
      return invalid(fmt::format("index {} out of range", next));
    }
    if (!cost.pay_value((*values)[next])) {  // one value may be written once for each clause
      return too_dear();
    }
    const auto one = written(clause[i], digits, (*values)[next++]);
    if (!one) {
      return tl::unexpected(one.error());
    }
    text += *one;
  }
  return Value(text);
}

constexpr auto kTextFunctions = std::to_array<CelFunction>({
    {"startsWith", 2, starts_with},
    {"endsWith", 2, ends_with},
    {"contains", 2, contains},
    {"matches", 2, matches},
    {"find", 2, find_first},
    {"findAll", 2, find_every},
    {"findAll", 3, find_some},
    {"lowerAscii", 1, lower_ascii},
    {"upperAscii", 1, upper_ascii},
    {"trim", 1, trimmed},
    {"substring", 2, substring_from},
    {"substring", 3, substring},
    {"charAt", 2, char_at},
    {"split", 2, split},
    {"split", 3, split_some},
    {"replace", 3, replace},
    {"replace", 4, replace_some},
    {"join", 1, joined},
    {"join", 2, joined},
    {"format", 2, formatted},
});

}  // namespace

std::span<const CelFunction> cel_text_functions() {
  return kTextFunctions;
}

}  // namespace gantree::apiserver
