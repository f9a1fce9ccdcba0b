// What stands between two values in CEL: comparisons, arithmetic, `in`.
#pragma once

#include <string_view>

#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

// An instant or duration that is compared with text is compared with what the text says.
[[nodiscard]] bool equal(const Value& a, const Value& b);

// All operators but those of logic and equality. Fails where the two are not of a kind that it knows, and on overflow.
[[nodiscard]] Result<Value> operate(std::string_view name, const Value& a, const Value& b);

}  // namespace gantree::apiserver
