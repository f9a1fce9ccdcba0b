// JSON of clients that write a field twice. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"

namespace gantree::apiserver {

// parse_json(), but of a key that is there several times in one object the last counts; `twice` gets the paths of the
// first hundred of such fields, as "spec.containers[0].name".
[[nodiscard]] Result<Value> parse_json(std::string_view text, std::vector<std::string>& twice);

}  // namespace gantree::apiserver
