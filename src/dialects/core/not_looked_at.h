// What a pod demands of its place that no scheduler here looks at.
#pragma once

#include <string>

#include "json/value.h"

namespace gantree {

// The first of it in a pod's spec, as part of a sentence; "" where there is nothing. What is only preferred does not
// count. A pod that is ours to bind is refused for it, rather than bound against its wish.
[[nodiscard]] std::string not_looked_at(json::Value spec);

}  // namespace gantree
