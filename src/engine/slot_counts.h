// How many pods of one shape fit into every domain of one tree, kept up to date.
//
// A host's slots are the pods that fit there now. A domain's capacity is the
// sum over its children, rounded down to whole slices where a slice layer ends
// at its level. Beside it a domain keeps the running sums of its children's
// capacities, largest first: "how many pods fit into the best k children" is
// one look-up.
//
// refresh() reads on in the inventory's log: its cost follows what changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/domain_tree.h"
#include "engine/inventory.h"
#include "model/gang.h"
#include "model/pod_shape.h"

namespace gantree {

// Now, or as if no pod ran anywhere.
enum class Fill : std::uint8_t { kNow, kEmpty };

class SlotCounts {
 public:
  // The inventory and the tree must outlive the counts.
  SlotCounts(const Inventory& inventory, const DomainTree& tree, PodShape shape, std::vector<Slice> slices, Fill fill);

  void refresh();

  [[nodiscard]] const DomainTree& tree() const { return tree_; }
  [[nodiscard]] const PodShape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Slice>& slices() const { return slices_; }
  [[nodiscard]] Fill fill() const { return fill_; }

  // Level -1 is the whole tree.
  [[nodiscard]] int capacity(Domain domain) const {
    return domain.level < 0 ? total_ : capacity_[static_cast<std::size_t>(domain.level)][domain.index];
  }
  [[nodiscard]] std::span<const int> capacities(int level) const { return capacity_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] int slots(std::uint32_t host) const { return capacity_.back()[host]; }
  // Pods in the best k children at [k-1], before rounding at the domain itself.
  [[nodiscard]] std::span<const int> best(Domain domain) const;
  // An upper bound of best(child)[k-1] over the children: where no child can be
  // as good as one already found, they need not be looked at. Requires that the
  // children are not hosts.
  [[nodiscard]] int peak(Domain domain, int k) const {
    const std::size_t width = peak_width_[static_cast<std::size_t>(domain.level)];
    return peak_[static_cast<std::size_t>(domain.level)]
                [domain.index * width + std::min(static_cast<std::size_t>(k), width) - 1];
  }
  // Up to how many children peaks are distinguished.
  [[nodiscard]] static int peaks() { return kMaxPeaks; }
  // Bit min(s, 63) is set where some host below has s > 0 slots.
  [[nodiscard]] std::uint64_t sizes(Domain domain) const;

  // Rounds down to whole slices at a level.
  [[nodiscard]] int whole(int level, int pods) const {
    return pods - pods % unit_[static_cast<std::size_t>(level + 1)];
  }
  // The smallest piece in which pods come at a level and above it.
  [[nodiscard]] int unit(int level) const { return unit_[static_cast<std::size_t>(level + 1)]; }

  [[nodiscard]] Ineligible ineligible(std::uint32_t host) const { return ineligible_[host]; }
  [[nodiscard]] bool has_scores() const { return has_scores_; }
  [[nodiscard]] int score(std::uint32_t host) const { return has_scores_ ? score_[host] : 0; }

 private:
  static constexpr int kMaxPeaks = 64;

  void read_node(std::uint32_t host);
  [[nodiscard]] int count_slots(std::uint32_t host) const;
  void rebuild();
  void change(std::uint32_t host, int slots);
  void summarize(Domain domain);
  void summarize_peak(Domain domain);
  void summarize_top() const;

  const Inventory& inventory_;
  const DomainTree& tree_;
  PodShape shape_;
  std::vector<Slice> slices_;
  Fill fill_;
  bool has_scores_ = false;
  std::uint64_t position_ = 0;
  int total_ = 0;
  std::vector<int> unit_;                          // by level + 1
  std::vector<std::vector<int>> sum_;              // by level, domain: before rounding (not for hosts)
  std::vector<std::vector<int>> capacity_;         // by level, domain
  std::vector<std::vector<std::uint64_t>> sizes_;  // by level, domain (not for hosts)
  std::vector<std::vector<int>> peak_;             // by level, domain: peak_width_ each (not for the lowest two levels)
  std::vector<std::size_t> peak_width_;
  std::vector<Ineligible> ineligible_;    // by host
  std::vector<int> score_;                // by host, where the shape has preferences
  std::vector<std::vector<char>> stale_;  // by level, domain: best_ and sizes_ lag behind
  std::vector<Domain> stale_list_;
  // Sorted lazily for the whole tree, which may have very many children.
  mutable std::vector<std::vector<int>> best_;  // by child level, aligned with the children
  mutable bool top_stale_ = true;
};

}  // namespace gantree
