#include "engine/fill.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/check.h"

namespace gantree {

namespace {

// Takes hosts of one size below a domain, fullest domains first.
void take_size(const SlotCounts& counts, const Scope& scope, Domain domain, int size_bit, int& left, Shares& out) {
  const DomainTree& tree = counts.tree();
  if (domain.level == tree.host_level()) {
    const int share = std::min(left, counts.slots(domain.index));
    out.push_back({domain.index, share});
    left -= share;
    return;
  }
  const Range range = tree.children(domain);
  std::vector<std::pair<int, std::uint32_t>> order;
  for (std::uint32_t c = range.begin; c < range.end; ++c) {
    const Domain child{domain.level + 1, c};
    if ((counts.sizes(child) >> size_bit & 1) != 0 && scope.allows(tree, child)) {
      order.emplace_back(counts.capacity(child), c);
    }
  }
  // A heap yields the fullest children one by one: mostly few are needed.
  std::make_heap(order.begin(), order.end(), std::greater<>());
  while (!order.empty() && left > 0) {
    std::pop_heap(order.begin(), order.end(), std::greater<>());
    take_size(counts, scope, {domain.level + 1, order.back().second}, size_bit, left, out);
    order.pop_back();
  }
}

// The domain of the required level (or the scope itself) with the most room.
std::optional<Domain> roomiest(const SlotCounts& counts, const Scope& scope, int pods) {
  const DomainTree& tree = counts.tree();
  const int level = std::max(scope.required, scope.within.level);
  std::optional<Domain> best;
  const Range range = tree.below(scope.within, level);
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    const Domain domain{level, d};
    if (counts.capacity(domain) >= pods && scope.allows(tree, domain) &&
        (!best || counts.capacity(domain) > counts.capacity(*best))) {
      best = domain;
    }
  }
  return best;
}

// Splits pods over capacities so that the smallest share is as large as
// possible, in pieces of `unit`; remainders go to the roomiest, then first.
std::vector<int> even_shares(const std::vector<int>& capacity, int pods, int unit) {
  std::vector<std::size_t> order(capacity.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return capacity[a] < capacity[b]; });
  std::vector<int> share(capacity.size(), 0);
  int left = pods;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto rest = static_cast<int>(order.size() - i);
    const int fair = left / unit / rest * unit;
    share[order[i]] = std::min(capacity[order[i]], fair);
    left -= share[order[i]];
  }
  for (std::size_t i = order.size(); i-- > 0 && left > 0;) {
    const int more = std::min({unit, left, capacity[order[i]] - share[order[i]]});
    share[order[i]] += more;
    left -= more;
  }
  GANTREE_CHECK(left == 0);
  return share;
}

void spread(const SlotCounts& counts, Domain domain, int pods, Shares& out) {
  const DomainTree& tree = counts.tree();
  if (domain.level == tree.host_level()) {
    out.push_back({domain.index, pods});
    return;
  }
  const Range range = tree.children(domain);
  std::vector<int> capacity;
  for (std::uint32_t c = range.begin; c < range.end; ++c) {
    capacity.push_back(counts.capacity({domain.level + 1, c}));
  }
  const std::vector<int> share = even_shares(capacity, pods, counts.unit(domain.level + 1));
  for (std::size_t i = 0; i < share.size(); ++i) {
    if (share[i] > 0) {
      spread(counts, {domain.level + 1, range.begin + static_cast<std::uint32_t>(i)}, share[i], out);
    }
  }
}

}  // namespace

std::optional<Shares> fill_tightest(const SlotCounts& counts, const Scope& scope, int pods) {
  if (counts.capacity(scope.within) < pods) {
    return std::nullopt;
  }
  Shares shares;
  int left = pods;
  const std::uint64_t sizes = counts.sizes(scope.within);
  for (int bit = 1; bit < 64 && left > 0; ++bit) {
    if ((sizes >> bit & 1) != 0) {
      take_size(counts, scope, scope.within, bit, left, shares);
    }
  }
  if (left > 0) {
    return std::nullopt;  // exclusive domains of others hold the rest
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

std::optional<Shares> fill_evenly(const SlotCounts& counts, const Scope& scope, int pods) {
  const auto domain = roomiest(counts, scope, pods);
  if (!domain) {
    return std::nullopt;
  }
  Shares shares;
  spread(counts, *domain, pods, shares);
  return shares;
}

namespace {

// Domains of a level inside a domain over which pods are shared out, as
// (capacity, index): the tightest that hold an equal share each, or else the
// largest.
std::vector<std::pair<int, std::uint32_t>> sharers(const SlotCounts& counts, const Scope& scope, Domain top, int level,
                                                   int pods, std::size_t number) {
  std::vector<std::pair<int, std::uint32_t>> order;
  const Range range = counts.tree().below(top, level);
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    if (counts.capacity({level, d}) > 0 && scope.allows(counts.tree(), {level, d})) {
      order.emplace_back(counts.capacity({level, d}), d);
    }
  }
  std::sort(order.begin(), order.end());
  const int pieces = pods / counts.unit(level);
  const int most = (pieces + static_cast<int>(number) - 1) / static_cast<int>(number) * counts.unit(level);
  auto first = std::lower_bound(order.begin(), order.end(), std::pair(most, std::uint32_t{0}));
  if (static_cast<std::size_t>(order.end() - first) < number) {
    first = order.end() - static_cast<std::ptrdiff_t>(std::min(number, order.size()));
  }
  return {first, first + static_cast<std::ptrdiff_t>(std::min(number, static_cast<std::size_t>(order.end() - first)))};
}

}  // namespace

std::optional<Shares> fill_balanced(const SlotCounts& counts, const Scope& scope, int level, int pods, Budget& budget) {
  const DomainTree& tree = counts.tree();
  // The usual packing says how few domains of the level are possible, and
  // inside a domain of which level.
  const auto packed = pack(counts, scope, pods, budget);
  if (!packed) {
    return std::nullopt;
  }
  const auto ancestor = [&](const HostPods& share, int at) { return tree.ancestor(tree.host_level(), share.host, at); };
  int above = level - 1;
  while (above > scope.within.level && ancestor(packed->front(), above) != ancestor(packed->back(), above)) {
    --above;
  }
  const int fewest = domains_used(tree, level - 1, *packed).front();
  // Of the domains that do with as few, the one whose smallest share is largest; then the tightest.
  std::vector<std::pair<int, std::uint32_t>> chosen;
  std::vector<int> share;
  int best_least = 0;
  int best_room = 0;
  const Range tops = tree.below(scope.within, std::max(above, scope.within.level));
  for (std::uint32_t t = tops.begin; t < tops.end; ++t) {
    const auto order = sharers(counts, scope, {above, t}, level, pods, static_cast<std::size_t>(fewest));
    std::vector<int> capacity;
    for (const auto& [room, d] : order) {
      capacity.push_back(room);
    }
    if (std::accumulate(capacity.begin(), capacity.end(), 0) < pods) {
      continue;
    }
    std::vector<int> shares = even_shares(capacity, pods, counts.unit(level));
    const int least = *std::min_element(shares.begin(), shares.end());
    const int room = counts.capacity({above, t});
    if (std::pair(-least, room) < std::pair(-best_least, best_room)) {
      best_least = least;
      best_room = room;
      chosen = order;
      share = std::move(shares);
    }
  }
  if (share.empty()) {
    return packed;  // fewer pieces than domains: there is nothing to balance
  }
  Shares shares;
  for (std::size_t i = 0; i < share.size(); ++i) {
    pack_greedily(counts, {level, chosen[i].second}, share[i], shares);
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

}  // namespace gantree
