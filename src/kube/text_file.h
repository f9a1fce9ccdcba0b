// Small files that credentials come in.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace gantree::kube {

// The whole file, at most 10 MiB.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);
[[nodiscard]] bool file_exists(const std::string& path);

// Without blanks and line breaks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace gantree::kube
