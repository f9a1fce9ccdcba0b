#include "apiserver/cel_operators.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "apiserver/cel_functions.h"
#include "apiserver/cel_special.h"

namespace gantree::apiserver {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

tl::unexpected<Error> overflow() {
  return invalid("integer overflow");
}

template <class T>
std::optional<bool> compared(std::string_view relation, const T& a, const T& b) {
  if (relation == "<") {
    return a < b;
  }
  if (relation == "<=") {
    return a <= b;
  }
  if (relation == ">") {
    return a > b;
  }
  return relation == ">=" ? std::optional(a >= b) : std::nullopt;
}

Result<Value> contained(const Value& what, const Value& where) {
  if (const Object* object = where.if_object(); object != nullptr) {
    return Value(what.is_string() && object->if_contains(text_of(what)) != nullptr);
  }
  const Array* array = where.if_array();
  if (array == nullptr) {
    return no_overload();
  }
  return Value(std::any_of(array->begin(), array->end(), [&](const Value& item) { return equal(item, what); }));
}

Result<Value> texts(std::string_view relation, std::string_view a, std::string_view b) {
  if (relation == "+") {
    return Value(std::string(a) + std::string(b));
  }
  const auto result = compared(relation, a, b);
  return result ? Result<Value>(Value(*result)) : Result<Value>(no_overload());
}

Result<Value> integers(std::string_view relation, std::int64_t a, std::int64_t b) {
  if (const auto result = compared(relation, a, b)) {
    return Value(*result);
  }
  std::int64_t result = 0;
  const bool divides = relation == "/" || relation == "%";
  if (divides && b == 0) {
    return invalid("division by zero");
  }
  const bool too_large = relation == "+"   ? __builtin_add_overflow(a, b, &result)
                         : relation == "-" ? __builtin_sub_overflow(a, b, &result)
                         : relation == "*" ? __builtin_mul_overflow(a, b, &result)
                                           : a == std::numeric_limits<std::int64_t>::min() && b == -1;
  if (too_large) {
    return overflow();
  }
  return Value(relation == "/" ? a / b : relation == "%" ? a % b : result);
}

Result<Value> doubles(std::string_view relation, double a, double b) {
  if (const auto result = compared(relation, a, b)) {
    return Value(*result);
  }
  if (relation == "%") {
    return no_overload();
  }
  return Value(relation == "+" ? a + b : relation == "-" ? a - b : relation == "*" ? a * b : a / b);
}

Result<Value> moved(Special kind, std::string_view relation, std::int64_t a, std::int64_t b) {
  const auto result = integers(relation, a, b);
  return result ? Result<Value>(special(kind, *result)) : result;
}

// An instant and a duration.
Result<Value> instant_and_duration(std::string_view relation, const Value& a, const Value& b) {
  const bool first = special_of(a, Special::kDuration) == nullptr;
  const auto when = count_of(first ? a : b, Special::kTimestamp);
  const auto wait = count_of(first ? b : a, Special::kDuration);
  if (!when || !wait || (relation != "+" && !(relation == "-" && first))) {
    return no_overload();
  }
  return moved(Special::kTimestamp, relation, *when, *wait / kNanoseconds);
}

// Two of a kind, one of which may be text.
Result<Value> two_of_a_kind(Special kind, std::string_view relation, const Value& a, const Value& b) {
  const auto left = count_of(a, kind);
  const auto right = count_of(b, kind);
  if (!left || !right) {
    return no_overload();
  }
  if (const auto result = compared(relation, *left, *right)) {
    return Value(*result);
  }
  if (kind == Special::kDuration && (relation == "+" || relation == "-")) {
    return moved(kind, relation, *left, *right);
  }
  if (kind != Special::kTimestamp || relation != "-") {
    return no_overload();
  }
  std::int64_t apart = 0;
  const bool too_far =
      __builtin_sub_overflow(*left, *right, &apart) || __builtin_mul_overflow(apart, kNanoseconds, &apart);
  return too_far ? Result<Value>(overflow()) : special(Special::kDuration, apart);
}

bool either(Special kind, const Value& a, const Value& b) {
  return special_of(a, kind) != nullptr || special_of(b, kind) != nullptr;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  for (const Special kind : {Special::kDuration, Special::kTimestamp}) {
    if (either(kind, a, b)) {
      return count_of(a, kind) == count_of(b, kind);
    }
  }
  return same(a, b);
}

Result<Value> operate(std::string_view name, const Value& a, const Value& b) {
  if (name == "in") {
    return contained(a, b);
  }
  const bool instant = either(Special::kTimestamp, a, b);
  const bool duration = either(Special::kDuration, a, b);
  if (instant || duration) {
    return instant && duration ? instant_and_duration(name, a, b)
                               : two_of_a_kind(instant ? Special::kTimestamp : Special::kDuration, name, a, b);
  }
  if (a.is_string() && b.is_string()) {
    return texts(name, text_of(a), text_of(b));
  }
  if (name == "+" && a.is_array() && b.is_array()) {
    Array joined = a.get_array();
    joined.insert(joined.end(), b.get_array().begin(), b.get_array().end());
    return Value(std::move(joined));
  }
  if (!a.is_number() || !b.is_number()) {
    return no_overload();
  }
  return a.is_int64() && b.is_int64() ? integers(name, a.get_int64(), b.get_int64())
                                      : doubles(name, a.to_number<double>(), b.to_number<double>());
}

}  // namespace gantree::apiserver
