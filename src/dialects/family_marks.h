// By which names of annotations it is known that a family reads them.
#pragma once

#include <string_view>

namespace gantree {

[[nodiscard]] bool is_family_mark(std::string_view annotation);

}  // namespace gantree
