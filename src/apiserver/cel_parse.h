// From the text of a CEL expression to its tree; for cel.cpp.
#pragma once

#include <string_view>

#include "apiserver/cel.h"

namespace gantree::apiserver {

[[nodiscard]] Result<CelNode> parse_cel(std::string_view text);

}  // namespace gantree::apiserver
