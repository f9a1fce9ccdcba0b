#include "engine/pack.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/check.h"
#include "engine/knapsack.h"

namespace gantree {

namespace {

bool holds(const SlotCounts& counts, const Scope& scope, Domain domain, int pods) {
  return counts.capacity(domain) >= pods && scope.allows(counts.tree(), domain);
}

std::int64_t total_score(const SlotCounts& counts, const Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::int64_t{0}, [&](std::int64_t sum, const HostPods& share) {
    return sum + std::int64_t{share.count} * counts.score(share.host);
  });
}

// The tightest single host. Domains whose largest host is too small are skipped.
std::optional<Shares> pack_one_host(const SlotCounts& counts, const Scope& scope, int pods) {
  const DomainTree& tree = counts.tree();
  const int hosts = tree.host_level();
  std::optional<std::tuple<int, int, std::uint32_t>> best;  // (-score, slots, position)
  bool perfect = false;
  const auto scan = [&](Range range) {
    for (std::uint32_t host = range.begin; host < range.end && !perfect; ++host) {
      const int slots = counts.slots(host);
      if (slots >= pods && scope.allows(tree, {hosts, host})) {
        const std::tuple candidate{-counts.score(host), slots, host};
        if (!best || candidate < *best) {
          best = candidate;
        }
        // Nothing later can beat an exact fit: ties end on the name.
        perfect = slots == pods && !counts.has_scores();
      }
    }
  };
  if (scope.within.level >= hosts - 1) {
    scan(tree.hosts(scope.within));
  } else {
    visit(
        counts, scope.within, hosts - 1, [&] { return perfect ? kAnyNumber : pods; }, [] { return 1; },
        [&](std::uint32_t d) {
          if (!perfect && counts.best({hosts - 1, d}).front() >= pods) {
            scan(tree.hosts({hosts - 1, d}));
          }
        });
  }
  return best ? std::optional(Shares{{std::get<2>(*best), pods}}) : std::nullopt;
}

// The fewest children in which some domain of a level seems to hold the pods,
// by what their parents show; kAnyNumber where that tells nothing.
int fewest_by_peaks(const SlotCounts& counts, const Scope& scope, int level, int pods) {
  int fewest = kAnyNumber;
  if (level - 1 <= scope.within.level) {
    return fewest;
  }
  const Range parents = counts.tree().below(scope.within, level - 1);
  for (std::uint32_t p = parents.begin; p < parents.end; ++p) {
    const Domain parent{level - 1, p};
    if (counts.peak(parent, fewest) < pods) {
      continue;
    }
    fewest = std::min(fewest, counts.peaks());
    while (fewest > 1 && counts.peak(parent, fewest - 1) >= pods) {
      --fewest;
    }
  }
  return fewest;
}

// The domains of a level that hold the pods in the fewest children, at most
// `fewest` of them.
std::vector<Domain> fewest_children(const SlotCounts& counts, const Scope& scope, int level, int pods, int fewest) {
  std::vector<Domain> found;
  const auto capacities = counts.capacities(level);
  const auto look = [&](std::uint32_t d) {
    if (capacities[d] < pods) {
      return;
    }
    const auto best = counts.best({level, d});
    const std::size_t as_many = std::min(static_cast<std::size_t>(fewest), best.size());
    if (best[as_many - 1] < pods || !scope.allows(counts.tree(), {level, d})) {
      return;
    }
    const int needed = children_needed(counts, {level, d}, pods);
    if (needed < fewest) {
      fewest = needed;
      found.clear();
    }
    found.push_back({level, d});
  };
  visit(counts, scope.within, level, [&] { return pods; }, [&] { return fewest; }, look);
  return found;
}

// The children of a domain that have room: the least of it first, then those that the pods prefer, then names.
std::vector<std::uint32_t> smallest_first(const SlotCounts& counts, Domain domain) {
  const Range range = counts.tree().children(domain);
  const std::span<const int> capacities = counts.capacities(domain.level + 1);
  // Room and position in one word, which sorts quickly.
  std::vector<std::uint64_t> words;
  words.reserve(range.size());
  for (std::uint32_t c = range.begin; c < range.end; ++c) {
    if (capacities[c] > 0) {
      words.push_back(static_cast<std::uint64_t>(capacities[c]) << 32 | c);
    }
  }
  std::sort(words.begin(), words.end());
  std::vector<std::uint32_t> order(words.size());
  std::transform(words.begin(), words.end(), order.begin(),
                 [](std::uint64_t word) { return static_cast<std::uint32_t>(word); });
  if (counts.has_scores() && domain.level + 1 == counts.tree().host_level()) {
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(capacities[a], -counts.score(a)) < std::pair(capacities[b], -counts.score(b));
    });
  }
  return order;
}

// Less room first; among equals, less room in the domains around them; then names.
bool tighter(const SlotCounts& counts, Domain a, Domain b) {
  const std::uint32_t first = a.index;
  const std::uint32_t second = b.index;
  while (a.level >= 0 && a != b) {
    if (counts.capacity(a) != counts.capacity(b)) {
      return counts.capacity(a) < counts.capacity(b);
    }
    a = {a.level - 1, counts.tree().parent(a.level, a.index)};
    b = {b.level - 1, counts.tree().parent(b.level, b.index)};
  }
  return first < second;
}

void sort_tightest(const SlotCounts& counts, std::vector<Domain>& domains) {
  std::sort(domains.begin(), domains.end(), [&](const Domain& a, const Domain& b) { return tighter(counts, a, b); });
}

// Puts domains first that seem to need the fewest grandchildren: as if each of
// the k children used were as good as the best one.
void sort_promising(const SlotCounts& counts, std::vector<Domain>& domains, int pods) {
  const int level = domains.front().level;
  if (level < 0 || domains.size() < 2) {
    return;
  }
  const int k = children_needed(counts, domains.front(), pods);
  const int each = (pods + k - 1) / k;
  std::vector<std::tuple<int, int, Domain>> order;
  for (const Domain& domain : domains) {
    int grandchildren = 1;
    while (counts.peak(domain, grandchildren) < each) {
      ++grandchildren;
    }
    order.emplace_back(grandchildren, counts.capacity(domain), domain);
  }
  std::sort(order.begin(), order.end());
  std::transform(order.begin(), order.end(), domains.begin(), [](const auto& entry) { return std::get<2>(entry); });
}

// Among domains that need equally many children: the fewest of every level
// below, then preferences, then the tightest, then the name.
Shares pack_best_of(const SlotCounts& counts, std::vector<Domain> domains, int pods, Budget& budget) {
  const int hosts = counts.tree().host_level();
  const int level = domains.front().level;
  if (level + 1 >= hosts && !counts.has_scores()) {
    const auto tightest = std::min_element(domains.begin(), domains.end(),
                                           [&](const Domain& a, const Domain& b) { return tighter(counts, a, b); });
    Shares shares;
    pack_greedily(counts, *tightest, pods, shares);
    return shares;
  }
  if (level + 1 < hosts) {
    sort_promising(counts, domains, pods);
  } else {
    sort_tightest(counts, domains);
  }
  std::optional<Shares> best;
  std::vector<int> best_used;
  Domain best_domain;
  std::int64_t best_score = 0;
  for (const Domain& domain : domains) {
    if (best && budget.exhausted()) {
      break;
    }
    Shares shares = pack_exactly(counts, domain, pods, best ? &best_used : nullptr, budget);
    if (shares.empty()) {
      continue;  // proven no better
    }
    std::vector<int> used = domains_used(counts.tree(), level, shares);
    const std::int64_t score = counts.has_scores() ? total_score(counts, shares) : 0;
    if (!best || std::tuple(used, -score) < std::tuple(best_used, -best_score) ||
        (used == best_used && score == best_score && tighter(counts, domain, best_domain))) {
      best_domain = domain;
      best = std::move(shares);
      best_used = std::move(used);
      best_score = score;
    }
  }
  return std::move(*best);
}

}  // namespace

int children_needed(const SlotCounts& counts, Domain domain, int pods) {
  const auto best = counts.best(domain);
  return static_cast<int>(std::lower_bound(best.begin(), best.end(), pods) - best.begin()) + 1;
}

std::optional<Shares> pack(const SlotCounts& counts, const Scope& scope, int pods, Budget& budget) {
  GANTREE_CHECK(pods > 0 && pods % counts.unit(-1) == 0);
  const DomainTree& tree = counts.tree();
  if (tree.size(tree.host_level()) == 0 || counts.capacity(scope.within) < pods) {
    return std::nullopt;
  }
  const int highest = std::max(scope.required, scope.within.level + 1);
  for (int level = tree.host_level(); level >= highest; --level) {
    if (level == tree.host_level()) {
      if (auto shares = pack_one_host(counts, scope, pods)) {
        return shares;
      }
      continue;
    }
    const int bound = fewest_by_peaks(counts, scope, level, pods);
    auto domains = fewest_children(counts, scope, level, pods, bound);
    if (domains.empty() && bound != kAnyNumber) {
      domains = fewest_children(counts, scope, level, pods, kAnyNumber);  // the bound was too low
    }
    if (!domains.empty()) {
      return pack_best_of(counts, std::move(domains), pods, budget);
    }
  }
  if (scope.within.level < scope.required || !holds(counts, scope, scope.within, pods)) {
    return std::nullopt;
  }
  return pack_best_of(counts, {scope.within}, pods, budget);
}

bool can_hold(const SlotCounts& counts, const Scope& scope, int pods) {
  const DomainTree& tree = counts.tree();
  if (tree.size(tree.host_level()) == 0) {
    return false;
  }
  const int level = std::max(scope.required, scope.within.level);
  if (level < 0) {
    return counts.capacity(kWholeTree) >= pods;
  }
  bool found = false;
  visit(
      counts, scope.within, level, [&] { return found ? kAnyNumber : pods; }, [] { return kAnyNumber; },
      [&](std::uint32_t d) { found = found || holds(counts, scope, {level, d}, pods); });
  return found;
}

std::vector<Domain> holders(const SlotCounts& counts, const Scope& scope, int level, int pods,
                            const std::function<bool(const Domain&)>& also, std::size_t most) {
  const bool hosts = level == counts.tree().host_level();
  std::vector<std::tuple<int, int, Domain>> order;  // (children, capacity, domain)
  visit(
      counts, scope.within, level, [&] { return pods; }, [] { return kAnyNumber; },
      [&](std::uint32_t d) {
        const Domain domain{level, d};
        if (holds(counts, scope, domain, pods) && (!also || also(domain))) {
          order.emplace_back(hosts ? 1 : children_needed(counts, domain, pods), counts.capacity(domain), domain);
        }
      });
  if (order.size() > most) {
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end());
    order.resize(most);
  }
  std::sort(order.begin(), order.end());
  std::vector<Domain> found;
  found.reserve(order.size());
  for (const auto& entry : order) {
    found.push_back(std::get<2>(entry));
  }
  return found;
}

void pack_greedily(const SlotCounts& counts, Domain domain, int pods, Shares& out) {
  if (domain.level == counts.tree().host_level()) {
    out.push_back({domain.index, pods});
    return;
  }
  const int k = children_needed(counts, domain, pods);
  for (const auto& [child, share] : choose_children(counts, domain, k, pods)) {
    pack_greedily(counts, {domain.level + 1, child}, share, out);
  }
}

std::vector<std::pair<std::uint32_t, int>> choose_children(const SlotCounts& counts, Domain domain, int k, int pods) {
  const std::vector<std::uint32_t> order = smallest_first(counts, domain);
  const std::span<const int> capacities = counts.capacities(domain.level + 1);
  const auto capacity = [&](std::uint32_t c) { return capacities[c]; };
  // Take a child as soon as it, with the largest of the rest, holds what is
  // left. `tail` is the sum of the largest children still to be taken.
  const auto best = counts.best(domain);
  std::vector<std::pair<std::uint32_t, int>> chosen;
  chosen.reserve(static_cast<std::size_t>(k));
  int left = pods;
  std::size_t next = 0;
  for (int wanted = k; wanted > 0 && left > 0; --wanted) {
    const int tail = wanted > 1 ? best[static_cast<std::size_t>(wanted) - 2] : 0;
    while (capacity(order[next]) + tail < left) {
      ++next;
      GANTREE_CHECK(next < order.size());
    }
    // Children from `next` on are untouched, so the largest of them are the
    // largest of all; where only these remain, take them as they come.
    const int share = std::min(left, capacity(order[next]));
    chosen.emplace_back(order[next], share);
    left -= share;
    ++next;
  }
  GANTREE_CHECK(left == 0);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<int> domains_used(const DomainTree& tree, int below_level, const Shares& shares) {
  std::vector<int> used;
  for (int level = below_level + 1; level <= tree.host_level(); ++level) {
    int count = 0;
    std::uint32_t last = DomainTree::kNowhere;
    for (const HostPods& share : shares) {
      const std::uint32_t domain = tree.ancestor(tree.host_level(), share.host, level);
      count += domain != last ? 1 : 0;
      last = domain;
    }
    used.push_back(count);
  }
  return used;
}

}  // namespace gantree
