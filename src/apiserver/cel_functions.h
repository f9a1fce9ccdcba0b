// The functions of CEL, by name and number of arguments: the same table for reading a rule and for evaluating it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "apiserver/cel_cost.h"
#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

using CelArguments = std::span<const Value* const>;

struct CelFunction {
  std::string_view name;
  std::size_t arguments;  // the receiver included
  // The arguments are paid for; what is made beyond their size is to be paid for before it is made.
  Result<Value> (*apply)(CelArguments arguments, CelCost& cost);
};

// nullptr where there is none. Functions of a library are named with it: "sets.contains".
[[nodiscard]] const CelFunction* find_cel_function(std::string_view name, std::size_t arguments);

// Whether functions are called by this name and a dot, as in "sets.contains(a, b)".
[[nodiscard]] bool is_cel_library(std::string_view name);

// The parts of that table.
[[nodiscard]] std::span<const CelFunction> cel_text_functions();
[[nodiscard]] std::span<const CelFunction> cel_list_functions();
[[nodiscard]] std::span<const CelFunction> cel_time_functions();
[[nodiscard]] std::span<const CelFunction> cel_network_functions();
[[nodiscard]] std::span<const CelFunction> cel_value_functions();

// How many characters a text has.

[[nodiscard]] inline tl::unexpected<Error> no_overload() {
  return invalid("no such overload");
}
[[nodiscard]] inline tl::unexpected<Error> too_dear() {
  return fail(Errc::kLimit, "the rule takes too long");
}

}  // namespace gantree::apiserver
