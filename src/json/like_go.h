// JSON as Go's encoder writes it, byte by byte: for digests that programs in Go compare.
#pragma once

#include <string>
#include <string_view>

namespace gantree::json {

// Appends text as a JSON string, in quotes, as append_string() does, but escapes what HTML would take for markup, and
// nothing that only YAML does not take.
void append_string_like_go(std::string& out, std::string_view text);

}  // namespace gantree::json
