#include "engine/slot_counts.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace gantree {

namespace {

std::size_t at(int level) {
  return static_cast<std::size_t>(level);
}

std::uint64_t size_bit(int slots) {
  return slots <= 0 ? 0 : std::uint64_t{1} << std::min(slots, 63);
}

}  // namespace

SlotCounts::SlotCounts(const Inventory& inventory, const DomainTree& tree, PodShape shape, std::vector<Slice> slices,
                       Fill fill)
    : inventory_(inventory), tree_(tree), shape_(std::move(shape)), slices_(std::move(slices)), fill_(fill) {
  unit_.assign(at(tree.levels() + 1), 1);
  for (const Slice& slice : slices_) {
    GANTREE_CHECK(slice.level < tree.levels() && slice.size > 0);
    for (int level = -1; level <= slice.level; ++level) {
      unit_[at(level + 1)] = std::lcm(unit_[at(level + 1)], slice.size);
    }
  }
  rebuild();
}

void SlotCounts::rebuild() {
  const int hosts = tree_.host_level();
  position_ = inventory_.position();
  sum_.assign(at(hosts), {});
  sizes_.assign(at(hosts), {});
  stale_.assign(at(hosts), {});
  stale_list_.clear();
  capacity_.assign(at(tree_.levels()), {});
  best_.assign(at(tree_.levels()), {});
  for (int level = 0; level <= hosts; ++level) {
    capacity_[at(level)].assign(tree_.size(level), 0);
    best_[at(level)].assign(tree_.size(level), 0);
    if (level < hosts) {
      sum_[at(level)].assign(tree_.size(level), 0);
      sizes_[at(level)].assign(tree_.size(level), 0);
      stale_[at(level)].assign(tree_.size(level), 0);
    }
  }
  peak_.assign(at(std::max(0, hosts - 1)), {});
  peak_width_.assign(peak_.size(), 0);
  for (int level = 0; level < hosts - 1; ++level) {
    std::uint32_t widest = 0;
    for (std::uint32_t d = 0; d < tree_.size(level + 1); ++d) {
      widest = std::max(widest, tree_.children({level + 1, d}).size());
    }
    peak_width_[at(level)] = std::min<std::size_t>(widest, kMaxPeaks);
    peak_[at(level)].assign(tree_.size(level) * peak_width_[at(level)], 0);
  }
  ineligible_.assign(tree_.size(hosts), Ineligible::kNo);
  score_.clear();
  has_scores_ = false;
  for (std::uint32_t host = 0; host < tree_.size(hosts); ++host) {
    read_node(host);
    capacity_.back()[host] = whole(hosts, count_slots(host));
  }
  for (int level = hosts - 1; level >= 0; --level) {
    for (std::uint32_t d = 0; d < tree_.size(level); ++d) {
      const Range children = tree_.children({level, d});
      const auto first = capacity_[at(level + 1)].begin();
      sum_[at(level)][d] = std::accumulate(first + children.begin, first + children.end, 0);
      capacity_[at(level)][d] = whole(level, sum_[at(level)][d]);
      summarize({level, d});
    }
  }
  total_ = whole(-1, std::accumulate(capacity_[0].begin(), capacity_[0].end(), 0));
  top_stale_ = true;
}

// Who may run there, and who would like to: what pods that come and go do not change.
void SlotCounts::read_node(std::uint32_t host) {
  const Node& node = inventory_.node(tree_.node(host));
  ineligible_[host] = eligibility(shape_, node, inventory_.strings());
  if (!shape_.preferred.empty() || !node.taints.empty()) {
    const int score = preference(shape_, node, inventory_.strings());
    if (score != 0 && !has_scores_) {
      has_scores_ = true;
      score_.assign(tree_.size(tree_.host_level()), 0);
    }
    if (has_scores_) {
      score_[host] = score;
    }
  } else if (has_scores_) {
    score_[host] = 0;
  }
}

int SlotCounts::count_slots(std::uint32_t host) const {
  if (ineligible_[host] != Ineligible::kNo) {
    return 0;
  }
  const NodeId id = tree_.node(host);
  const std::int64_t room =
      fill_ == Fill::kNow ? inventory_.room(id, shape_.requests) : inventory_.room_when_empty(id, shape_.requests);
  // Sums over the whole tree stay within an int.
  return static_cast<int>(
      std::min<std::int64_t>(room, std::numeric_limits<int>::max() / tree_.size(tree_.host_level())));
}

void SlotCounts::refresh() {
  if (position_ == inventory_.position()) {
    return;
  }
  const auto changed = inventory_.changed_since(position_);
  if (!changed) {
    rebuild();
    return;
  }
  for (const auto& [node, itself] : *changed) {
    if (const std::uint32_t host = tree_.host_of(node); host != DomainTree::kNowhere) {
      if (itself) {
        read_node(host);
      }
      change(host, whole(tree_.host_level(), count_slots(host)));
    }
  }
  // Lower levels first: a domain's sizes come from its children's.
  std::sort(stale_list_.begin(), stale_list_.end(), std::greater<>());
  for (const Domain& domain : stale_list_) {
    summarize(domain);
  }
  stale_list_.clear();
  position_ = inventory_.position();
}

// Walks one path of the tree, up to where nothing changes any more.
void SlotCounts::change(std::uint32_t host, int slots) {
  int level = tree_.host_level();
  std::uint32_t index = host;
  int delta = slots - capacity_.back()[host];
  capacity_.back()[host] = slots;
  while (delta != 0 && level > 0) {
    index = tree_.parent(level, index);
    --level;
    if (stale_[at(level)][index] == 0) {
      stale_[at(level)][index] = 1;
      stale_list_.push_back({level, index});
    }
    int& sum = sum_[at(level)][index];
    sum += delta;
    int& capacity = capacity_[at(level)][index];
    const int now = whole(level, sum);
    delta = now - capacity;
    capacity = now;
  }
  if (delta != 0) {
    total_ = whole(-1, total_ + delta);
    top_stale_ = true;
  }
}

void SlotCounts::summarize(Domain domain) {
  const Range children = tree_.children(domain);
  const auto& capacity = capacity_[at(domain.level + 1)];
  auto& best = best_[at(domain.level + 1)];
  const auto begin = best.begin() + children.begin;
  const auto end = best.begin() + children.end;
  std::uint64_t sizes = 0;
  const bool hosts = domain.level + 1 == tree_.host_level();
  for (std::uint32_t c = children.begin; c < children.end; ++c) {
    best[c] = capacity[c];
    sizes |= hosts ? size_bit(capacity[c]) : sizes_[at(domain.level + 1)][c];
  }
  std::sort(begin, end, std::greater<>());
  std::partial_sum(begin, end, begin);
  sizes_[at(domain.level)][domain.index] = sizes;
  stale_[at(domain.level)][domain.index] = 0;
  if (!hosts) {
    summarize_peak(domain);
  }
}

void SlotCounts::summarize_peak(Domain domain) {
  const std::size_t width = peak_width_[at(domain.level)];
  int* const peak = &peak_[at(domain.level)][domain.index * width];
  std::fill_n(peak, width, 0);
  const Range children = tree_.children(domain);
  for (std::uint32_t c = children.begin; c < children.end; ++c) {
    const auto best = this->best({domain.level + 1, c});
    const std::size_t known = std::min(best.size(), width - 1);
    for (std::size_t k = 0; k < known; ++k) {
      peak[k] = std::max(peak[k], best[k]);
    }
    for (std::size_t k = known; k < width; ++k) {
      peak[k] = std::max(peak[k], best.back());
    }
  }
}

void SlotCounts::summarize_top() const {
  best_[0] = capacity_[0];
  std::sort(best_[0].begin(), best_[0].end(), std::greater<>());
  std::partial_sum(best_[0].begin(), best_[0].end(), best_[0].begin());
  top_stale_ = false;
}

std::span<const int> SlotCounts::best(Domain domain) const {
  const Range children = tree_.children(domain);
  if (domain.level < 0 && top_stale_) {
    summarize_top();
  }
  return std::span(best_[at(domain.level + 1)]).subspan(children.begin, children.size());
}

std::uint64_t SlotCounts::sizes(Domain domain) const {
  if (domain.level == tree_.host_level()) {
    return size_bit(capacity_.back()[domain.index]);
  }
  if (domain.level >= 0) {
    return sizes_[at(domain.level)][domain.index];
  }
  std::uint64_t sizes = 0;
  for (std::uint32_t d = 0; d < tree_.size(0); ++d) {
    sizes |= this->sizes({0, d});
  }
  return sizes;
}

}  // namespace gantree
