// What the candidates for eviction hold on the hosts of one tree, and what is free there once some of them are gone.
//
// Evictions are tried on a copy of the few columns that matter, host by host: the inventory is not touched, and a
// trial costs what the candidate holds inside the domain that is looked at. All parts of a gang share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/domain_tree.h"
#include "engine/inventory.h"
#include "engine/victim_cost.h"

namespace gantree {

class HeldRoom {
 public:
  // What one candidate holds on one host is an entry; those of a candidate follow each other, by host.
  struct Entries {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // Reads the free amounts as they are now. Candidates that hold none of the resources have no entries, unless all
  // are asked for.
  HeldRoom(const Inventory& inventory, const DomainTree& tree, const Victims& victims,
           std::vector<ResourceId> resources, bool all);
  // About what that takes, of which each resource.
  [[nodiscard]] static std::size_t bytes(const DomainTree& tree, std::size_t holdings, std::size_t resources);

  [[nodiscard]] const DomainTree& tree() const { return *tree_; }
  [[nodiscard]] std::size_t candidates() const { return first_entry_.size() - 1; }
  // The position of a resource among those of free() and held(). Requires that it is one of them.
  [[nodiscard]] std::size_t column(ResourceId resource) const;
  [[nodiscard]] const std::int64_t* free(std::uint32_t host) const { return &free_[host * width_]; }

  // Looks at one domain from now on. Requires that nothing is evicted.
  void enter(Domain scope);
  [[nodiscard]] Domain scope() const { return scope_; }
  [[nodiscard]] Range scope_hosts() const { return scope_hosts_; }
  // What a candidate holds in the domain goes, or comes back.
  void evict(Entries entries) { change(entries, 1); }
  void restore(Entries entries) { change(entries, -1); }

  [[nodiscard]] Entries entries(std::size_t candidate) const {
    return {first_entry_[candidate], first_entry_[candidate + 1]};
  }
  [[nodiscard]] Entries in_scope(std::size_t candidate) const;
  [[nodiscard]] std::uint32_t host(std::size_t entry) const { return entry_host_[entry]; }
  [[nodiscard]] const std::int64_t* held(std::size_t entry) const { return &entry_amount_[entry * width_]; }

 private:
  void read_candidates(const Victims& victims, bool all);
  void change(Entries entries, std::int64_t sign);

  const DomainTree* tree_;
  std::vector<ResourceId> resources_;
  std::size_t width_;
  Domain scope_ = kWholeTree;
  Range scope_hosts_;
  std::vector<std::int64_t> free_;          // by host, resource
  std::vector<std::size_t> first_entry_;    // by candidate, one more at the end
  std::vector<std::uint32_t> entry_host_;   // sorted within a candidate
  std::vector<std::int64_t> entry_amount_;  // by entry, resource
};

}  // namespace gantree
