#include "engine/rank_order.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace gantree {

namespace {

// By pod set: its parts, which may be several.
using PartOf = std::pair<std::size_t, std::size_t>;  // pod set, part
std::vector<PartOf> parts_by_set(const GangPlan& plan) {
  std::vector<PartOf> found;
  found.reserve(plan.parts.size());
  for (std::size_t part = 0; part < plan.parts.size(); ++part) {
    found.emplace_back(plan.parts[part].pod_set, part);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The hosts of some parts by position, each once.
Shares merged(std::span<const PartOf> parts, const std::vector<Shares>& shares) {
  Shares all;
  for (const auto& [set, part] : parts) {
    all.insert(all.end(), shares[part].begin(), shares[part].end());
  }
  const auto one_after_the_other = [](const HostPods& a, const HostPods& b) { return a.host >= b.host; };
  if (std::adjacent_find(all.begin(), all.end(), one_after_the_other) == all.end()) {
    return all;
  }
  std::sort(all.begin(), all.end());
  std::size_t once = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[once].host == all[i].host) {
      all[once].count += all[i].count;
    } else {
      all[++once] = all[i];
    }
  }
  all.resize(once + 1);
  return all;
}

// Moves the domain with the smaller last piece to the end, level by level.
class LastPieceLast {
 public:
  LastPieceLast(const DomainTree& tree, const std::vector<Slice>& slices, const Shares& shares) : tree_(tree) {
    for (const Slice& slice : slices) {
      std::map<std::uint32_t, int> pods;
      for (const HostPods& share : shares) {
        pods[tree.ancestor(tree.host_level(), share.host, slice.level)] += share.count;
      }
      for (const auto& [domain, count] : pods) {
        if (count % slice.size != 0) {
          pieces_.push_back({slice.level, domain});
        }
      }
    }
  }

  void sort(Shares& shares) const {
    std::sort(shares.begin(), shares.end(), [&](const HostPods& a, const HostPods& b) {
      for (int level = 0; level <= tree_.host_level(); ++level) {
        const std::uint32_t in_a = tree_.ancestor(tree_.host_level(), a.host, level);
        const std::uint32_t in_b = tree_.ancestor(tree_.host_level(), b.host, level);
        if (in_a != in_b) {
          return std::pair(holds_piece(level, in_a), in_a) < std::pair(holds_piece(level, in_b), in_b);
        }
      }
      return false;
    });
  }

  [[nodiscard]] bool needed() const { return !pieces_.empty(); }

 private:
  [[nodiscard]] bool holds_piece(int level, std::uint32_t index) const {
    return std::any_of(pieces_.begin(), pieces_.end(), [&](const Domain& piece) {
      return piece.level >= level && tree_.ancestor(piece.level, piece.index, level) == index;
    });
  }

  const DomainTree& tree_;
  std::vector<Domain> pieces_;
};

// The hosts of a pod set, from the one before it in its group: the domain in which that ended comes first, level by
// level.
void begin_at(const DomainTree& tree, std::uint32_t host, Shares& shares) {
  std::stable_sort(shares.begin(), shares.end(), [&](const HostPods& a, const HostPods& b) {
    for (int level = 0; level <= tree.host_level(); ++level) {
      const std::uint32_t here = tree.ancestor(tree.host_level(), host, level);
      const std::uint32_t in_a = tree.ancestor(tree.host_level(), a.host, level);
      const std::uint32_t in_b = tree.ancestor(tree.host_level(), b.host, level);
      if (in_a != in_b) {
        return std::pair(in_a != here, in_a) < std::pair(in_b != here, in_b);
      }
    }
    return false;
  });
}

// For every pod set whether it goes on where the one before it ends.
void find_followers(const Group& group, std::vector<bool>& follows) {
  const bool together = group.constraint.required || group.constraint.preferred;
  for (std::size_t i = 0; i < group.pod_sets.size(); ++i) {
    follows.push_back(together && i > 0);
  }
  for (const Group& below : group.groups) {
    find_followers(below, follows);
  }
}

}  // namespace

Placement in_rank_order(const Gang& gang, const GangPlan& plan, const std::vector<Shares>& shares,
                        const TreeOf& tree_of) {
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  Placement placement;
  placement.pod_sets.resize(sets.size());
  const std::vector<PartOf> parts = parts_by_set(plan);
  std::vector<bool> follows;
  find_followers(gang.root, follows);
  const DomainTree* last_tree = nullptr;
  std::uint32_t last_host = 0;
  for (std::size_t first = 0, end = 0; first < parts.size(); first = end) {
    const std::size_t set = parts[first].first;
    while (end < parts.size() && parts[end].first == set) {
      ++end;
    }
    const DomainTree& tree = tree_of(plan.parts[parts[first].second].topology);
    Shares hosts = merged(std::span(parts).subspan(first, end - first), shares);
    if (const LastPieceLast last(tree, sets[set]->constraint.slices, hosts); last.needed()) {
      last.sort(hosts);
    } else if (follows[set] && last_tree == &tree) {
      begin_at(tree, last_host, hosts);
    }
    if (!hosts.empty()) {
      last_tree = &tree;
      last_host = hosts.back().host;
    }
    placement.pod_sets[set].reserve(hosts.size());
    for (const HostPods& share : hosts) {
      placement.pod_sets[set].push_back({tree.node(share.host), share.count});
    }
  }
  return placement;
}

}  // namespace gantree
