// The slot counts in use, by what they count. Kept between placements, so that
// a shape already seen costs only what changed since.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/slot_counts.h"

namespace gantree {

class CountsCache {
 public:
  explicit CountsCache(const Inventory& inventory) : inventory_(inventory) {}

  // Up to date with the inventory. Stays valid until the next trim() or drop().
  SlotCounts& get(TopologyId topology, const DomainTree& tree, const PodShape& shape, const std::vector<Slice>& slices,
                  Fill fill);
  // Forgets the least recently used beyond what is worth keeping.
  void trim();
  // Forgets all counts of a topology, whose tree is about to change.
  void drop(TopologyId topology);

 private:
  static constexpr std::size_t kKept = 64;
  using Key = std::tuple<TopologyId, Fill, std::vector<Slice>, PodShape>;
  struct Entry {
    std::unique_ptr<SlotCounts> counts;
    std::uint64_t used = 0;
  };

  const Inventory& inventory_;
  std::map<Key, Entry, std::less<>> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace gantree
