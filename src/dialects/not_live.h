// Marks of families that only plans honour so far: on a live cluster pods that carry them are not bound.
#pragma once

#include <string>

#include "json/value.h"

namespace gantree {

// What a pod carries that is not honoured, as the end of a sentence; "" where there is nothing.
[[nodiscard]] std::string not_honoured_live(json::Value metadata, json::Value spec);

}  // namespace gantree
