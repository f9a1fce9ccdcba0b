// What was read, to be written again.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "json/write.h"

namespace gantree::json {

// Text of strings goes through `text` on the way; keys do not. Numbers that are no 64-bit integers become text.
[[nodiscard]] Out copy(Value value, const std::function<std::string(std::string_view)>& text);
[[nodiscard]] Out copy(Value value);

}  // namespace gantree::json
