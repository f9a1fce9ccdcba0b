#include "engine/held_room.h"

#include <algorithm>
#include <utility>

namespace gantree {

HeldRoom::HeldRoom(const Inventory& inventory, const DomainTree& tree, const Victims& victims,
                   std::vector<ResourceId> resources, bool all)
    : tree_(&tree), resources_(std::move(resources)), width_(resources_.size()) {
  const std::uint32_t hosts = tree.size(tree.host_level());
  free_.resize(hosts * width_);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    for (std::size_t r = 0; r < width_; ++r) {
      free_[host * width_ + r] = inventory.free(tree.node(host), resources_[r]);
    }
  }
  read_candidates(victims, all);
  enter(kWholeTree);
}

std::size_t HeldRoom::bytes(const DomainTree& tree, std::size_t holdings, std::size_t resources) {
  return resources * sizeof(std::int64_t) * (tree.size(tree.host_level()) + holdings) +
         holdings * sizeof(std::uint32_t);
}

void HeldRoom::read_candidates(const Victims& victims, bool all) {
  std::size_t holdings = 0;
  for (std::size_t i = 0; i < victims.size(); ++i) {
    holdings += victims.gang(i).holdings.size();
  }
  first_entry_.reserve(victims.size() + 1);
  entry_host_.reserve(holdings);
  entry_amount_.reserve(holdings * width_);
  std::vector<std::int64_t> amounts(width_);
  std::vector<std::pair<std::uint32_t, const Holding*>> held;
  for (std::size_t i = 0; i < victims.size(); ++i) {
    first_entry_.push_back(entry_host_.size());
    held.clear();
    for (const Holding& holding : victims.gang(i).holdings) {
      if (const std::uint32_t host = tree_->host_of(holding.node); host != DomainTree::kNowhere) {
        held.emplace_back(host, &holding);
      }
    }
    std::sort(held.begin(), held.end());
    for (std::size_t h = 0; h < held.size();) {
      const std::uint32_t host = held[h].first;
      std::fill(amounts.begin(), amounts.end(), 0);
      for (; h < held.size() && held[h].first == host; ++h) {
        for (std::size_t r = 0; r < width_; ++r) {
          amounts[r] += held[h].second->requests.get(resources_[r]) * held[h].second->count;
        }
      }
      if (all || std::any_of(amounts.begin(), amounts.end(), [](std::int64_t amount) { return amount > 0; })) {
        entry_host_.push_back(host);
        entry_amount_.insert(entry_amount_.end(), amounts.begin(), amounts.end());
      }
    }
  }
  first_entry_.push_back(entry_host_.size());
}

std::size_t HeldRoom::column(ResourceId resource) const {
  return static_cast<std::size_t>(std::find(resources_.begin(), resources_.end(), resource) - resources_.begin());
}

void HeldRoom::enter(Domain scope) {
  scope_ = scope;
  scope_hosts_ = tree_->hosts(scope);
}

HeldRoom::Entries HeldRoom::in_scope(std::size_t candidate) const {
  const auto begin = entry_host_.begin() + static_cast<std::ptrdiff_t>(first_entry_[candidate]);
  const auto end = entry_host_.begin() + static_cast<std::ptrdiff_t>(first_entry_[candidate + 1]);
  const auto first = scope_.level < 0 ? begin : std::lower_bound(begin, end, scope_hosts_.begin);
  const auto last = scope_.level < 0 ? end : std::lower_bound(first, end, scope_hosts_.end);
  return {static_cast<std::size_t>(first - entry_host_.begin()), static_cast<std::size_t>(last - entry_host_.begin())};
}

void HeldRoom::change(Entries entries, std::int64_t sign) {
  for (std::size_t e = entries.begin; e < entries.end; ++e) {
    std::int64_t* const free = &free_[entry_host_[e] * width_];
    for (std::size_t r = 0; r < width_; ++r) {
      free[r] += sign * entry_amount_[e * width_ + r];
    }
  }
}

}  // namespace gantree
