// Random clusters and gangs: uneven trees, equal names under different parents,
// missing labels, taints, cordons, prior usage, hosts of mixed sizes, and gangs
// that nearly fit or nearly do not.
#pragma once

#include <array>

#include "support/choices.h"
#include "support/instance.h"

namespace gantree::test {

// What the gangs of an instance look like.
enum class Family : std::uint8_t {
  kSingle,       // one pod set: required, preferred or unconstrained
  kSlices,       // one pod set in one to three layers of slices
  kGroup,        // two or three pod sets of different shapes under one constraint
  kIndependent,  // pod sets, each with a constraint of its own
  kNested,       // a constrained group of constrained pod sets and groups
  kExclusive,    // several gangs, alone in their domains
  kPartial,      // one pod set that may start with fewer pods
  kMixed,        // any of these, pod sets without a constraint among them
};
inline constexpr std::array kFamilies{Family::kSingle, Family::kSlices,    Family::kGroup,   Family::kIndependent,
                                      Family::kNested, Family::kExclusive, Family::kPartial, Family::kMixed};
[[nodiscard]] const char* to_string(Family family);

struct Scale {
  int max_hosts = 8;
  int max_pods = 10;         // of one gang
  int max_upper_levels = 3;  // above the hosts
  int max_gpus = 4;          // of one host
};

[[nodiscard]] int levels_above_hosts(const Instance& cluster);

[[nodiscard]] Instance random_cluster(Choices& choices, const Scale& scale);
[[nodiscard]] NodeSpec random_node(Choices& choices, const Instance& cluster, const std::string& name,
                                   const Scale& scale);
[[nodiscard]] GangSpec random_gang(Choices& choices, const Instance& cluster, Family family, const Scale& scale,
                                   const std::string& name);
// A cluster and one to three gangs.
[[nodiscard]] Instance random_instance(Choices& choices, Family family, const Scale& scale);

}  // namespace gantree::test
