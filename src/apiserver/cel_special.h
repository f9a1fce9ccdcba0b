// Values of CEL that JSON does not have: quantities, durations, instants, addresses, networks, optional values and the
// names of types. Each is an object with one member whose key no field has, so that they travel as any other value
// does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "apiserver/json.h"

namespace gantree::apiserver {

enum class Special : std::uint8_t {
  kQuantity,   // thousandths
  kDuration,   // nanoseconds
  kTimestamp,  // seconds since 1970
  kAddress,    // in its shortest form
  kNetwork,    // "address/bits", as given
  kUrl,        // its parts
  kOptional,   // a list of one value, or of none
  kType,       // its name
};

[[nodiscard]] Value special(Special kind, Value content);
// Its content; nullptr where the value is another one.
[[nodiscard]] const Value* special_of(const Value& value, Special kind);
[[nodiscard]] std::optional<Special> special_kind(const Value& value);

// Fields with a format are text in JSON and a duration or an instant in CEL: text is taken as what it is compared with.
[[nodiscard]] std::optional<std::int64_t> count_of(const Value& value, Special kind);

[[nodiscard]] Value optional_value(const Value* value);  // nullptr: none
// The value in it; nullptr where it has none. Requires: it is an optional value.
[[nodiscard]] const Value* value_in(const Value& optional);

[[nodiscard]] std::string_view type_name(const Value& value);

}  // namespace gantree::apiserver
