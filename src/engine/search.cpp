#include "engine/search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "engine/fill.h"
#include "engine/part_need.h"

namespace gantree {

namespace {

constexpr std::int64_t kSearchSteps = std::int64_t{512} * 1024;
constexpr std::int64_t kSmallSearchSteps = 16'000'000;  // where exactness is within reach
constexpr std::uint32_t kSmall = 256;                   // hosts
constexpr std::int64_t kPackSteps = 262'144;            // to improve on a greedy placement
constexpr std::int64_t kPackStepsPerPod = 256;
constexpr std::int64_t kGroupSteps = std::int64_t{32} * 1024;  // to look for a better domain once a group has one
constexpr std::int64_t kJointShare = 8;  // of the steps left, what placing a whole group at once may take
constexpr std::size_t kMaxTries = 64;    // candidate domains of one level that are tried

class Search {
 public:
  Search(const SearchContext& context, const GangPlan& plan, Fill fill)
      : context_(context), plan_(plan), fill_(fill), budget_(kSearchSteps), shares_(plan.parts.size()) {
    note_free_filling(plan.root, true);
  }

  SearchAnswer run();

 private:
  struct Pending {
    const PlanNode* node = nullptr;
    Domain within = kWholeTree;
  };

  SlotCounts& counts(std::size_t part) {
    SlotCounts*& slots = counts_[part];
    if (slots == nullptr) {
      slots = &context_.counts(plan_.parts[part], fill_);
    }
    slots->refresh();
    return *slots;
  }
  [[nodiscard]] std::vector<std::size_t> parts_of(const PlanNode& node) const {
    std::vector<std::size_t> parts;
    collect_parts(node, parts);
    // By name: in which order a gang lists its pod sets does not matter.
    std::stable_sort(parts.begin(), parts.end(),
                     [&](std::size_t a, std::size_t b) { return plan_.parts[a].name < plan_.parts[b].name; });
    return parts;
  }
  void note_free_filling(const PlanNode& node, bool free);
  Scope scope_of(std::size_t part, Domain within, int required, int exclusive);
  std::optional<Shares> place_part(std::size_t part, const Scope& scope);
  void take(std::size_t part, const Shares& shares);
  void give(std::size_t part);
  SearchAnswer found() { return {Verdict::kFound, std::move(shares_)}; }

  [[nodiscard]] std::optional<SearchAnswer> single();
  [[nodiscard]] const PlanNode* only_unit() const;
  JointVerdict closest_group(const PlanNode& node);
  std::optional<JointAnswer> best_joint(const PlanNode& node, const std::vector<Domain>& domains, Budget& effort,
                                        bool& gave_up);
  [[nodiscard]] bool hopeless(const PlanNode& node, int required);
  [[nodiscard]] bool too_many_of_a_shape(const PlanNode& node, int required);
  [[nodiscard]] bool joinable(const std::vector<std::size_t>& parts) const;
  void add_rules(const PlanNode& node, const std::vector<std::size_t>& parts, JointProblem& problem);
  JointAnswer jointly(const PlanNode& node, Domain within, const std::vector<std::size_t>& parts, Budget& budget);
  bool place_all(const JointAnswer& answer, const std::vector<std::size_t>& parts);
  bool closest_then_tightest(const std::vector<std::size_t>& close, const std::vector<std::size_t>& rest);

  bool step(std::vector<Pending> pending);
  bool step_leaf(const PlanNode& node, Domain within, const std::vector<Pending>& rest);
  bool step_group(const PlanNode& node, Domain within, const std::vector<Pending>& rest);
  bool try_group_in(const PlanNode& node, Domain domain, const std::vector<Pending>& rest);
  [[nodiscard]] std::size_t largest_of(const std::vector<std::size_t>& parts) const;
  [[nodiscard]] bool host_holds(const std::vector<std::size_t>& parts, std::uint32_t host);
  std::vector<Domain> candidates(const PlanNode& node, Domain within, int level);
  [[nodiscard]] const SlotCounts* joint_counts(const PlanNode& node, int& pieces);
  void expand(const PlanNode& node, Domain within, std::vector<Pending>& pending) const;

  const SearchContext& context_;
  const GangPlan& plan_;
  Fill fill_;
  Budget budget_;
  std::vector<Shares> shares_;
  std::vector<SlotCounts*> counts_ = std::vector<SlotCounts*>(plan_.parts.size());
  std::vector<bool> free_filling_ = std::vector<bool>(plan_.parts.size());
  std::map<const PlanNode*, std::optional<JointNeed>> joint_needs_;
  bool small_ = false;    // few enough hosts to search long for the best
  bool complete_ = true;  // step() has left nothing untried
};

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

std::optional<Shares> Search::place_part(std::size_t part, const Scope& scope) {
  const Part& what = plan_.parts[part];
  const SlotCounts& slots = counts(part);
  const DomainTree& tree = slots.tree();
  const bool small = tree.size(tree.host_level()) <= kSmall;
  Budget effort(small ? kSmallSearchSteps : kPackSteps + kPackStepsPerPod * what.count);
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
}

void Search::take(std::size_t part, const Shares& shares) {
  const DomainTree& tree = counts(part).tree();
  for (const HostPods& share : shares) {
    context_.inventory.take(tree.node(share.host), plan_.parts[part].shape->requests, share.count);
  }
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
    required = std::max(required, node->required);
    exclusive = std::max(exclusive, node->exclusive);
    if (node->leaf()) {
      break;
    }
    if (node->children.size() > 1) {
      return std::nullopt;
    }
    node = &node->children.front();
  }
  const Scope scope = scope_of(node->part, kWholeTree, required, exclusive);
  if (fill_ == Fill::kEmpty) {  // only the verdict is asked for
    return SearchAnswer{
        can_hold(counts(node->part), scope, plan_.parts[node->part].count) ? Verdict::kFound : Verdict::kNone, {}};
  }
  auto shares = place_part(node->part, scope);
  if (!shares) {
    return SearchAnswer{Verdict::kNone, {}};
  }
  shares_[node->part] = std::move(*shares);
  return found();
}

// Whether some part fits into no domain even by itself, or the pods of one shape below a node do not together.
bool Search::hopeless(const PlanNode& node, int required) {
  required = std::max(required, node.required);
  if (!node.leaf()) {
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const PlanNode& child) { return hopeless(child, required); }) ||
           too_many_of_a_shape(node, required);
  }
  const int need = plan_.parts[node.part].count;
  return !can_hold(counts(node.part), {.within = kWholeTree, .required = required}, need);
}

bool Search::too_many_of_a_shape(const PlanNode& node, int required) {
  std::vector<Part> shapes;
  for (const std::size_t p : parts_of(node)) {
    const Part& part = plan_.parts[p];
    const auto like = std::find_if(shapes.begin(), shapes.end(), [&](const Part& other) {
      return other.topology == part.topology && (other.shape == part.shape || *other.shape == *part.shape);
    });
    if (like == shapes.end()) {
      shapes.push_back(part);
      shapes.back().slices.clear();
    } else if (__builtin_add_overflow(like->count, part.count, &like->count)) {
      return true;
    }
  }
  return std::any_of(shapes.begin(), shapes.end(), [&](const Part& part) {
    return !can_hold(context_.counts(part, fill_), {.within = kWholeTree, .required = required}, part.count);
  });
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
    problem.rules.push_back({node.required, below, false, nullptr});
  }
  if (node.exclusive >= 0) {
    const TopologyId topology = plan_.parts[parts.front()].topology;
    problem.rules.push_back(
        {node.exclusive, below, true, fill_ == Fill::kNow ? context_.occupied(topology, node.exclusive) : nullptr});
  }
  if (node.unit) {
    problem.units.push_back({below, node.depth});
  }
  for (const PlanNode& child : node.children) {
    add_rules(child, parts, problem);
  }
}

JointAnswer Search::jointly(const PlanNode& node, Domain within, const std::vector<std::size_t>& parts,
                            Budget& budget) {
  JointProblem problem;
  problem.inventory = &context_.inventory;
  problem.within = within;
  for (const std::size_t part : parts) {
    problem.parts.push_back({&counts(part), plan_.parts[part].count});
  }
  add_rules(node, parts, problem);
  return place_jointly(problem, budget);
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
  return node->unit || node->required >= 0 ? node : nullptr;
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

SearchAnswer Search::run() {
  if (auto answer = single()) {
    return std::move(*answer);
  }
  if (hopeless(plan_.root, -1)) {
    return {Verdict::kNone, {}};
  }
  const std::vector<std::size_t> all = parts_of(plan_.root);
  const DomainTree& tree = counts(all.front()).tree();
  small_ = tree.size(tree.host_level()) <= kSmall;
  budget_ = Budget(small_ ? kSmallSearchSteps : kSearchSteps);
  std::vector<std::size_t> close;
  std::vector<std::size_t> rest;
  for (const std::size_t part : all) {
    (free_filling_[part] ? rest : close).push_back(part);
  }
  bool done = false;
  JointVerdict verdict = JointVerdict::kGaveUp;
  if (const PlanNode* unit = only_unit(); unit != nullptr && joinable(all)) {
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
  if (!done && verdict == JointVerdict::kGaveUp && fill_ == Fill::kNow) {
    budget_ = Budget(kSearchSteps);
    done = step({{&plan_.root, kWholeTree}});
    verdict = complete_ ? JointVerdict::kNone : JointVerdict::kGaveUp;
  }
  if (!done) {
    return {verdict == JointVerdict::kNone ? Verdict::kNone : Verdict::kGaveUp, {}};
  }
  std::vector<Shares> shares = shares_;
  for (std::size_t i = all.size(); i-- > 0;) {
    give(all[i]);
  }
  return {Verdict::kFound, std::move(shares)};
}

// Children with a required level first, lowest level first, then the largest.
void Search::expand(const PlanNode& node, Domain within, std::vector<Pending>& pending) const {
  std::vector<const PlanNode*> order;
  for (const PlanNode& child : node.children) {
    order.push_back(&child);
  }
  const auto pods = [&](const PlanNode& child) {
    int sum = 0;
    for (const std::size_t part : parts_of(child)) {
      sum += plan_.parts[part].count;
    }
    return sum;
  };
  const auto name = [&](const PlanNode& child) { return plan_.parts[parts_of(child).front()].name; };
  std::stable_sort(order.begin(), order.end(), [&](const PlanNode* a, const PlanNode* b) {
    return std::tuple(a->required, pods(*a), name(*b)) < std::tuple(b->required, pods(*b), name(*a));
  });
  for (const PlanNode* child : order) {  // the last is taken first
    pending.push_back({child, within});
  }
}

bool Search::step(std::vector<Pending> pending) {
  if (pending.empty()) {
    return true;
  }
  if (!budget_.spend(1)) {
    complete_ = false;
    return false;
  }
  const Pending next = pending.back();
  pending.pop_back();
  if (next.node->leaf()) {
    return step_leaf(*next.node, next.within, pending);
  }
  return step_group(*next.node, next.within, pending);
}

bool Search::step_leaf(const PlanNode& node, Domain within, const std::vector<Pending>& rest) {
  // Hosts can be shared out in more ways than the one tried.
  complete_ = false;
  auto shares = place_part(node.part, scope_of(node.part, within, -1, -1));
  if (!shares) {
    return false;
  }
  take(node.part, *shares);
  if (step(rest)) {
    return true;
  }
  give(node.part);
  return false;
}

std::size_t Search::largest_of(const std::vector<std::size_t>& parts) const {
  return *std::max_element(parts.begin(), parts.end(),
                           [&](std::size_t a, std::size_t b) { return plan_.parts[a].count < plan_.parts[b].count; });
}

// Whether a host has room for all of these parts at once.
bool Search::host_holds(const std::vector<std::size_t>& parts, std::uint32_t host) {
  const NodeId node = counts(parts.front()).tree().node(host);
  Amounts sum;
  for (const std::size_t part : parts) {
    for (const auto& [resource, amount] : plan_.parts[part].shape->requests.entries()) {
      std::int64_t all = 0;
      if (__builtin_mul_overflow(amount, plan_.parts[part].count, &all)) {
        return false;
      }
      sum.add(resource, all);
    }
  }
  return (fill_ == Fill::kNow ? context_.inventory.room(node, sum) : context_.inventory.room_when_empty(node, sum)) > 0;
}

// Pieces of the resource that the parts below a node need most of together; nullptr where there are
// so few parts that trying is quicker, or where they cannot be added up.
const SlotCounts* Search::joint_counts(const PlanNode& node, int& pieces) {
  const std::vector<std::size_t> parts = parts_of(node);
  if (parts.size() <= 2) {
    return nullptr;
  }
  const auto [it, fresh] = joint_needs_.try_emplace(&node);
  if (fresh) {
    std::vector<const Part*> all;
    for (const std::size_t part : parts) {
      all.push_back(&plan_.parts[part]);
    }
    it->second = joint_need(all, context_.inventory);
  }
  if (!it->second) {
    return nullptr;
  }
  pieces = it->second->count;
  SlotCounts& slots = context_.counts(*it->second->need(-1).part, fill_);
  slots.refresh();
  return &slots;
}

std::vector<Domain> Search::candidates(const PlanNode& node, Domain within, int level) {
  const std::vector<std::size_t> parts = parts_of(node);
  const std::size_t largest = largest_of(parts);
  const Scope scope = scope_of(largest, within, -1, node.exclusive);
  const int hosts = counts(largest).tree().host_level();
  std::vector<std::pair<const SlotCounts*, int>> slots;
  for (const std::size_t part : parts) {
    slots.emplace_back(&counts(part), plan_.parts[part].count);
  }
  int pieces = 0;
  if (const SlotCounts* joint = joint_counts(node, pieces)) {
    slots.emplace_back(joint, pieces);
  }
  std::vector<Domain> found = holders(counts(largest), scope, level, plan_.parts[largest].count);
  std::erase_if(found, [&](const Domain& domain) {
    const bool too_small = std::any_of(slots.begin(), slots.end(),
                                       [&](const auto& part) { return part.first->capacity(domain) < part.second; });
    return too_small || (level == hosts && !host_holds(parts, domain.index));
  });
  return found;
}

bool Search::step_group(const PlanNode& node, Domain within, const std::vector<Pending>& rest) {
  const std::vector<std::size_t> parts = parts_of(node);
  const bool one_tree = std::all_of(parts.begin(), parts.end(), [&](std::size_t part) {
    return plan_.parts[part].topology == plan_.parts[parts.front()].topology;
  });
  if (one_tree && (node.unit || node.required >= 0)) {
    const int lowest = counts(parts.front()).tree().host_level();
    for (int level = lowest; level > std::max(node.required - 1, within.level); --level) {
      std::vector<Domain> domains = candidates(node, within, level);
      if (domains.size() > kMaxTries) {
        domains.resize(kMaxTries);
        complete_ = false;
      }
      for (const Domain& domain : domains) {
        if (try_group_in(node, domain, rest)) {
          return true;
        }
        if (budget_.exhausted()) {
          complete_ = false;
          return false;
        }
      }
    }
  }
  return node.required <= within.level && try_group_in(node, within, rest);
}

bool Search::try_group_in(const PlanNode& node, Domain domain, const std::vector<Pending>& rest) {
  const std::vector<std::size_t> parts = parts_of(node);
  if (domain.level >= 0 && parts.size() > 1 && joinable(parts)) {
    const std::int64_t steps = std::min(kPackSteps, budget_.left() / kJointShare);
    Budget effort(steps);
    const JointAnswer answer = jointly(node, domain, parts, effort);
    budget_.spend(steps - effort.left());
    if (answer.verdict == JointVerdict::kNone) {
      return false;
    }
    if (place_all(answer, parts)) {
      if (step(rest)) {
        return true;
      }
      complete_ = false;
      for (std::size_t i = parts.size(); i-- > 0;) {
        give(parts[i]);
      }
      return false;
    }
  }
  std::vector<Pending> pending = rest;
  expand(node, domain, pending);
  return step(std::move(pending));
}

}  // namespace

SearchAnswer search(const SearchContext& context, const GangPlan& plan, Fill fill) {
  return Search(context, plan, fill).run();
}

}  // namespace gantree
