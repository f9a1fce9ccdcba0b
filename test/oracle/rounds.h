// How many random instances a test tries, and which.
//
// GANTREE_ORACLE_ROUNDS multiplies the number (a fraction is fine);
// GANTREE_ORACLE_SEED runs one seed only, as printed by a failure.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/random_instance.h"

namespace gantree::oracle {

[[nodiscard]] inline std::vector<std::uint64_t> seeds(test::Family family, int rounds) {
  if (const char* only = std::getenv("GANTREE_ORACLE_SEED")) {
    return {std::stoull(only)};
  }
  if (const char* factor = std::getenv("GANTREE_ORACLE_ROUNDS")) {
    rounds = static_cast<int>(std::stod(factor) * rounds);
  }
  std::vector<std::uint64_t> found;
  for (int round = 0; round < rounds; ++round) {
    found.push_back(static_cast<std::uint64_t>(family) * 1'000'000'000 + static_cast<std::uint64_t>(round));
  }
  return found;
}

}  // namespace gantree::oracle
