#include "engine/owned_domains.h"

#include <algorithm>

namespace gantree {

void OwnedDomains::mark(const DomainTree& tree, TopologyId topology, int level, Owner group,
                        std::vector<bool>& taken) const {
  for (const Owned& owned : owned_) {
    const bool apart = owned.owner.last < group.first || group.last < owned.owner.first;
    if (!apart || owned.topology != topology) {
      continue;
    }
    const int held = std::min(owned.domain.level, level);
    const Range range = tree.below({held, tree.ancestor(owned.domain.level, owned.domain.index, held)}, level);
    std::fill(taken.begin() + range.begin, taken.begin() + range.end, true);
  }
}

}  // namespace gantree
