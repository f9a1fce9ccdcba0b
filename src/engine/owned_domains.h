// The domains that groups of the gang which is being placed have to themselves already.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/domain_tree.h"

namespace gantree {

class OwnedDomains {
 public:
  // A group, named by the first and the last of its parts.
  struct Owner {
    std::size_t first = 0;
    std::size_t last = 0;
  };

  void add(TopologyId topology, Domain domain, Owner owner) { owned_.push_back({topology, domain, owner}); }
  [[nodiscard]] std::size_t size() const { return owned_.size(); }
  // Forgets all but the first so many.
  void shrink(std::size_t size) { owned_.resize(size); }

  // Marks the domains of a level that are no longer there for a group: in which another one lives, or which lie in
  // the domain of another one. What contains the group, or is a part of it, is not in its way.
  void mark(const DomainTree& tree, TopologyId topology, int level, Owner group, std::vector<bool>& taken) const;

 private:
  struct Owned {
    TopologyId topology;
    Domain domain;
    Owner owner;
  };
  std::vector<Owned> owned_;
};

}  // namespace gantree
