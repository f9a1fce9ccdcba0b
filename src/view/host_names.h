// Names of hosts in a few words.
#pragma once

#include <string>
#include <vector>

namespace gantree::view {

// "gpu-b1-r1-[01-04,07], login": those that differ by the number at their end together. Of very many the first, and
// how many more there are.
[[nodiscard]] std::string host_names(std::vector<std::string> names);

}  // namespace gantree::view
