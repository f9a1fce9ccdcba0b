#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "engine/answer_check.h"
#include "engine/counts_cache.h"
#include "engine/culprit.h"
#include "engine/elastic.h"
#include "engine/explain.h"
#include "engine/rank_order.h"
#include "engine/replay.h"
#include "engine/search.h"

namespace gantree {

namespace {

constexpr std::size_t kMostOccupied = 64;
constexpr std::int64_t kStepsPerSet = 128;  // of work, to plan for it once more
// What the counts of all shapes of a gang may take, and about what they take for one shape and host.
constexpr std::size_t kMaxCountBytes = std::size_t{512} * 1024 * 1024;
constexpr std::size_t kCountBytes = 10;
constexpr std::size_t kFewSets = 64;  // whose shapes need not be counted
// Of so many gangs the whole input is told.
constexpr std::size_t kMostBroken = 8;

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

bool asks_for_nothing(const Gang& gang) {
  bool nothing = true;
  each_pod_set(gang.root, [&](const PodSet& set) { nothing &= set.count <= 0; });
  return nothing;
}

bool many_sets(const Gang& gang) {
  return !gang.root.groups.empty() || gang.root.pod_sets.size() > kFewSets;
}

// Whether it has pods of more shapes than can be counted at a time on so many hosts.
std::optional<std::string> too_many_shapes(const Gang& gang, std::size_t hosts) {
  const std::size_t most = std::max(kFewSets, kMaxCountBytes / (kCountBytes * std::max<std::size_t>(1, hosts)));
  std::vector<const PodShape*> shapes;
  each_pod_set(gang.root, [&](const PodSet& set) { shapes.push_back(&set.shape); });
  if (shapes.size() <= most) {
    return std::nullopt;
  }
  std::sort(shapes.begin(), shapes.end(), [](const PodShape* a, const PodShape* b) { return *a < *b; });
  shapes.erase(std::unique(shapes.begin(), shapes.end(), [](const PodShape* a, const PodShape* b) { return *a == *b; }),
               shapes.end());
  if (shapes.size() <= most) {
    return std::nullopt;
  }
  return fmt::format("its pod sets are of {} shapes; on {} hosts at most {} can be placed together", shapes.size(),
                     hosts, most);
}

// A refusal is about the fewest pods with which the gang may start.
std::string refusal_message(const SearchContext& context, const Gang& gang, const std::vector<Topology>& topologies,
                            Refusal refusal) {
  const Smallest smallest = smallest_start(gang.root);
  if (smallest.short_of_pods != nullptr) {
    return fmt::format("group \"{}\" has fewer than the {} pods it needs to start", smallest.short_of_pods->name,
                       *smallest.short_of_pods->min_pods);
  }
  std::string message = explain_refusal(context, gang, smallest.counts, topologies, refusal);
  std::int64_t all = 0;
  for (const PodSet* set : pod_sets(gang.root)) {
    all += set->count;
  }
  if (const std::int64_t least = total(smallest.counts); least < all) {
    message += fmt::format(" ({} of its {} pods are enough to start)", least, all);
  }
  return message;
}

// Where the search gave up, one group that does not fit even by itself is a proof all the same.
Refusal refusal_by_culprit(const SearchContext& context, const Gang& gang, bool fits_when_empty) {
  const Smallest smallest = smallest_start(gang.root);
  std::int64_t all = 0;
  each_pod_set(gang.root, [&](const PodSet& set) { all += set.count; });
  if (smallest.short_of_pods != nullptr || total(smallest.counts) < all) {
    return Refusal::kSearchLimit;  // others may start instead of it
  }
  if (!fits_when_empty && find_culprit(context, gang, smallest.counts, Fill::kEmpty)) {
    return Refusal::kTooLarge;
  }
  return fits_when_empty && find_culprit(context, gang, smallest.counts, Fill::kNow) ? Refusal::kBusy
                                                                                     : Refusal::kSearchLimit;
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
  // The domains of a level that one kind of gang holds, as of a state of the holds and of the tree.
  struct Occupied {
    std::uint64_t holds = 0;
    std::uint64_t structure = 0;
    std::vector<bool> taken;
  };

  explicit Parts(Inventory& the_inventory) : inventory(the_inventory), cache(the_inventory) {}

  const DomainTree& tree(TopologyId id) {
    std::unique_ptr<DomainTree>& tree = trees[id.index()];
    if (tree == nullptr || tree->structure() != inventory.structure()) {
      cache.drop(id);
      tree = std::make_unique<DomainTree>(inventory, topologies[id.index()]);
    }
    return *tree;
  }

  // A search asks for it over and over, while holds change only between searches.
  const std::vector<bool>* occupied(const std::string& kind, TopologyId id, int level) {
    const DomainTree& domains = tree(id);
    Occupied& known = occupied_domains[{kind, id, level}];
    if (known.holds != holds_version || known.structure != domains.structure()) {
      known = {.holds = holds_version, .structure = domains.structure(), .taken = {}};
      known.taken.assign(domains.size(level), false);
      for (const auto& [exclusive, groups] : exclusives) {
        if (exclusive.kind == kind) {
          for (const Range& range : held_domains(domains, id, exclusive, level)) {
            std::fill(known.taken.begin() + range.begin, known.taken.begin() + range.end, true);
          }
        }
      }
    }
    return &known.taken;
  }

  // Between searches only: what they were given is gone.
  void trim() {
    cache.trim();
    if (occupied_domains.size() > kMostOccupied) {
      occupied_domains.clear();
    }
  }

  SearchContext context(const Gang& gang) {
    return {inventory,
            [this](const Part& part, Fill fill) -> SlotCounts& {
              return cache.get(part.topology, tree(part.topology), *part.shape, part.slices, fill);
            },
            [this, &gang](TopologyId id, int level) { return occupied(gang.exclusive_kind, id, level); }, &work};
  }

  void book(const Gang& gang, const Placement& placement, int by) {
    std::size_t set = 0;
    each_pod_set(gang.root, [&](const PodSet& pod_set) {
      GANTREE_CHECK(set < placement.pod_sets.size());
      for (const HostShare& share : placement.pod_sets[set]) {
        inventory.take(share.node, pod_set.shape.requests, std::int64_t{by} * share.count);
      }
      ++set;
    });
    GANTREE_CHECK(set == placement.pod_sets.size());
    note_exclusive(gang, placement, by);
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
    ++holds_version;
    if ((exclusives[exclusive] += by) == 0) {
      exclusives.erase(exclusive);
    }
  }

  Inventory& inventory;
  CountsCache cache;
  Budget work{0};  // of the decision that is being made
  const TreeOf tree_of = [this](TopologyId id) -> const DomainTree& { return tree(id); };
  AnswerScratch scratch;
  std::vector<Topology> topologies;
  std::vector<std::unique_ptr<DomainTree>> trees;
  std::map<ExclusiveHold, int> exclusives;
  std::uint64_t holds_version = 1;
  std::map<std::tuple<std::string, TopologyId, int>, Occupied> occupied_domains;
  std::function<void(const BrokenAnswer&)> tell_of_broken_answer;
  std::set<std::string> broken;  // gangs whose input was told: it is as long as the cluster is large
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
  parts_->trim();
  return parts_->cache.get(id, parts_->tree(id), shape, {}, Fill::kNow);
}

Outcome Engine::place(const Gang& gang) {
  parts_->trim();
  const SearchContext context = parts_->context(gang);
  Outcome outcome;
  if (asks_for_nothing(gang)) {
    outcome.counts.resize(pod_sets(gang.root).size());
    outcome.placement = Placement{.pod_sets = std::vector<std::vector<HostShare>>(outcome.counts.size())};
    return outcome;
  }
  if (auto message = many_sets(gang) ? too_many_shapes(gang, parts_->inventory.size()) : std::nullopt) {
    outcome.refusal = Refusal::kSearchLimit;
    outcome.message = std::move(*message);
    return outcome;
  }
  // What was found last is mostly what is chosen in the end.
  Counts found_for;
  GangPlan plan;
  SearchAnswer answer;
  const auto fits_now = [&](const Counts& counts) {
    if (parts_->work.exhausted() && !found_for.empty() && counts != found_for) {
      return SearchVerdict::kGaveUp;  // there is an answer, if not the best
    }
    parts_->work.spend(kStepsPerSet * static_cast<std::int64_t>(counts.size()));
    GangPlan wanted = make_plan(gang, counts);
    SearchAnswer tried = search(context, wanted, Fill::kNow);
    const SearchVerdict verdict = tried.verdict;
    if (verdict == SearchVerdict::kFound) {
      found_for = counts;
      plan = std::move(wanted);
      answer = std::move(tried);
    }
    return verdict;
  };
  const WorkLimit limit = work_limit(parts_->inventory.size());
  parts_->work = Budget(limit.placing);
  const CountChoice now = most_that_fit(gang.root, fits_now);
  if (now.counts) {
    if (found_for != *now.counts) {
      // What was found last stands where this one is no longer found: searches depend on the work that is left.
      parts_->work = Budget(limit.placing);
      (void)fits_now(*now.counts);
    }
    outcome.counts = found_for;
    outcome.placement = in_rank_order(gang, plan, answer.shares, parts_->tree_of);
    return checked(gang, std::move(outcome));
  }
  parts_->work = Budget(limit.reason);
  const CountChoice ever = least_that_fit(
      gang.root, [&](const Counts& counts) { return search(context, make_plan(gang, counts), Fill::kEmpty).verdict; });
  outcome.refusal = ever.counts   ? now.proven ? Refusal::kBusy : Refusal::kSearchLimit
                    : ever.proven ? Refusal::kTooLarge
                                  : Refusal::kSearchLimit;
  parts_->work = Budget(limit.reason);
  if (outcome.refusal == Refusal::kSearchLimit) {
    outcome.refusal = refusal_by_culprit(context, gang, ever.counts.has_value());
  }
  outcome.message = refusal_message(context, gang, parts_->topologies, outcome.refusal);
  return outcome;
}

std::optional<bool> Engine::fits(const Gang& gang) {
  Budget work(work_limit(parts_->inventory.size()).placing);
  return fits(gang, work);
}

std::optional<bool> Engine::fits(const Gang& gang, Budget& work) {
  parts_->trim();
  const SearchContext context = parts_->context(gang);
  if (asks_for_nothing(gang)) {
    return true;
  }
  if (many_sets(gang) && too_many_shapes(gang, parts_->inventory.size())) {
    return std::nullopt;
  }
  parts_->work = work;
  const CountChoice now =
      least_that_fit(gang.root, [&](const Counts& counts) { return search_any(context, make_plan(gang, counts)); });
  work = parts_->work;
  return now.counts ? std::optional(true) : now.proven ? std::optional(false) : std::nullopt;
}

Outcome Engine::checked(const Gang& gang, Outcome outcome) {
  if (!outcome.placement) {
    return outcome;
  }
  const AnswerContext context{parts_->inventory, parts_->tree_of, [&](TopologyId id, int level) {
                                return parts_->occupied(gang.exclusive_kind, id, level);
                              }};
  const std::optional<std::string> fault =
      answer_fault(context, gang, outcome.counts, *outcome.placement, parts_->scratch);
  if (!fault) {
    return outcome;
  }
  if (parts_->tell_of_broken_answer) {
    BrokenAnswer broken{.gang = gang.key.ns + "/" + gang.key.name, .fault = *fault, .input = {}};
    if (parts_->broken.size() < kMostBroken && parts_->broken.insert(broken.gang).second) {
      broken.input = replay_text(gang, parts_->inventory, parts_->topologies, parts_->exclusives);
    }
    parts_->tell_of_broken_answer(broken);
  }
  return {.placement = {},
          .counts = {},
          .refusal = Refusal::kSearchLimit,
          .message = fmt::format("the placement that was found breaks a rule and is not used ({}); this is a bug "
                                 "of the scheduler, please report it",
                                 *fault)};
}

void Engine::on_broken_answer(std::function<void(const BrokenAnswer&)> tell) {
  parts_->tell_of_broken_answer = std::move(tell);
}

void Engine::take(const Gang& gang, const Placement& placement) {
  parts_->book(gang, placement, 1);
}

void Engine::give(const Gang& gang, const Placement& placement) {
  parts_->book(gang, placement, -1);
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
