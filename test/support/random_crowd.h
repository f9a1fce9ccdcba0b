// Random gangs of many groups: alike and unlike, leaders with workers, nested, alone in their domains, with minima.
//
// How many groups there are follows from what is free: from a third of it to a little more than all.
#pragma once

#include <array>
#include <cstdint>

#include "support/choices.h"
#include "support/instance.h"

namespace gantree::test {

enum class Crowd : std::uint8_t {
  kAlike,      // groups of one pod set, all the same
  kUnlike,     // groups of one pod set, of several shapes, sizes and levels
  kLeaders,    // a leader and workers in every group
  kNested,     // groups of groups
  kExclusive,  // every group alone in a domain
  kTwoLevels,  // alone in a domain, and groups inside alone in a smaller one
  kSliced,     // groups whose pods come in slices
  kMinima,     // may start with fewer pods, or with fewer groups
};
inline constexpr std::array kCrowds{Crowd::kAlike,     Crowd::kUnlike,    Crowd::kLeaders, Crowd::kNested,
                                    Crowd::kExclusive, Crowd::kTwoLevels, Crowd::kSliced,  Crowd::kMinima};
[[nodiscard]] const char* to_string(Crowd crowd);

struct CrowdScale {
  int max_hosts = 24;
  int max_groups = 20;
};

// A cluster and the gang; before it, where some want to be alone, maybe another one of its kind.
[[nodiscard]] Instance random_crowd(Choices& choices, Crowd crowd, const CrowdScale& scale);

}  // namespace gantree::test
