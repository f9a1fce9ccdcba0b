// Groups of identical pods that each want a domain to themselves: a count of the domains that offer enough.
#pragma once

#include <optional>
#include <vector>

#include "engine/slot_counts.h"

namespace gantree {

struct AloneRequest {
  int groups = 1;
  int each = 1;       // pods of a group
  int exclusive = 0;  // level of the domains that they want to themselves
  int required = 0;   // level of which one domain holds a group: that, or one below
  int together = -1;  // level of which one domain holds all groups
};

// Domains of the required level, one a group: in the fewest domains of the levels above, and there the tightest.
// None where there are not enough of them: that is exact.
[[nodiscard]] std::optional<std::vector<Domain>> domains_alone(const SlotCounts& counts, const AloneRequest& request,
                                                               const std::vector<bool>* occupied);

}  // namespace gantree
