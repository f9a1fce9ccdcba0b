#include "engine/engine.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "engine/counts_cache.h"
#include "engine/explain.h"
#include "engine/rank_order.h"
#include "engine/search.h"

namespace gantree {

namespace {

// Between each pod set's minimum (0) and its count (all spare pods).
std::vector<int> counts_with(const std::vector<const PodSet*>& sets, std::int64_t spare, std::int64_t all_spare) {
  std::vector<int> counts;
  for (const PodSet* set : sets) {
    const std::int64_t own = set->count - set->min_count;
    counts.push_back(set->min_count + static_cast<int>(all_spare == 0 ? own : own * spare / all_spare));
  }
  return counts;
}

void collect_exclusive(const Group& group, TopologyId topology, const std::string& kind,
                       const std::vector<std::vector<HostShare>>& hosts, std::size_t& next,
                       std::vector<ExclusiveHold>& out) {
  const auto own = group.constraint.topology.value_or(topology);
  const std::size_t first = next;
  const auto add = [&](const Constraint& constraint, TopologyId of, std::size_t begin, std::size_t end) {
    if (!constraint.exclusive) {
      return;
    }
    ExclusiveHold exclusive{kind, of, *constraint.exclusive, {}};
    for (std::size_t set = begin; set < end; ++set) {
      for (const HostShare& share : hosts[set]) {
        exclusive.hosts.push_back(share.node);
      }
    }
    out.push_back(std::move(exclusive));
  };
  for (const PodSet& pod_set : group.pod_sets) {
    add(pod_set.constraint, pod_set.constraint.topology.value_or(own), next, next + 1);
    ++next;
  }
  for (const Group& nested : group.groups) {
    collect_exclusive(nested, own, kind, hosts, next, out);
  }
  add(group.constraint, own, first, next);
}

}  // namespace

std::vector<Range> held_domains(const DomainTree& tree, TopologyId topology, const ExclusiveHold& hold, int level) {
  std::vector<Range> found;
  for (const NodeId node : hold.hosts) {
    const std::uint32_t host = tree.host_of(node);
    if (host != DomainTree::kNowhere) {
      const int held = hold.topology == topology ? std::min(hold.level, level) : level;
      found.push_back(tree.below({held, tree.ancestor(tree.host_level(), host, held)}, level));
    }
  }
  return found;
}

struct Engine::Parts {
  explicit Parts(Inventory& the_inventory) : inventory(the_inventory), cache(the_inventory) {}

  const DomainTree& tree(TopologyId id) {
    std::unique_ptr<DomainTree>& tree = trees[id.index()];
    if (tree == nullptr || tree->structure() != inventory.structure()) {
      cache.drop(id);
      tree = std::make_unique<DomainTree>(inventory, topologies[id.index()]);
    }
    return *tree;
  }

  const std::vector<bool>* occupied(const std::string& kind, TopologyId id, int level) {
    std::vector<bool>& taken = occupied_scratch[{id, level}];
    const DomainTree& domains = tree(id);
    taken.assign(domains.size(level), false);
    for (const auto& [exclusive, groups] : exclusives) {
      if (exclusive.kind != kind) {
        continue;
      }
      for (const Range& range : held_domains(domains, id, exclusive, level)) {
        std::fill(taken.begin() + range.begin, taken.begin() + range.end, true);
      }
    }
    return &taken;
  }

  SearchContext context(const Gang& gang) {
    return {inventory,
            [this](const Part& part, Fill fill) -> SlotCounts& {
              return cache.get(part.topology, tree(part.topology), *part.shape, part.slices, fill);
            },
            [this, &gang](TopologyId id, int level) { return occupied(gang.exclusive_kind, id, level); }};
  }

  void note_exclusive(const Gang& gang, const Placement& placement, int by) {
    std::vector<ExclusiveHold> found;
    std::size_t next = 0;
    collect_exclusive(gang.root, gang.topology, gang.exclusive_kind, placement.pod_sets, next, found);
    for (const ExclusiveHold& exclusive : found) {
      note_hold(exclusive, by);
    }
  }

  void note_hold(const ExclusiveHold& exclusive, int by) {
    if ((exclusives[exclusive] += by) == 0) {
      exclusives.erase(exclusive);
    }
  }

  Inventory& inventory;
  CountsCache cache;
  std::vector<Topology> topologies;
  std::vector<std::unique_ptr<DomainTree>> trees;
  std::map<ExclusiveHold, int> exclusives;
  std::map<std::pair<TopologyId, int>, std::vector<bool>> occupied_scratch;
};

Engine::Engine(Inventory& inventory) : parts_(std::make_unique<Parts>(inventory)) {}
Engine::~Engine() = default;

TopologyId Engine::add_topology(Topology topology) {
  GANTREE_CHECK(validate(topology).has_value());
  parts_->topologies.push_back(std::move(topology));
  parts_->trees.emplace_back();
  return make_id<TopologyTag>(parts_->topologies.size() - 1);
}

const Topology& Engine::topology(TopologyId id) const {
  return parts_->topologies[id.index()];
}

std::optional<TopologyId> Engine::find_topology(std::string_view name) const {
  for (std::size_t t = 0; t < parts_->topologies.size(); ++t) {
    if (parts_->topologies[t].name == name) {
      return make_id<TopologyTag>(t);
    }
  }
  return std::nullopt;
}

std::size_t Engine::topologies() const {
  return parts_->topologies.size();
}

const DomainTree& Engine::tree(TopologyId id) {
  return parts_->tree(id);
}

const Inventory& Engine::inventory() const {
  return parts_->inventory;
}

const std::map<ExclusiveHold, int>& Engine::holds() const {
  return parts_->exclusives;
}

const SlotCounts& Engine::slots(TopologyId id, const PodShape& shape) {
  parts_->cache.trim();
  return parts_->cache.get(id, parts_->tree(id), shape, {}, Fill::kNow);
}

Outcome Engine::place(const Gang& gang) {
  parts_->cache.trim();
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  const std::int64_t all_spare =
      std::accumulate(sets.begin(), sets.end(), std::int64_t{0},
                      [](std::int64_t sum, const PodSet* set) { return sum + set->count - set->min_count; });
  const SearchContext context = parts_->context(gang);
  const auto attempt = [&](const std::vector<int>& counts) -> std::pair<SearchAnswer, GangPlan> {
    if (std::all_of(counts.begin(), counts.end(), [](int count) { return count == 0; })) {
      return {{Verdict::kFound, {}}, {}};
    }
    GangPlan plan = make_plan(gang, counts);
    SearchAnswer answer = search(context, plan, Fill::kNow);
    return {std::move(answer), std::move(plan)};
  };
  Outcome outcome;
  const auto succeed = [&](const std::vector<int>& counts, const GangPlan& plan, const SearchAnswer& answer) {
    outcome.counts = counts;
    outcome.placement = in_rank_order(gang, plan, answer.shares, context);
  };
  std::vector<int> counts = counts_with(sets, all_spare, all_spare);
  auto [answer, plan] = attempt(counts);
  if (answer.verdict == Verdict::kFound) {
    succeed(counts, plan, answer);
    return outcome;
  }
  // Fewer pods, down to the minimum: the most that fit.
  std::int64_t low = -1;  // the largest spare count known to fit
  for (std::int64_t high = all_spare; high - low > 1 && all_spare > 0;) {
    const std::int64_t middle = low + (high - low) / 2;
    counts = counts_with(sets, middle, all_spare);
    if (auto [fewer, fewer_plan] = attempt(counts); fewer.verdict == Verdict::kFound) {
      succeed(counts, fewer_plan, fewer);
      low = middle;
    } else {
      high = middle;
    }
  }
  if (outcome.placement) {
    return outcome;
  }
  const SearchAnswer empty = search(context, make_plan(gang, counts_with(sets, 0, all_spare)), Fill::kEmpty);
  outcome.refusal = empty.verdict == Verdict::kNone      ? Refusal::kTooLarge
                    : answer.verdict == Verdict::kGaveUp ? Refusal::kSearchLimit
                                                         : Refusal::kBusy;
  outcome.message = explain_refusal(context, gang, plan, parts_->topologies, outcome.refusal);
  return outcome;
}

void Engine::take(const Gang& gang, const Placement& placement) {
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  GANTREE_CHECK(placement.pod_sets.size() == sets.size());
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const HostShare& share : placement.pod_sets[set]) {
      parts_->inventory.take(share.node, sets[set]->shape.requests, share.count);
    }
  }
  parts_->note_exclusive(gang, placement, 1);
}

void Engine::give(const Gang& gang, const Placement& placement) {
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  GANTREE_CHECK(placement.pod_sets.size() == sets.size());
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const HostShare& share : placement.pod_sets[set]) {
      parts_->inventory.give(share.node, sets[set]->shape.requests, share.count);
    }
  }
  parts_->note_exclusive(gang, placement, -1);
}

void Engine::evict(const RunningGang& gang) {
  for (const Holding& holding : gang.holdings) {
    parts_->inventory.give(holding.node, holding.requests, holding.count);
  }
  for (const ExclusiveHold& exclusive : gang.exclusives) {
    parts_->note_hold(exclusive, -1);
  }
}

void Engine::restore(const RunningGang& gang) {
  for (const Holding& holding : gang.holdings) {
    parts_->inventory.take(holding.node, holding.requests, holding.count);
  }
  hold(gang);
}

void Engine::hold(const RunningGang& gang) {
  for (const ExclusiveHold& exclusive : gang.exclusives) {
    parts_->note_hold(exclusive, 1);
  }
}

}  // namespace gantree
