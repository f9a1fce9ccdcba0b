// What a YAML plain (unquoted) scalar means, as Kubernetes reads it.
#pragma once

#include <string_view>

#include "json/value.h"

namespace gantree::json {

// null: nothing, ~, null, Null, NULL. Booleans: true, yes, on, y and their
// opposites, each in lower case, Capitalised or UPPER case. Numbers: decimal
// integers and floats, 0x, 0o, 0b, .inf, .nan. All else is a string.
[[nodiscard]] Kind kind_of_plain(std::string_view text);

// Which of the two a boolean is. Requires kind_of_plain(text) == kBool.
[[nodiscard]] bool boolean_of_plain(std::string_view text);

// A number as the JSON grammar has it.
[[nodiscard]] bool is_json_number(std::string_view text);

}  // namespace gantree::json
