#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::int64_t kGroupPackSteps = 262'144;  // to place a group in a domain
constexpr std::int64_t kJointShare = 8;            // of the steps left, what placing a whole group at once may take
constexpr std::int64_t kStepsToEmpty = 8;          // of work, a host and shape
constexpr std::size_t kMaxTries = 64;              // candidate domains of one level that are tried
constexpr std::size_t kFewParts = 8;               // of which going back mostly finds a way
constexpr std::int64_t kPatience = 64;  // dead ends of more parts, and four more a part, before starting over

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

std::int64_t Search::shapes() const {
  std::vector<const PodShape*> all;
  for (const Part& part : plan_.parts) {
    all.push_back(part.shape);
  }
  std::sort(all.begin(), all.end(), [](const PodShape* a, const PodShape* b) { return *a < *b; });
  return std::unique(all.begin(), all.end(), [](const PodShape* a, const PodShape* b) { return *a == *b; }) -
         all.begin();
}

SearchAnswer Search::step_by_step() {
  if (fill_ == Fill::kNow) {
    return improved(some_order());
  }
  // Steps book what they place, so that the next sees it: they need a cluster that is empty indeed, and every shape is
  // counted anew there, and again afterwards.
  const auto hosts = static_cast<std::int64_t>(tree().size(tree().host_level()));
  if (const std::int64_t steps = kStepsToEmpty * hosts * shapes(); context_.work->can_spend(steps)) {
    work(steps);
  } else {
    return {.verdict = SearchVerdict::kGaveUp, .shares = {}};
  }
  const Emptied emptied(context_.inventory, tree());
  const SearchContext nobody{context_.inventory, context_.counts, [](TopologyId, int) { return nullptr; },
                             context_.work};
  return Search(nobody, plan_, Fill::kNow).some_order();
}

// Of many parts those placed last are seldom the ones that are in the way: rather than going back over them again and
// again, others go first. What takes long comes last.
SearchAnswer Search::some_order() {
  const bool few = plan_.parts.size() <= kFewParts;
  const auto parts = static_cast<std::int64_t>(plan_.parts.size());
  SearchAnswer answer = backtracking(few ? kSearchSteps : kPatience + 4 * parts);
  if (answer.verdict == SearchVerdict::kGaveUp) {
    answer = starting_over();
  }
  return answer.verdict == SearchVerdict::kGaveUp && !few ? backtracking(kSearchSteps) : answer;
}

SearchAnswer Search::backtracking(std::int64_t dead_ends) {
  note_size();
  budget_ = Budget(kSearchSteps);
  dead_ends_ = dead_ends;
  complete_ = true;
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
  struct Child {
    const PlanNode* node = nullptr;
    int pods = 0;
    std::string_view name;
  };
  std::vector<Child> order;
  for (const PlanNode& child : node.children) {
    const std::vector<std::size_t> parts = parts_of(child);
    Child& added = order.emplace_back(Child{.node = &child, .pods = 0, .name = plan_.parts[parts.front()].name});
    for (const std::size_t part : parts) {
      added.pods += plan_.parts[part].count;
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const Child& a, const Child& b) {
    return std::tuple(a.node->required, a.pods, b.name) < std::tuple(b.node->required, b.pods, a.name);
  });
  std::vector<Pending> pending;  // the last is taken first
  pending.reserve(order.size());
  for (const Child& child : order) {
    pending.push_back({child.node, within, pending.empty() ? rest : &pending.back()});
  }
  return pending;
}

bool Search::step(const Pending* pending) {
  if (pending == nullptr) {
    return true;
  }
  if (!budget_.spend(cost_of_a_look()) || dead_ends_ <= 0 || tired()) {
    complete_ = false;
    return false;
  }
  const bool done = pending->node->leaf() ? step_leaf(*pending->node, pending->within, pending->next)
                                          : step_group(*pending->node, pending->within, pending->next);
  dead_ends_ -= done ? 0 : 1;
  return done;
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
        if (budget_.exhausted() || dead_ends_ <= 0 || tired()) {
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
  const std::int64_t steps = share_of_work(std::min(kGroupPackSteps, budget_.left() / kJointShare));
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
