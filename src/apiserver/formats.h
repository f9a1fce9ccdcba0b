// The string formats that schemas name, as far as the real server checks them.
#pragma once

#include <string_view>

namespace gantree::apiserver {

// Formats that are not known match everything.
[[nodiscard]] bool has_format(std::string_view format, std::string_view text);

[[nodiscard]] bool is_base64(std::string_view text);

}  // namespace gantree::apiserver
