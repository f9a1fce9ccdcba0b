// YAML as some clients send it and want it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

// Documents one after the other.
[[nodiscard]] Result<std::vector<Value>> read_yaml_documents(std::string_view text);
// One document.
[[nodiscard]] Result<Value> read_yaml_or_json(std::string_view text);

// In blocks. Where a number has a fraction it is one line of JSON, which is YAML too.
[[nodiscard]] std::string to_yaml(const Value& value);

}  // namespace gantree::apiserver
