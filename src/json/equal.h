// Whether two values say the same.
#pragma once

#include "json/value.h"

namespace gantree::json {

// Members may be in any order; numbers are compared as they are written. Two absent values are equal.
[[nodiscard]] bool equal(Value a, Value b);

}  // namespace gantree::json
