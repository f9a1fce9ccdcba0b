// Where groups differ and backtracking has not found a place: start over with another order, again and again.
//
// Every attempt places group after group and goes back for none. The one that finds no place goes first in the next
// attempt. Whether hosts are filled tightly, or those first that have least of what the others need, changes from
// attempt to attempt, too. What is found is legal and need not be the closest; that nothing is found proves nothing.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr int kAttempts = 400;
constexpr int kQuickAttempts = 4;
constexpr std::int64_t kAttemptSteps = std::int64_t{4} * 1024 * 1024;  // in all; a step is a host looked at
constexpr std::size_t kDomainsTried = 16;                              // by one group in one attempt

}  // namespace

class Restarts {
 public:
  Restarts(Search& search, Budget& budget) : search_(search), budget_(budget) {
    weigh_resources();
    const auto note = [&](const auto& self, const PlanNode& node) -> double {
      double share = node.leaf() ? share_of(search_.plan_.parts[node.part]) : 0;
      std::vector<std::pair<double, const PlanNode*>> below;
      for (const PlanNode& child : node.children) {
        below.emplace_back(self(self, child), &child);
        share += below.back().first;
      }
      std::stable_sort(below.begin(), below.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
      for (const auto& [own, child] : below) {
        order_[&node].push_back(child);
      }
      return share;
    };
    note(note, search_.plan_.root);
  }

  bool run(int attempts) {
    for (attempt_ = 0; attempt_ < attempts && !budget_.exhausted() && !search_.tired(); ++attempt_) {
      if (place(search_.plan_.root, kWholeTree)) {
        return true;
      }
    }
    return false;
  }

 private:
  void weigh_resources();
  [[nodiscard]] double share_of(const Part& part) const;
  bool place(const PlanNode& node, Domain within);
  bool place_children(const PlanNode& node, Domain domain);
  bool place_leaf(std::size_t part, Domain domain);
  [[nodiscard]] std::optional<Shares> sparingly(std::size_t part, Domain domain);
  void undo(const PlanNode& node);
  std::uint64_t random() {  // the same numbers every time
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  Search& search_;
  Budget& budget_;
  std::vector<double> weight_;                                     // by resource: what the gang wants of what is free
  std::map<const PlanNode*, std::vector<const PlanNode*>> order_;  // of the children
  int attempt_ = 0;
  std::uint64_t random_ = 0x9E3779B97F4A7C15;
};

void Restarts::weigh_resources() {
  const Inventory& inventory = search_.context_.inventory;
  const DomainTree& tree = search_.tree();
  std::vector<double> free(inventory.resources().size(), 0);
  for (std::uint32_t host = 0; host < tree.size(tree.host_level()); ++host) {
    for (std::size_t r = 0; r < free.size(); ++r) {
      free[r] +=
          static_cast<double>(std::max<std::int64_t>(0, inventory.free(tree.node(host), make_id<ResourceTag>(r))));
    }
  }
  // Per unit of the resource, and per unit that is asked for.
  weight_.assign(free.size(), 0);
  for (const Part& part : search_.plan_.parts) {
    for (const auto& [resource, amount] : part.shape->requests.entries()) {
      weight_[resource.index()] += static_cast<double>(amount) * part.count;
    }
  }
  for (std::size_t r = 0; r < free.size(); ++r) {
    weight_[r] = free[r] > 0 ? weight_[r] / free[r] / free[r] : 0;
  }
}

double Restarts::share_of(const Part& part) const {
  double share = 0;
  for (const auto& [resource, amount] : part.shape->requests.entries()) {
    share += weight_[resource.index()] * static_cast<double>(amount) * part.count;
  }
  return share;
}

bool Restarts::place(const PlanNode& node, Domain within) {
  if (node.leaf()) {
    return place_leaf(node.part, within);
  }
  if (node.required <= within.level) {
    return place_children(node, within);
  }
  if (search_.tired()) {
    return false;
  }
  std::vector<Domain> domains = attempt_ % 3 == 0 ? search_.candidates(node, within, node.required, kDomainsTried)
                                                  : search_.candidates(node, within, node.required);
  budget_.spend(16 * search_.cost_of_a_look());
  if (attempt_ % 3 == 1) {
    std::reverse(domains.begin(), domains.end());
  } else if (attempt_ % 3 == 2) {
    for (std::size_t i = domains.size(); i > 1; --i) {
      std::swap(domains[i - 1], domains[random() % i]);
    }
  }
  domains.resize(std::min(domains.size(), kDomainsTried));
  return std::any_of(domains.begin(), domains.end(),
                     [&](const Domain& domain) { return place_children(node, domain); });
}

bool Restarts::place_children(const PlanNode& node, Domain domain) {
  const std::size_t owned = search_.owned_.size();
  if (!search_.own(node, domain)) {
    return false;
  }
  std::vector<const PlanNode*>& order = order_[&node];
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (place(*order[i], domain)) {
      continue;
    }
    for (std::size_t j = i; j-- > 0;) {
      undo(*order[j]);
    }
    search_.owned_.shrink(owned);
    // Now and then another order altogether: two that always fail in turn would go on for ever.
    const std::size_t first = attempt_ % 16 == 15 ? random() % (i + 1) : 0;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(i),
                order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return false;
  }
  return true;
}

void Restarts::undo(const PlanNode& node) {
  std::vector<std::size_t> parts;
  collect_parts(node, parts);
  for (std::size_t i = parts.size(); i-- > 0;) {
    search_.give(parts[i]);
  }
}

bool Restarts::place_leaf(std::size_t part, Domain domain) {
  const Part& what = search_.plan_.parts[part];
  const bool tightly = !what.slices.empty() || attempt_ % 2 == 0;
  const auto shares =
      tightly ? search_.place_part(part, search_.scope_of(part, domain, -1, -1)) : sparingly(part, domain);
  if (!budget_.spend(1) || !shares) {
    return false;
  }
  search_.take(part, *shares);
  return true;
}

// Hosts first that have least of what this part does not need and the others do.
std::optional<Shares> Restarts::sparingly(std::size_t part, Domain domain) {
  const Inventory& inventory = search_.context_.inventory;
  const SlotCounts& slots = search_.counts(part);
  const DomainTree& tree = slots.tree();
  const Amounts& requests = search_.plan_.parts[part].shape->requests;
  const Range hosts = tree.hosts(domain);
  budget_.spend(hosts.size());
  std::vector<std::tuple<double, int, std::uint32_t>> order;
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    if (slots.slots(host) == 0) {
      continue;
    }
    double waste = 0;
    for (std::size_t r = 0; r < weight_.size(); ++r) {
      const auto resource = make_id<ResourceTag>(r);
      if (weight_[r] > 0 && requests.get(resource) == 0) {
        waste += weight_[r] * static_cast<double>(inventory.free(tree.node(host), resource));
      }
    }
    order.emplace_back(waste, slots.slots(host), host);
  }
  std::sort(order.begin(), order.end());
  Shares shares;
  int left = search_.plan_.parts[part].count;
  for (const auto& [waste, room, host] : order) {
    if (left == 0) {
      break;
    }
    shares.push_back({host, std::min(left, room)});
    left -= shares.back().count;
  }
  if (left > 0) {
    return std::nullopt;
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

SearchAnswer Search::starting_over() {
  if (!joinable(parts_of(plan_.root))) {
    return {.verdict = SearchVerdict::kGaveUp, .shares = {}};
  }
  note_size();
  Budget budget(kAttemptSteps);
  return answer(Restarts(*this, budget).run(kAttempts), JointVerdict::kGaveUp);
}

bool Search::found_quickly() {
  if (!joinable(parts_of(plan_.root)) || too_many_alone() || hopeless(plan_.root, -1)) {
    return false;
  }
  note_size();
  Budget budget(kAttemptSteps);
  return answer(Restarts(*this, budget).run(kQuickAttempts), JointVerdict::kGaveUp).verdict == SearchVerdict::kFound;
}

}  // namespace gantree
