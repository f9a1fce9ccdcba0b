#pragma once

#include <string_view>

namespace gantree {

// Writes all of it to standard output. False, after a line on stderr, where that fails; a reader
// that has gone away (a closed pipe) is no failure.
[[nodiscard]] bool write_output(std::string_view text);

// One line on stderr: "gantree: message".
void tell(std::string_view message);

}  // namespace gantree
