#include "engine/counts_cache.h"

#include <algorithm>

namespace gantree {

SlotCounts& CountsCache::get(TopologyId topology, const DomainTree& tree, const PodShape& shape,
                             const std::vector<Slice>& slices, Fill fill) {
  // Mostly it is there: only a new one needs a key of its own.
  auto it = entries_.find(std::tie(topology, fill, slices, shape));
  if (it == entries_.end()) {
    it = entries_.try_emplace(Key{topology, fill, slices, shape}).first;
    it->second.counts = std::make_unique<SlotCounts>(inventory_, tree, shape, slices, fill);
  }
  Entry& entry = it->second;
  entry.used = ++clock_;
  entry.counts->refresh();
  return *entry.counts;
}

void CountsCache::trim() {
  while (entries_.size() > kKept) {
    const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    entries_.erase(oldest);
  }
}

void CountsCache::drop(TopologyId topology) {
  std::erase_if(entries_, [&](const auto& entry) { return std::get<TopologyId>(entry.first) == topology; });
}

}  // namespace gantree
