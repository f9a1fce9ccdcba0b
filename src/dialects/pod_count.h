// How many pods and groups one workload may ask for, and how counts are multiplied.
#pragma once

#include <cstdint>

#include "base/saturating.h"

namespace gantree {

// Kubernetes is made for 150,000 pods in a cluster. What asks for more than this is a slip of the pen or an attack, and
// sums of counts up to it are far from overflow.
inline constexpr int kMostPods = 1'000'000;

// Groups, and pod sets, that are placed together. What is alike among them costs next to nothing; where all differ, so
// many take a second or two.
inline constexpr int kMostGroupsTogether = 2'048;

// Equal parts of so many pods each; beyond kMostPods exact as long as 64 bits hold it.
[[nodiscard]] constexpr std::int64_t pods_of_parts(std::int64_t parts, std::int64_t each) {
  return saturated_product(parts, each);
}

}  // namespace gantree
