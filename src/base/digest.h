// Digests by which others name things. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gantree {

// In hexadecimal digits, small letters.
[[nodiscard]] std::string sha1_hex(std::string_view text);
[[nodiscard]] std::string sha256_hex(std::string_view text);

}  // namespace gantree
