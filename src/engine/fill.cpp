#include "engine/fill.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace gantree {

namespace {

// The best score of the hosts of one size below a domain.
int best_score(const SlotCounts& counts, Domain domain, int size_bit) {
  const DomainTree& tree = counts.tree();
  const Range hosts = tree.below(domain, tree.host_level());
  int best = std::numeric_limits<int>::min();
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    if (std::min(counts.slots(host), 63) == size_bit) {
      best = std::max(best, counts.score(host));
    }
  }
  return best;
}

// Takes hosts of one size below a domain, fullest domains first, and among equals those that the pods prefer.
void take_size(const SlotCounts& counts, const Scope& scope, Domain domain, int size_bit, int& left, Shares& out) {
  const DomainTree& tree = counts.tree();
  if (domain.level == tree.host_level()) {
    const int share = std::min(left, counts.slots(domain.index));
    out.push_back({domain.index, share});
    left -= share;
    return;
  }
  const Range range = tree.children(domain);
  std::vector<std::tuple<int, int, std::uint32_t>> order;  // capacity, less the score, child
  for (std::uint32_t c = range.begin; c < range.end; ++c) {
    const Domain child{domain.level + 1, c};
    if ((counts.sizes(child) >> size_bit & 1) != 0 && scope.allows(tree, child)) {
      order.emplace_back(counts.capacity(child), counts.has_scores() ? -best_score(counts, child, size_bit) : 0, c);
    }
  }
  // A heap yields the fullest children one by one: mostly few are needed.
  std::make_heap(order.begin(), order.end(), std::greater<>());
  while (!order.empty() && left > 0) {
    std::pop_heap(order.begin(), order.end(), std::greater<>());
    take_size(counts, scope, {domain.level + 1, std::get<2>(order.back())}, size_bit, left, out);
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
  // Others of its gang have confined it to one domain of the level, or to a part of one.
  if (scope.within.level >= level) {
    return packed;
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

namespace {

// Where the pods go around a start domain: so many inside every domain that holds it, from itself outwards.
struct Rings {
  std::vector<int> within;    // at [i], in the ancestor i levels above the start domain
  std::int64_t distance = 0;  // of all pods to the start domain, in edges of the tree
};

// Everything as near to `start` as it can be, inside its ancestor of level `top`.
Rings rings_around(const SlotCounts& counts, Domain start, int top, int pods) {
  const DomainTree& tree = counts.tree();
  Rings rings;
  for (int level = start.level; level >= top; --level) {
    const int room = counts.capacity({level, tree.ancestor(start.level, start.index, level)});
    rings.within.push_back(std::min(room, pods));
  }
  // Slices of a level above may leave a domain less than it has room for.
  for (std::size_t i = rings.within.size() - 1; i-- > 0;) {
    rings.within[i] = std::min(rings.within[i], rings.within[i + 1]);
  }
  int nearer = 0;
  for (std::size_t i = 0; i < rings.within.size(); ++i) {
    const std::int64_t up = static_cast<std::int64_t>(i);
    rings.distance += (rings.within[i] - nearer) * (up + up + tree.host_level() - start.level);
    nearer = rings.within[i];
  }
  return rings;
}

// Packs pods into one domain. Parts of slices that end above it cannot be packed as whole ones.
void pack_into(const SlotCounts& counts, Domain domain, int pods, Budget& budget, Shares& out) {
  if (pods % counts.unit(-1) == 0) {
    if (const auto packed = pack(counts, {.within = domain}, pods, budget)) {
      out.insert(out.end(), packed->begin(), packed->end());
      return;
    }
  }
  pack_greedily(counts, domain, pods, out);
}

// Pods into the fewest children of a domain beside one of them, the last one as tight as it can be.
void pack_beside(const SlotCounts& counts, Domain domain, std::uint32_t taken, int pods, Budget& budget, Shares& out) {
  const Range range = counts.tree().children(domain);
  std::vector<std::pair<int, std::uint32_t>> order;
  for (std::uint32_t c = range.begin; c < range.end; ++c) {
    if (const int room = counts.capacity({domain.level + 1, c}); c != taken && room > 0) {
      order.emplace_back(-room, c);
    }
  }
  std::sort(order.begin(), order.end());
  for (std::size_t next = 0; pods > 0; ++next) {
    GANTREE_CHECK(next < order.size());
    std::size_t chosen = next;
    while (chosen + 1 < order.size() && -order[chosen + 1].first >= pods) {
      ++chosen;
    }
    while (chosen > next && order[chosen - 1].first == order[chosen].first) {
      --chosen;  // of equal ones the first by name
    }
    const int share = std::min(pods, -order[chosen].first);
    pack_into(counts, {domain.level + 1, order[chosen].second}, share, budget, out);
    pods -= share;
  }
}

// The domains of the lowest level, from `lowest` up to `top`, that hold all pods.
std::vector<Domain> lowest_holders(const SlotCounts& counts, const Scope& scope, int lowest, int top, int pods) {
  std::vector<Domain> found;
  for (int level = lowest; level > top && found.empty(); --level) {
    found = holders(counts, scope, level, pods);
  }
  if (found.empty() && scope.required <= scope.within.level && counts.capacity(scope.within) >= pods) {
    found.push_back(scope.within);
  }
  return found;
}

}  // namespace

std::optional<Shares> fill_nearest(const SlotCounts& counts, const Scope& scope, int level, int pods, Budget& budget) {
  const DomainTree& tree = counts.tree();
  if (level <= std::max(scope.required, scope.within.level)) {
    return pack(counts, scope, pods, budget);
  }
  Scope one = scope;
  one.required = level;
  if (auto packed = pack(counts, one, pods, budget)) {
    return packed;
  }
  const int top = scope.required > scope.within.level ? scope.required - 1 : scope.within.level;
  std::optional<std::tuple<int, std::int64_t, Domain>> best;  // (-pods in it, distance, start domain)
  int best_top = -1;
  Rings rings;
  for (const Domain& holder : lowest_holders(counts, scope, level - 1, top, pods)) {
    const Range range = tree.below(holder, level);
    for (std::uint32_t d = range.begin; d < range.end; ++d) {
      const Domain start{level, d};
      if (best && std::min(counts.capacity(start), pods) < -std::get<0>(*best)) {
        continue;
      }
      Rings around = rings_around(counts, start, holder.level, pods);
      const std::tuple candidate{-around.within.front(), around.distance, start};
      if (!best || candidate < *best) {
        best = candidate;
        best_top = holder.level;
        rings = std::move(around);
      }
    }
  }
  if (!best) {
    return std::nullopt;
  }
  const Domain start = std::get<2>(*best);
  Shares shares;
  pack_into(counts, start, rings.within.front(), budget, shares);
  for (int at = level - 1; at >= best_top; --at) {
    const auto i = static_cast<std::size_t>(level - at);
    pack_beside(counts, {at, tree.ancestor(level, start.index, at)}, tree.ancestor(level, start.index, at + 1),
                rings.within[i] - rings.within[i - 1], budget, shares);
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

}  // namespace gantree
