#pragma once

#include <cstddef>
#include <string_view>

namespace gantree {

// Letters to change, add or leave out to make one of the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);
// Whether somebody who wrote so many letters may have meant what is that far from it.
[[nodiscard]] constexpr bool is_near(std::size_t distance, std::size_t letters) {
  return distance <= (letters < 9 ? 2 : letters / 3);
}

}  // namespace gantree
