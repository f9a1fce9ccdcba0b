// YAML text to documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/builder.h"

namespace gantree::json {

// Reads all documents of `text`, whose first line is number `line` of the
// file, and appends their roots. On failure the builder says why.
[[nodiscard]] bool read_yaml(std::string_view text, int line, Builder& builder, Storage& storage,
                             std::vector<NodeData>& roots);

}  // namespace gantree::json
