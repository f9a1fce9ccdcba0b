#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::int64_t kPackSteps = 262'144;  // to place a group in a domain
constexpr std::int64_t kJointShare = 8;       // of the steps left, what placing a whole group at once may take
constexpr std::size_t kMaxTries = 64;         // candidate domains of one level that are tried

}  // namespace

namespace {

// As if nothing ran: all that is booked goes back, as long as this lives.
class Emptied {
 public:
  Emptied(Inventory& inventory, const DomainTree& tree) : inventory_(inventory) {
    for (std::uint32_t host = 0; host < tree.size(tree.host_level()); ++host) {
      Amounts booked;
      for (std::size_t r = 0; r < inventory.resources().size(); ++r) {
        const auto resource = make_id<ResourceTag>(r);
        const NodeId node = tree.node(host);
        if (const std::int64_t all = inventory.allocatable(node, resource) - inventory.free(node, resource); all != 0) {
          booked.set(resource, all);
        }
      }
      if (!booked.entries().empty()) {
        inventory_.give(tree.node(host), booked, 1);
        booked_.emplace_back(tree.node(host), std::move(booked));
      }
    }
  }
  ~Emptied() {
    for (const auto& [node, booked] : booked_) {
      inventory_.take(node, booked, 1);
    }
  }
  Emptied(const Emptied&) = delete;
  Emptied& operator=(const Emptied&) = delete;

 private:
  Inventory& inventory_;
  std::vector<std::pair<NodeId, Amounts>> booked_;
};

}  // namespace

SearchAnswer Search::step_by_step() {
  if (fill_ == Fill::kNow) {
    return improved(some_order());
  }
  // Steps book what they place, so that the next sees it: they need a cluster that is empty indeed.
  const Emptied emptied(context_.inventory, tree());
  const SearchContext nobody{context_.inventory, context_.counts, [](TopologyId, int) { return nullptr; }};
  return Search(nobody, plan_, Fill::kNow).some_order();
}

SearchAnswer Search::some_order() {
  SearchAnswer answer = backtracking();
  return answer.verdict == Verdict::kGaveUp ? starting_over() : answer;
}

SearchAnswer Search::backtracking() {
  note_size();
  budget_ = Budget(kSearchSteps);
  const Pending all{.node = &plan_.root};
  const bool done = step(&all);
  return answer(done, complete_ ? JointVerdict::kNone : JointVerdict::kGaveUp);
}

OwnedDomains::Owner Search::owner(const PlanNode& node) const {
  std::vector<std::size_t> parts;
  collect_parts(node, parts);
  const auto [first, last] = std::minmax_element(parts.begin(), parts.end());
  return {*first, *last};
}

// Notes the domain that a group about to be placed inside a domain has to itself. False where another has it.
bool Search::own(const PlanNode& node, Domain domain) {
  if (node.exclusive < 0) {
    return true;
  }
  const OwnedDomains::Owner parts = owner(node);
  const DomainTree& domains = counts(parts.first).tree();
  const std::uint32_t wanted = domains.ancestor(domain.level, domain.index, node.exclusive);
  const std::vector<bool>* taken = occupied(node, node.exclusive, parts.first);
  if (taken != nullptr && (*taken)[wanted]) {
    return false;
  }
  owned_.add(plan_.parts[parts.first].topology, {node.exclusive, wanted}, parts);
  return true;
}

// Notes the domain that a group which is placed has to itself.
void Search::own_itself(const PlanNode& node) {
  if (node.exclusive >= 0) {
    const OwnedDomains::Owner parts = owner(node);
    const DomainTree& domains = counts(parts.first).tree();
    const std::uint32_t host = shares_[parts.first].front().host;
    owned_.add(plan_.parts[parts.first].topology,
               {node.exclusive, domains.ancestor(domains.host_level(), host, node.exclusive)}, parts);
  }
}

void Search::own_below(const PlanNode& node) {
  own_itself(node);
  for (const PlanNode& child : node.children) {
    own_below(child);
  }
}

// Children with a required level first, lowest level first, then the largest.
std::vector<Search::Pending> Search::expand(const PlanNode& node, Domain within, const Pending* rest) const {
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
  std::vector<Pending> pending;  // the last is taken first
  pending.reserve(order.size());
  for (const PlanNode* child : order) {
    pending.push_back({child, within, pending.empty() ? rest : &pending.back()});
  }
  return pending;
}

bool Search::step(const Pending* pending) {
  if (pending == nullptr) {
    return true;
  }
  if (!budget_.spend(1)) {
    complete_ = false;
    return false;
  }
  return pending->node->leaf() ? step_leaf(*pending->node, pending->within, pending->next)
                               : step_group(*pending->node, pending->within, pending->next);
}

bool Search::step_leaf(const PlanNode& node, Domain within, const Pending* rest) {
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

// What these parts ask for all at once; none where no host has that much.
std::optional<Amounts> Search::all_together(const std::vector<std::size_t>& parts) const {
  Amounts sum;
  for (const std::size_t part : parts) {
    for (const auto& [resource, amount] : plan_.parts[part].shape->requests.entries()) {
      std::int64_t all = 0;
      if (__builtin_mul_overflow(amount, plan_.parts[part].count, &all)) {
        return std::nullopt;
      }
      sum.add(resource, all);
    }
  }
  return sum;
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

std::vector<Domain> Search::candidates(const PlanNode& node, Domain within, int level, std::size_t most) {
  const std::vector<std::size_t> parts = parts_of(node);
  const std::size_t largest = largest_of(parts);
  Scope scope{.within = within, .exclusive = node.exclusive};
  if (node.exclusive >= 0) {
    scope.occupied = occupied(node, node.exclusive, largest);
  }
  const DomainTree& tree = counts(largest).tree();
  const std::optional<Amounts> on_one_host =
      level == tree.host_level() ? all_together(parts) : std::optional(Amounts{});
  if (!on_one_host) {
    return {};
  }
  std::vector<std::pair<const SlotCounts*, int>> slots;
  for (const std::size_t part : parts) {
    slots.emplace_back(&counts(part), plan_.parts[part].count);
  }
  int pieces = 0;
  if (const SlotCounts* joint = joint_counts(node, pieces)) {
    slots.emplace_back(joint, pieces);
  }
  const auto holds = [&](const Domain& domain) {
    return std::all_of(slots.begin(), slots.end(),
                       [&](const auto& part) { return part.first->capacity(domain) >= part.second; }) &&
           (level < tree.host_level() || room_for(*on_one_host, tree.node(domain.index)));
  };
  return holders(counts(largest), scope, level, plan_.parts[largest].count, holds, most);
}

bool Search::step_group(const PlanNode& node, Domain within, const Pending* rest) {
  const std::vector<std::size_t> parts = parts_of(node);
  const bool one_tree = std::all_of(parts.begin(), parts.end(), [&](std::size_t part) {
    return plan_.parts[part].topology == plan_.parts[parts.front()].topology;
  });
  if (one_tree && (node.unit || node.required >= 0)) {
    const int lowest = counts(parts.front()).tree().host_level();
    for (int level = lowest; level > std::max(node.required - 1, within.level); --level) {
      std::vector<Domain> domains = candidates(node, within, level, kMaxTries + 1);
      if (domains.size() > kMaxTries) {
        domains.resize(kMaxTries);
        domains.shrink_to_fit();  // it stays on the stack while all the rest is placed
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

// The whole group at once; none where that is not to be had, and it may still be placed piece by piece.
std::optional<bool> Search::try_group_together(const PlanNode& node, Domain domain,
                                               const std::vector<std::size_t>& parts, const Pending* rest) {
  const std::int64_t steps = std::min(kPackSteps, budget_.left() / kJointShare);
  Budget effort(steps);
  {
    const JointAnswer answer = jointly(node, domain, parts, effort);
    budget_.spend(steps - effort.left());
    if (answer.verdict == JointVerdict::kNone) {
      return false;
    }
    if (!place_all(answer, parts)) {
      return std::nullopt;
    }
  }
  const std::size_t owned = owned_.size();
  own_below(node);
  if (step(rest)) {
    return true;
  }
  complete_ = false;
  owned_.shrink(owned);
  for (std::size_t i = parts.size(); i-- > 0;) {
    give(parts[i]);
  }
  return false;
}

bool Search::try_group_in(const PlanNode& node, Domain domain, const Pending* rest) {
  const std::vector<std::size_t> parts = parts_of(node);
  if (domain.level >= 0 && parts.size() > 1 && joinable(parts)) {
    if (const std::optional<bool> done = try_group_together(node, domain, parts, rest)) {
      return *done;
    }
  }
  const std::size_t owned = owned_.size();
  if (!own(node, domain)) {
    return false;
  }
  const std::vector<Pending> pending = expand(node, domain, rest);
  if (step(pending.empty() ? rest : &pending.back())) {
    return true;
  }
  owned_.shrink(owned);
  return false;
}

}  // namespace gantree
