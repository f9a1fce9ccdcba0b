// Functions of lists, and those that lists and texts share.
#include <algorithm>
#include <array>
#include <string>

#include "apiserver/cel_functions.h"
#include "apiserver/cel_special.h"

namespace gantree::apiserver {

namespace {

Result<Value> size(CelArguments arguments, CelCost&) {
  const Value& value = *arguments[0];
  if (value.is_string()) {
    return Value(characters_in(text_of(value)));
  }
  if (!value.is_array() && !value.is_object()) {
    return no_overload();
  }
  return Value(static_cast<std::int64_t>(value.is_array() ? value.get_array().size() : value.get_object().size()));
}

bool comes_before(const Value& a, const Value& b) {
  if (const auto kind = special_kind(a)) {
    return count_of(a, *kind).value_or(0) < count_of(b, *kind).value_or(0);
  }
  if (a.is_int64() && b.is_int64()) {
    return a.get_int64() < b.get_int64();
  }
  return a.is_number() && b.is_number() ? a.to_number<double>() < b.to_number<double>() : text_of(a) < text_of(b);
}

Result<Value> is_sorted(CelArguments arguments, CelCost&) {
  const Array* array = arguments[0]->if_array();
  return array == nullptr ? Result<Value>(no_overload())
                          : Value(std::is_sorted(array->begin(), array->end(), comes_before));
}

template <class Choose>
Result<Value> chosen(CelArguments arguments, Choose choose) {
  const Array* array = arguments[0]->if_array();
  if (array == nullptr) {
    return no_overload();
  }
  return array->empty() ? Result<Value>(invalid("an empty list has no smallest and no largest item"))
                        : *choose(array->begin(), array->end(), comes_before);
}

Result<Value> smallest(CelArguments arguments, CelCost&) {
  return chosen(arguments, [](auto begin, auto end, auto before) { return std::min_element(begin, end, before); });
}
Result<Value> largest(CelArguments arguments, CelCost&) {
  return chosen(arguments, [](auto begin, auto end, auto before) { return std::max_element(begin, end, before); });
}

Result<Value> sum(CelArguments arguments, CelCost&) {
  const Array* array = arguments[0]->if_array();
  if (array == nullptr ||
      !std::all_of(array->begin(), array->end(), [](const Value& one) { return one.is_number(); })) {
    return no_overload();
  }
  if (std::any_of(array->begin(), array->end(), [](const Value& one) { return one.is_double(); })) {
    double total = 0;
    for (const Value& one : *array) {
      total += one.to_number<double>();
    }
    return Value(total);
  }
  std::int64_t total = 0;
  for (const Value& one : *array) {
    if (!one.is_int64() || __builtin_add_overflow(total, one.get_int64(), &total)) {
      return invalid("integer overflow");
    }
  }
  return Value(total);
}

constexpr std::int64_t kNowhere = -1;

std::int64_t place_in_text(std::string_view text, std::string_view wanted, bool last, std::int64_t from) {
  std::int64_t character = 0;
  std::int64_t place = kNowhere;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool begins = i == text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && text.substr(i).starts_with(wanted) && (last ? character <= from : character >= from)) {
      place = character;
      if (!last) {
        break;
      }
    }
    character += begins ? 1 : 0;
  }
  return place;
}

Result<Value> place(CelArguments arguments, CelCost& cost, bool last, std::int64_t from) {
  const Value& where = *arguments[0];
  const Value& what = *arguments[1];
  if (where.is_string() && what.is_string()) {
    if (!cost.pay_search(text_of(where), text_of(what))) {
      return too_dear();
    }
    return Value(place_in_text(text_of(where), text_of(what), last, from));
  }
  const Array* array = where.if_array();
  if (array == nullptr) {
    return no_overload();
  }
  std::int64_t found = kNowhere;
  for (std::size_t i = 0; i < array->size() && (last || found == kNowhere); ++i) {
    if (!cost.pay_comparison((*array)[i], what)) {
      return too_dear();
    }
    found = same((*array)[i], what) ? static_cast<std::int64_t>(i) : found;
  }
  return Value(found);
}

Result<Value> index_of(CelArguments arguments, CelCost& cost) {
  return place(arguments, cost, false, 0);
}
Result<Value> last_index_of(CelArguments arguments, CelCost& cost) {
  return place(arguments, cost, true, INT64_MAX);
}
Result<Value> index_of_from(CelArguments arguments, CelCost& cost) {
  return arguments[2]->is_int64() ? place(arguments, cost, false, arguments[2]->get_int64())
                                  : Result<Value>(no_overload());
}
Result<Value> last_index_of_from(CelArguments arguments, CelCost& cost) {
  return arguments[2]->is_int64() ? place(arguments, cost, true, arguments[2]->get_int64())
                                  : Result<Value>(no_overload());
}

// How many items of the first list are in the second.
Result<std::size_t> shared(const Value& items, const Value& of, CelCost& cost) {
  if (!items.is_array() || !of.is_array()) {
    return no_overload();
  }
  std::size_t count = 0;
  for (const Value& item : items.get_array()) {
    if (!cost.pay_value(of)) {
      return too_dear();
    }
    const Array& all = of.get_array();
    count += std::any_of(all.begin(), all.end(), [&](const Value& one) { return same(one, item); }) ? 1 : 0;
  }
  return count;
}

Result<Value> set_contains(CelArguments arguments, CelCost& cost) {
  const auto count = shared(*arguments[1], *arguments[0], cost);
  return count ? Result<Value>(Value(*count == arguments[1]->get_array().size())) : tl::unexpected(count.error());
}
Result<Value> set_intersects(CelArguments arguments, CelCost& cost) {
  const auto count = shared(*arguments[0], *arguments[1], cost);
  return count ? Result<Value>(Value(*count > 0)) : tl::unexpected(count.error());
}
Result<Value> set_equivalent(CelArguments arguments, CelCost& cost) {
  const std::array<const Value*, 2> turned = {arguments[1], arguments[0]};
  const auto there = set_contains(arguments, cost);
  return there && there->get_bool() ? set_contains(turned, cost) : there;
}

constexpr auto kListFunctions = std::to_array<CelFunction>({
    {"size", 1, size},
    {"isSorted", 1, is_sorted},
    {"min", 1, smallest},
    {"max", 1, largest},
    {"sum", 1, sum},
    {"indexOf", 2, index_of},
    {"indexOf", 3, index_of_from},
    {"lastIndexOf", 2, last_index_of},
    {"lastIndexOf", 3, last_index_of_from},
    {"sets.contains", 2, set_contains},
    {"sets.intersects", 2, set_intersects},
    {"sets.equivalent", 2, set_equivalent},
});

}  // namespace

std::span<const CelFunction> cel_list_functions() {
  return kListFunctions;
}

}  // namespace gantree::apiserver
