// What was read, to be written again.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "json/value.h"
#include "json/write.h"

namespace gantree::json {

// Something else in place of a value; nothing: as it is. `key` is "" for items of lists and for the root.
using Replace = std::function<std::optional<Out>(std::string_view key, Value value)>;

// Numbers that are no 64-bit integers become text.
[[nodiscard]] Out copy(Value value, const Replace& replace);
[[nodiscard]] Out copy(Value value);

}  // namespace gantree::json
