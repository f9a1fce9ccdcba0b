#include "engine/search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "engine/alone.h"
#include "engine/fill.h"
#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::int64_t kSmallSearchSteps = 4'000'000;  // where exactness is within reach
constexpr std::int64_t kAnySteps = 2'000'000;          // to find out whether there is a placement at all
constexpr std::uint32_t kSmall = 256;                  // hosts
constexpr std::int64_t kPackSteps = 262'144;           // to improve on a greedy placement
constexpr std::int64_t kPackStepsPerPod = 256;
constexpr std::int64_t kStepsPerHost = 16;                     // of work, to book pods on a host and to count it again
constexpr std::int64_t kStepsPerPart = 64;                     // of work, to place a part at all
constexpr std::int64_t kLeastSteps = 4096;                     // to place something well, however little work is left
constexpr std::int64_t kWorkShare = 4;                         // of the work that is left, what one attempt may take
constexpr std::int64_t kGroupSteps = std::int64_t{32} * 1024;  // to look for a better domain once a group has one

}  // namespace

// Parts for which nothing asks for closeness fill the tightest holes.
void Search::note_free_filling(const PlanNode& node, bool free) {
  free = free && !node.unit && node.required < 0;
  if (node.leaf()) {
    free_filling_[node.part] = free && plan_.parts[node.part].packing == Packing::kTightest;
  }
  for (const PlanNode& child : node.children) {
    note_free_filling(child, free);
  }
}

Scope Search::scope_of(std::size_t part, Domain within, int required, int exclusive) {
  Scope scope{within, required, exclusive, nullptr};
  if (exclusive >= 0 && fill_ == Fill::kNow) {
    scope.occupied = context_.occupied(plan_.parts[part].topology, exclusive);
  }
  return scope;
}

// The domains of a level that others have, of its kind or of its own gang.
const std::vector<bool>* Search::occupied(const PlanNode& node, int level, std::size_t part) {
  if (fill_ != Fill::kNow) {
    return nullptr;
  }
  const TopologyId topology = plan_.parts[part].topology;
  const std::vector<bool>* others = context_.occupied(topology, level);
  if (owned_.size() == 0) {
    return others;
  }
  const DomainTree& domains = counts(part).tree();
  std::vector<bool>& taken = taken_[{&node, level}];
  taken = others != nullptr ? *others : std::vector<bool>(domains.size(level));
  owned_.mark(domains, topology, level, owner(node), taken);
  work(static_cast<std::int64_t>(owned_.size()) + domains.size(level) / 64);
  return &taken;
}

std::optional<Shares> Search::place_part(std::size_t part, const Scope& scope) {
  const Part& what = plan_.parts[part];
  const SlotCounts& slots = counts(part);
  const DomainTree& tree = slots.tree();
  const bool small = tree.size(tree.host_level()) <= kSmall;
  const std::int64_t steps = share_of_work(small ? kSmallSearchSteps : kPackSteps + kPackStepsPerPod * what.count);
  Budget effort(steps);
  const auto placed = [&]() -> std::optional<Shares> {
    switch (what.packing) {
      case Packing::kSpread:
        return fill_evenly(slots, scope, what.count);
      case Packing::kBalanced:
        return fill_balanced(slots, scope, what.level, what.count, effort);
      case Packing::kNearest:
        return fill_nearest(slots, scope, what.level, what.count, effort);
      case Packing::kTightest:
        if (free_filling_[part]) {
          return fill_tightest(slots, scope, what.count);
        }
        break;
      case Packing::kPack:
        break;
    }
    return pack(slots, scope, what.count, effort);
  };
  auto shares = placed();
  work(steps - effort.left() + kStepsPerPart);
  return shares;
}

std::int64_t Search::share_of_work(std::int64_t steps) const {
  return std::min(steps, std::max(kLeastSteps, context_.work->left() / kWorkShare));
}

void Search::take(std::size_t part, const Shares& shares) {
  const DomainTree& tree = counts(part).tree();
  for (const HostPods& share : shares) {
    context_.inventory.take(tree.node(share.host), plan_.parts[part].shape->requests, share.count);
  }
  work(kStepsPerHost * static_cast<std::int64_t>(shares.size()));
  shares_[part] = shares;
}

void Search::give(std::size_t part) {
  const DomainTree& tree = counts(part).tree();
  for (const HostPods& share : shares_[part]) {
    context_.inventory.give(tree.node(share.host), plan_.parts[part].shape->requests, share.count);
  }
  shares_[part].clear();
}

// One part only: no search is needed, and the answer is exact.
std::optional<SearchAnswer> Search::single() {
  const PlanNode* node = &plan_.root;
  int required = -1;
  int exclusive = -1;
  while (true) {
    if (node->leaf()) {
      break;
    }
    if (node->children.size() > 1 || node->groups > 1) {
      return std::nullopt;
    }
    required = std::max(required, node->required);
    exclusive = std::max(exclusive, node->exclusive);
    node = &node->children.front();
  }
  const Scope scope = scope_of(node->part, kWholeTree, required, exclusive);
  if (fill_ == Fill::kEmpty) {  // only the verdict is asked for
    return SearchAnswer{.verdict = can_hold(counts(node->part), scope, plan_.parts[node->part].count)
                                       ? SearchVerdict::kFound
                                       : SearchVerdict::kNone,
                        .shares = {}};
  }
  auto shares = place_part(node->part, scope);
  if (!shares) {
    return SearchAnswer{.verdict = SearchVerdict::kNone, .shares = {}};
  }
  shares_[node->part] = std::move(*shares);
  return found();
}

// Groups of one part that are all alike: where there are too many hosts to place parts together, slices say it all.
std::optional<SearchAnswer> Search::single_alike() {
  const PlanNode* alone = nullptr;
  int required = -1;
  int exclusive = -1;
  const PlanNode* node = &plan_.root;
  bool several = false;
  for (; !node->leaf(); node = &node->children.front()) {
    if (node->children.size() > 1 || (alone != nullptr && node->exclusive >= 0) ||
        (several && node->groups > 1 && node->exclusive >= 0)) {
      return std::nullopt;
    }
    several |= node->groups > 1;
    if (node->groups == 1) {
      required = std::max(required, node->required);
      exclusive = std::max(exclusive, node->exclusive);
    } else if (node->exclusive >= 0) {
      alone = node;
    }
  }
  const Part& part = plan_.parts[node->part];
  if (!several || part.packing == Packing::kNearest || (alone != nullptr && exclusive >= 0)) {
    return std::nullopt;
  }
  if (alone != nullptr) {
    return single_alone(*alone, node->part, required);
  }
  const Scope scope = scope_of(node->part, kWholeTree, required, exclusive);
  if (fill_ == Fill::kEmpty) {
    return SearchAnswer{
        .verdict = can_hold(counts(node->part), scope, part.count) ? SearchVerdict::kFound : SearchVerdict::kNone,
        .shares = {}};
  }
  auto shares = place_part(node->part, scope);
  if (!shares) {
    return SearchAnswer{.verdict = SearchVerdict::kNone, .shares = {}};
  }
  shares_[node->part] = std::move(*shares);
  return found();
}

// Each of them in a domain of its own.
std::optional<SearchAnswer> Search::single_alone(const PlanNode& alone, std::size_t part, int required) {
  const int each = plan_.parts[part].count / alone.groups;
  const SlotCounts& slots = counts(part);
  const auto domains = domains_alone(slots,
                                     {.groups = alone.groups,
                                      .each = each,
                                      .exclusive = alone.exclusive,
                                      .required = alone.required,
                                      .together = required},
                                     occupied(alone, alone.exclusive, part));
  if (!domains) {
    return SearchAnswer{.verdict = SearchVerdict::kNone, .shares = {}};
  }
  Shares all;
  for (const Domain& domain : *domains) {
    Budget effort(kPackSteps + kPackStepsPerPod * each);
    const auto shares = pack(slots, {.within = domain}, each, effort);
    GANTREE_CHECK(shares.has_value());
    all.insert(all.end(), shares->begin(), shares->end());
  }
  std::sort(all.begin(), all.end());
  shares_[part] = std::move(all);
  return found();
}

// One tree, and nothing that asks for even shares.
bool Search::joinable(const std::vector<std::size_t>& parts) const {
  return std::all_of(parts.begin(), parts.end(), [&](std::size_t p) {
    const Part& part = plan_.parts[p];
    return part.topology == plan_.parts[parts.front()].topology && part.packing != Packing::kSpread &&
           part.packing != Packing::kBalanced;
  });
}

void Search::add_rules(const PlanNode& node, const std::vector<std::size_t>& parts, JointProblem& problem) {
  std::vector<std::size_t> below;
  for (const std::size_t part : parts_of(node)) {
    const auto it = std::find(parts.begin(), parts.end(), part);
    if (it != parts.end()) {
      below.push_back(static_cast<std::size_t>(it - parts.begin()));
    }
  }
  if (below.empty()) {
    return;
  }
  if (node.required >= 0) {
    problem.rules.push_back({node.required, below, false, nullptr, node.groups});
  }
  if (node.exclusive >= 0) {
    problem.rules.push_back({node.exclusive, below, true, occupied(node, node.exclusive, parts.front()), node.groups});
  }
  if (node.unit) {
    problem.units.push_back({below, node.depth, node.groups, {}});
  }
  for (const PlanNode& child : node.children) {
    add_rules(child, parts, problem);
  }
}

JointAnswer Search::jointly(const PlanNode& node, Domain within, const std::vector<std::size_t>& parts, Budget& budget,
                            bool any) {
  JointProblem problem;
  problem.any = any;
  problem.inventory = &context_.inventory;
  problem.within = within;
  for (const std::size_t part : parts) {
    problem.parts.push_back({&counts(part), plan_.parts[part].count});
  }
  add_rules(node, parts, problem);
  const std::int64_t before = budget.left();
  JointAnswer answer = place_jointly(problem, budget);
  work(before - budget.left());
  return answer;
}

bool Search::place_all(const JointAnswer& answer, const std::vector<std::size_t>& parts) {
  if (answer.verdict != JointVerdict::kFound) {
    return false;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    take(parts[i], answer.shares[i]);
  }
  return true;
}

// The parts that want closeness all at once, then the others into the
// tightest holes that are left.
bool Search::closest_then_tightest(const std::vector<std::size_t>& close, const std::vector<std::size_t>& rest) {
  if (!close.empty() && !place_all(jointly(plan_.root, kWholeTree, close, budget_), close)) {
    return false;
  }
  for (std::size_t i = 0; i < rest.size(); ++i) {
    auto shares = place_part(rest[i], scope_of(rest[i], kWholeTree, -1, -1));
    if (!shares) {
      for (std::size_t j = i; j-- > 0;) {
        give(rest[j]);
      }
      for (std::size_t j = close.size(); j-- > 0;) {
        give(close[j]);
      }
      return false;
    }
    take(rest[i], *shares);
  }
  return true;
}

// The one node that holds all parts and asks for closeness; nullptr where
// there are several units, or none.
const PlanNode* Search::only_unit() const {
  const PlanNode* node = &plan_.root;
  while (!node->unit && node->required < 0 && node->children.size() == 1) {
    node = &node->children.front();
  }
  return (node->unit || node->required >= 0) && node->groups == 1 ? node : nullptr;
}

// The best answer over some domains of one level, which come in the order of
// candidates(). Stops early only once there is one and the effort is spent.
std::optional<JointAnswer> Search::best_joint(const PlanNode& node, const std::vector<Domain>& domains, Budget& effort,
                                              bool& gave_up) {
  const std::vector<std::size_t> parts = parts_of(node);
  const std::size_t largest = largest_of(parts);
  const DomainTree& tree = counts(largest).tree();
  std::optional<JointAnswer> best;
  int best_children = 0;
  for (const Domain& domain : domains) {
    if (best && effort.exhausted()) {
      break;
    }
    // No later domain needs fewer children for the largest part alone, and of
    // those that need as many hosts the first is the tightest.
    if (best && domain.level < tree.host_level()) {
      const int bound = children_needed(counts(largest), domain, plan_.parts[largest].count);
      if (bound > best_children || (bound == best_children && domain.level + 1 == tree.host_level())) {
        break;
      }
    }
    const std::int64_t steps = small_ ? budget_.left() : kPackSteps;
    Budget own(steps);
    JointAnswer answer = jointly(node, domain, parts, own);
    effort.spend(steps - own.left());
    budget_.spend(steps - own.left());
    gave_up |= answer.verdict == JointVerdict::kGaveUp;
    if (answer.verdict == JointVerdict::kFound && (!best || answer.cost < best->cost)) {
      Shares all;
      for (const Shares& shares : answer.shares) {
        all.insert(all.end(), shares.begin(), shares.end());
      }
      std::sort(all.begin(), all.end());
      best_children = domain.level < tree.host_level() ? domains_used(tree, domain.level, all).front() : 1;
      best = std::move(answer);
    }
    if (budget_.exhausted()) {
      gave_up = true;
      break;
    }
  }
  return best;
}

// A group alone: the lowest level of which some domain holds it all.
JointVerdict Search::closest_group(const PlanNode& node) {
  const std::vector<std::size_t> parts = parts_of(node);
  Budget effort(small_ ? kSmallSearchSteps : kGroupSteps);
  bool gave_up = false;
  for (int level = counts(parts.front()).tree().host_level(); level >= std::max(node.required, 0); --level) {
    const auto best = best_joint(node, candidates(node, kWholeTree, level), effort, gave_up);
    if (best) {
      place_all(*best, parts);
      return JointVerdict::kFound;
    }
    if (gave_up) {
      return JointVerdict::kGaveUp;
    }
  }
  if (node.required >= 0) {
    return complete_ ? JointVerdict::kNone : JointVerdict::kGaveUp;
  }
  const JointAnswer answer = jointly(node, kWholeTree, parts, budget_);
  place_all(answer, parts);
  return answer.verdict;
}

void Search::note_size() {
  const DomainTree& domains = tree();
  small_ = domains.size(domains.host_level()) <= kSmall;
}

// What was taken while searching goes back: an answer books nothing.
SearchAnswer Search::answer(bool done, JointVerdict verdict) {
  if (!done) {
    return {.verdict = verdict == JointVerdict::kNone ? SearchVerdict::kNone : SearchVerdict::kGaveUp, .shares = {}};
  }
  std::vector<Shares> shares = shares_;
  for (std::size_t part = shares_.size(); part-- > 0;) {
    give(part);
  }
  return {.verdict = SearchVerdict::kFound, .shares = std::move(shares)};
}

SearchAnswer Search::together() {
  if (auto answer = single()) {
    return std::move(*answer);
  }
  note_size();
  if (too_many_alone() || hopeless(plan_.root, -1)) {
    return {.verdict = SearchVerdict::kNone, .shares = {}};
  }
  const std::vector<std::size_t> all = parts_of(plan_.root);
  budget_ = Budget(small_ ? kSmallSearchSteps : kSearchSteps);
  std::vector<std::size_t> close;
  std::vector<std::size_t> rest;
  for (const std::size_t part : all) {
    (free_filling_[part] ? rest : close).push_back(part);
  }
  bool done = false;
  JointVerdict verdict = JointVerdict::kGaveUp;
  if (fill_ == Fill::kEmpty && joinable(all)) {  // only the verdict is asked for
    verdict = jointly(plan_.root, kWholeTree, all, budget_, true).verdict;
    if (verdict == JointVerdict::kFound) {
      return {.verdict = SearchVerdict::kFound, .shares = {}};
    }
  } else if (const PlanNode* unit = only_unit(); unit != nullptr && joinable(all)) {
    verdict = closest_group(*unit);
    done = verdict == JointVerdict::kFound;
  } else if (joinable(all)) {
    done = !rest.empty() && fill_ == Fill::kNow && closest_then_tightest(close, rest);
    if (!done) {
      const JointAnswer answer = jointly(plan_.root, kWholeTree, all, budget_);
      verdict = answer.verdict;
      done = place_all(answer, all);
    }
  }
  if (!done && verdict == JointVerdict::kGaveUp) {
    if (auto answer = single_alike()) {
      return std::move(*answer);
    }
    if (auto answer = each_alone(); answer && answer->verdict != SearchVerdict::kGaveUp) {
      return answer->rough ? improved(std::move(*answer)) : std::move(*answer);
    }
  }
  if (!done && verdict == JointVerdict::kGaveUp && fill_ == Fill::kNow && small_ && joinable(all)) {
    Budget effort(kAnySteps);
    const JointAnswer any = jointly(plan_.root, kWholeTree, all, effort, true);
    verdict = any.verdict;
    if (place_all(any, all)) {
      SearchAnswer rough = answer(true, verdict);
      rough.rough = true;
      return improved(std::move(rough));
    }
  }
  if (!done && verdict == JointVerdict::kGaveUp && small_ && joinable(all) && some_do_not_fit()) {
    verdict = JointVerdict::kNone;
  }
  return answer(done, verdict);
}

SearchAnswer Search::run() {
  SearchAnswer answer = together();
  return answer.verdict == SearchVerdict::kGaveUp ? step_by_step() : answer;
}

}  // namespace gantree
