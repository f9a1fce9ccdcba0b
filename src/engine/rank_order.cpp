#include "engine/rank_order.h"

#include <algorithm>
#include <map>

namespace gantree {

namespace {

// The hosts of one pod set by position, each once.
Shares merged(const GangPlan& plan, const std::vector<Shares>& shares, std::size_t pod_set) {
  Shares all;
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    if (plan.parts[p].pod_set == pod_set) {
      all.insert(all.end(), shares[p].begin(), shares[p].end());
    }
  }
  std::sort(all.begin(), all.end());
  Shares once;
  for (const HostPods& share : all) {
    if (!once.empty() && once.back().host == share.host) {
      once.back().count += share.count;
    } else {
      once.push_back(share);
    }
  }
  return once;
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
                        const SearchContext& context) {
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  Placement placement;
  placement.pod_sets.resize(sets.size());
  std::vector<bool> follows;
  find_followers(gang.root, follows);
  const DomainTree* last_tree = nullptr;
  std::uint32_t last_host = 0;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const auto part =
        std::find_if(plan.parts.begin(), plan.parts.end(), [&](const Part& p) { return p.pod_set == set; });
    if (part == plan.parts.end()) {
      continue;
    }
    const DomainTree& tree = context.counts(*part, Fill::kNow).tree();
    Shares hosts = merged(plan, shares, set);
    if (const LastPieceLast last(tree, sets[set]->constraint.slices, hosts); last.needed()) {
      last.sort(hosts);
    } else if (follows[set] && last_tree == &tree) {
      begin_at(tree, last_host, hosts);
    }
    if (!hosts.empty()) {
      last_tree = &tree;
      last_host = hosts.back().host;
    }
    for (const HostPods& share : hosts) {
      placement.pod_sets[set].push_back({tree.node(share.host), share.count});
    }
  }
  return placement;
}

}  // namespace gantree
