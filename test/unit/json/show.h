// Documents as short text, to compare them in tests.
#pragma once

#include <string>

#include "json/read.h"
#include "json/write.h"

namespace gantree::json {

// The same tree to write. Numbers that are not 64-bit integers become strings
// that start with '#'.
[[nodiscard]] Out to_out(Value value);

// All documents of the text as compact JSON, with a space between them; or the
// error message.
[[nodiscard]] std::string shown(std::string text);

}  // namespace gantree::json
