// YAML as some clients send it.
#pragma once

#include <string_view>

#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

// One document.
[[nodiscard]] Result<Value> read_yaml_or_json(std::string_view text);

}  // namespace gantree::apiserver
