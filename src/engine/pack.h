// Placing identical pods: fewest domains per level, from the top down to hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "engine/budget.h"
#include "engine/slot_counts.h"

namespace gantree {

// So many pods on the host at that position of the tree.
struct HostPods {
  std::uint32_t host = 0;
  int count = 0;
  friend auto operator<=>(const HostPods&, const HostPods&) = default;
};
using Shares = std::vector<HostPods>;  // by host position, each host once

// Where pods may go.
struct Scope {
  Domain within = kWholeTree;
  int required = -1;  // all in one domain of this level or a lower one; -1: anywhere within
  // Domains of level `exclusive` that are taken by others; nullptr: none.
  int exclusive = -1;
  const std::vector<bool>* occupied = nullptr;

  // Whether a domain lies in none of the occupied ones.
  [[nodiscard]] bool allows(const DomainTree& tree, Domain domain) const {
    return occupied == nullptr || domain.level < exclusive ||
           !(*occupied)[tree.ancestor(domain.level, domain.index, exclusive)];
  }
};

inline constexpr int kAnyNumber = std::numeric_limits<int>::max();

// Calls `look` on the domains of a level above the hosts inside a domain, skipping those whose
// parent shows that none of its children holds `pods()` pods in `k()` children.
template <class Pods, class K, class Look>
void visit_domains(const SlotCounts& counts, Domain within, int level, Pods pods, K k, Look look) {
  const DomainTree& tree = counts.tree();
  const auto all_of = [&](Range range) {
    for (std::uint32_t d = range.begin; d < range.end; ++d) {
      look(d);
    }
  };
  if (level - 1 <= within.level) {
    all_of(tree.below(within, level));
    return;
  }
  const Range parents = tree.below(within, level - 1);
  for (std::uint32_t p = parents.begin; p < parents.end; ++p) {
    if (counts.peak({level - 1, p}, k()) >= pods()) {
      all_of(tree.children({level - 1, p}));
    }
  }
}

// The same for every level. Of hosts, those are skipped whose parent has none that holds so many.
template <class Pods, class K, class Look>
void visit(const SlotCounts& counts, Domain within, int level, Pods pods, K k, Look look) {
  const int parents = level - 1;
  if (level < counts.tree().host_level() || parents <= within.level) {
    visit_domains(counts, within, level, pods, k, look);
    return;
  }
  visit_domains(
      counts, within, parents, pods, [] { return 1; },
      [&](std::uint32_t d) {
        if (counts.best({parents, d}).front() >= pods()) {
          visit_domains(counts, {parents, d}, level, pods, k, look);
        }
      });
}

// The best placement of `pods` identical pods, or nullopt where there is none:
// that answer is always exact. Which placement is best is exact within the
// budget and close to it beyond. Requires pods > 0, and pods a multiple of
// counts.unit(-1).
[[nodiscard]] std::optional<Shares> pack(const SlotCounts& counts, const Scope& scope, int pods, Budget& budget);

// How many children of a domain are needed for the pods. Requires that it holds them.
[[nodiscard]] int children_needed(const SlotCounts& counts, Domain domain, int pods);

// Whether pack() would find a placement.
[[nodiscard]] bool can_hold(const SlotCounts& counts, const Scope& scope, int pods);

// The domains of one level that hold all the pods, and of which something else
// is true where that is asked: those that need the fewest children first, then
// the tightest. At most so many of them.
[[nodiscard]] std::vector<Domain> holders(const SlotCounts& counts, const Scope& scope, int level, int pods,
                                          const std::function<bool(const Domain&)>& also = {},
                                          std::size_t most = std::numeric_limits<std::size_t>::max());

// Fewest children first, level by level, without looking ahead: always
// succeeds where the domain holds the pods.
void pack_greedily(const SlotCounts& counts, Domain domain, int pods, Shares& out);

// Chooses `k` of the given capacities that together hold `pods`, small ones
// where possible, so that large holes stay whole. Returns (position, pods).
// Requires that the k largest hold them.
[[nodiscard]] std::vector<std::pair<std::uint32_t, int>> choose_children(const SlotCounts& counts, Domain domain, int k,
                                                                         int pods);

// Domains used per level below a domain, topmost first.
[[nodiscard]] std::vector<int> domains_used(const DomainTree& tree, int below_level, const Shares& shares);

}  // namespace gantree
