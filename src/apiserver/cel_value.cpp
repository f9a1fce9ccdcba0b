// Conversions, quantities and optional values.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "apiserver/cel_functions.h"
#include "apiserver/cel_special.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "base/time.h"

namespace gantree::apiserver {

namespace {

constexpr std::int64_t kThousandths = 1000;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

tl::unexpected<Error> no_conversion() {
  return invalid("type conversion error");
}

Result<double> number_of(const Value& value) {
  if (value.is_number()) {
    return value.to_number<double>();
  }
  double number = 0;
  const std::string_view text = text_of(value);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
    return no_conversion();
  }
  return number;
}

Result<Value> to_double(CelArguments arguments, CelCost&) {
  const auto number = number_of(*arguments[0]);
  return number ? Result<Value>(Value(*number)) : tl::unexpected(number.error());
}

Result<Value> to_int(CelArguments arguments, CelCost&) {
  const Value& value = *arguments[0];
  if (value.is_int64()) {
    return value;
  }
  if (const auto seconds = special_of(value, Special::kTimestamp)) {
    return *seconds;
  }
  if (value.is_string()) {
    std::int64_t whole = 0;
    const std::string_view text = text_of(value);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    return !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size()
               ? Result<Value>(Value(whole))
               : Result<Value>(no_conversion());
  }
  const auto number = number_of(value);
  if (!number) {
    return tl::unexpected(number.error());
  }
  constexpr double kRange = 9.2e18;
  return std::abs(*number) < kRange ? Result<Value>(Value(static_cast<std::int64_t>(*number)))
                                    : Result<Value>(invalid("integer overflow"));
}

Result<Value> to_text(CelArguments arguments, CelCost&) {
  const Value& value = *arguments[0];
  const auto kind = special_kind(value);
  if (kind == Special::kDuration) {
    const std::int64_t count = special_of(value, *kind)->to_number<std::int64_t>();
    return count % kNanoseconds == 0
               ? Value(std::to_string(count / kNanoseconds) + "s")
               : Value(to_json(Value(static_cast<double>(count) / static_cast<double>(kNanoseconds))) + "s");
  }
  if (kind == Special::kTimestamp) {
    return Value(rfc3339(Time(std::chrono::seconds(special_of(value, *kind)->to_number<std::int64_t>()))));
  }
  if (kind == Special::kAddress || kind == Special::kNetwork || kind == Special::kType) {
    return *special_of(value, *kind);
  }
  return Value(value.is_string() ? std::string(text_of(value)) : to_json(value));
}

Result<Value> to_bool(CelArguments arguments, CelCost&) {
  const Value& value = *arguments[0];
  if (value.is_bool()) {
    return value;
  }
  constexpr auto kTrue = std::to_array<std::string_view>({"1", "t", "true", "TRUE", "True"});
  constexpr auto kFalse = std::to_array<std::string_view>({"0", "f", "false", "FALSE", "False"});
  const std::string_view text = text_of(value);
  const bool yes = std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end();
  const bool no = std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end();
  return yes || no ? Result<Value>(Value(yes)) : Result<Value>(no_conversion());
}

Result<Value> itself(CelArguments arguments, CelCost&) {
  return *arguments[0];
}
Result<Value> type(CelArguments arguments, CelCost&) {
  return special(Special::kType, Value(type_name(*arguments[0])));
}

std::optional<std::int64_t> thousandths(std::string_view text) {
  const auto amount = parse_quantity(text, Unit::kMilli, Round::kUp);
  return amount ? std::optional(*amount) : std::nullopt;
}
std::optional<std::int64_t> amount_of(const Value& value) {
  return count_of(value, Special::kQuantity);
}

Result<Value> is_quantity(CelArguments arguments, CelCost&) {
  return Value(arguments[0]->is_string() && thousandths(text_of(*arguments[0])).has_value());
}
Result<Value> quantity(CelArguments arguments, CelCost&) {
  const Value& value = *arguments[0];
  const auto amount = value.is_int64() ? thousandths(std::to_string(value.get_int64())) : thousandths(text_of(value));
  return amount ? Result<Value>(special(Special::kQuantity, *amount))
                : Result<Value>(invalid("quantities must match a number with a suffix"));
}

template <class Of>
Result<Value> of_quantity(CelArguments arguments, Of of) {
  const auto amount = amount_of(*arguments[0]);
  return amount ? Result<Value>(Value(of(*amount))) : Result<Value>(no_overload());
}
Result<Value> sign(CelArguments arguments, CelCost&) {
  return of_quantity(arguments, [](std::int64_t amount) { return std::int64_t{(amount > 0) - (amount < 0)}; });
}
Result<Value> is_integer(CelArguments arguments, CelCost&) {
  return of_quantity(arguments, [](std::int64_t amount) { return amount % kThousandths == 0; });
}
Result<Value> as_integer(CelArguments arguments, CelCost&) {
  const auto amount = amount_of(*arguments[0]);
  if (!amount) {
    return no_overload();
  }
  return *amount % kThousandths == 0 ? Result<Value>(Value(*amount / kThousandths))
                                     : Result<Value>(invalid("cannot convert value to integer"));
}
Result<Value> as_float(CelArguments arguments, CelCost&) {
  return of_quantity(
      arguments, [](std::int64_t amount) { return static_cast<double>(amount) / static_cast<double>(kThousandths); });
}

template <class Of>
Result<Value> of_quantities(CelArguments arguments, Of of) {
  const auto a = amount_of(*arguments[0]);
  const auto b = amount_of(*arguments[1]);
  return a && b ? Result<Value>(Value(of(*a, *b))) : Result<Value>(no_overload());
}
Result<Value> is_less(CelArguments arguments, CelCost&) {
  return of_quantities(arguments, [](std::int64_t a, std::int64_t b) { return a < b; });
}
Result<Value> is_greater(CelArguments arguments, CelCost&) {
  return of_quantities(arguments, [](std::int64_t a, std::int64_t b) { return a > b; });
}
Result<Value> compare(CelArguments arguments, CelCost&) {
  return of_quantities(arguments, [](std::int64_t a, std::int64_t b) { return std::int64_t{(a > b) - (a < b)}; });
}

// The other one may be a whole number.
Result<Value> added(CelArguments arguments, bool less) {
  const auto a = amount_of(*arguments[0]);
  const Value& other = *arguments[1];
  const auto b = other.is_int64() ? thousandths(std::to_string(other.get_int64())) : amount_of(other);
  std::int64_t result = 0;
  if (!a || !b) {
    return no_overload();
  }
  if (less ? __builtin_sub_overflow(*a, *b, &result) : __builtin_add_overflow(*a, *b, &result)) {
    return invalid("integer overflow");
  }
  return special(Special::kQuantity, result);
}
Result<Value> add(CelArguments arguments, CelCost&) {
  return added(arguments, false);
}
Result<Value> subtract(CelArguments arguments, CelCost&) {
  return added(arguments, true);
}

bool is_zero(const Value& value) {
  return value.is_null() || (value.is_bool() && !value.get_bool()) ||
         (value.is_number() && value.to_number<double>() == 0) || (value.is_string() && value.get_string().empty()) ||
         (value.is_array() && value.get_array().empty()) || (value.is_object() && value.get_object().empty());
}

Result<Value> optional_of(CelArguments arguments, CelCost&) {
  return optional_value(arguments[0]);
}
Result<Value> optional_of_non_zero(CelArguments arguments, CelCost&) {
  return optional_value(is_zero(*arguments[0]) ? nullptr : arguments[0]);
}
Result<Value> optional_none(CelArguments, CelCost&) {
  return optional_value(nullptr);
}

bool is_optional(const Value& value) {
  return special_of(value, Special::kOptional) != nullptr;
}
Result<Value> has_value(CelArguments arguments, CelCost&) {
  return is_optional(*arguments[0]) ? Result<Value>(Value(value_in(*arguments[0]) != nullptr))
                                    : Result<Value>(no_overload());
}
Result<Value> value(CelArguments arguments, CelCost&) {
  if (!is_optional(*arguments[0])) {
    return no_overload();
  }
  const Value* inner = value_in(*arguments[0]);
  return inner == nullptr ? Result<Value>(invalid("optional.none() dereference")) : *inner;
}
Result<Value> or_value(CelArguments arguments, CelCost&) {
  if (!is_optional(*arguments[0])) {
    return no_overload();
  }
  const Value* inner = value_in(*arguments[0]);
  return inner == nullptr ? *arguments[1] : *inner;
}
Result<Value> or_other(CelArguments arguments, CelCost&) {
  if (!is_optional(*arguments[0]) || !is_optional(*arguments[1])) {
    return no_overload();
  }
  return value_in(*arguments[0]) == nullptr ? *arguments[1] : *arguments[0];
}

constexpr auto kValueFunctions = std::to_array<CelFunction>({
    {"int", 1, to_int},
    {"uint", 1, to_int},
    {"double", 1, to_double},
    {"string", 1, to_text},
    {"bool", 1, to_bool},
    {"dyn", 1, itself},
    {"type", 1, type},
    {"isQuantity", 1, is_quantity},
    {"quantity", 1, quantity},
    {"sign", 1, sign},
    {"isInteger", 1, is_integer},
    {"asInteger", 1, as_integer},
    {"asApproximateFloat", 1, as_float},
    {"isLessThan", 2, is_less},
    {"isGreaterThan", 2, is_greater},
    {"compareTo", 2, compare},
    {"add", 2, add},
    {"sub", 2, subtract},
    {"optional.of", 1, optional_of},
    {"optional.ofNonZeroValue", 1, optional_of_non_zero},
    {"optional.none", 0, optional_none},
    {"hasValue", 1, has_value},
    {"value", 1, value},
    {"orValue", 2, or_value},
    {"or", 2, or_other},
});

}  // namespace

std::span<const CelFunction> cel_value_functions() {
  return kValueFunctions;
}

}  // namespace gantree::apiserver
