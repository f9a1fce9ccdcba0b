// Which domains could hold a group, the best of them first.
//
// Groups that ask for the same follow each other, and between two of them little changes: the best domains are kept
// with what has changed since, so that a large cluster is looked at once and not once a group.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::size_t kKept = 256;           // lists at a time
constexpr std::size_t kLongest = 512;        // domains in each
constexpr std::size_t kMostChanged = 256;    // domains that have changed since it was made
constexpr std::uint32_t kWorthKeeping = 64;  // domains of a level
constexpr std::int64_t kStepsPerLook = 4;    // of work: a domain that is looked at closely

}  // namespace

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
  const SlotCounts& first = counts(largest);
  const DomainTree& tree = first.tree();
  const std::optional<Amounts> on_one_host =
      level == tree.host_level() ? all_together(parts) : std::optional(Amounts{});
  if (!on_one_host) {
    return {};
  }
  Asked asked{.within = within, .level = level, .first = {&first, plan_.parts[largest].count}, .all = {}};
  for (const std::size_t part : parts) {
    asked.all.emplace_back(&counts(part), plan_.parts[part].count);
  }
  int pieces = 0;
  if (const SlotCounts* joint = joint_counts(node, pieces)) {
    asked.all.emplace_back(joint, pieces);
  }
  std::int64_t looks = 1;
  const auto holds = [&](const Domain& domain) {
    ++looks;
    return std::all_of(asked.all.begin(), asked.all.end(),
                       [&](const auto& part) { return part.first->capacity(domain) >= part.second; }) &&
           (level < tree.host_level() || room_for(*on_one_host, tree.node(domain.index)));
  };
  const bool all = node.exclusive >= 0 || most >= kLongest || tree.below(within, level).size() < kWorthKeeping;
  std::vector<Domain> found = all ? holders(first, scope, level, asked.first.second, holds, most)
                                  : kept_candidates(std::move(asked), holds, most);
  work(kStepsPerLook * looks + (all ? tree.below(within, level).size() / 4 : 0));
  return found;
}

std::vector<Domain> Search::kept_candidates(Asked asked, const std::function<bool(const Domain&)>& holds,
                                            std::size_t most) {
  auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const KeptCandidates& one) { return one.asked == asked; });
  if (kept == kept_.end()) {
    if (kept_.size() == kKept) {
      kept_.erase(kept_.begin());
    }
    kept_.push_back({.asked = std::move(asked), .order = {}, .all = false, .position = 0, .changed = {}});
    kept = kept_.end() - 1;
    list_candidates(*kept, holds);
  } else if (!note_changes(*kept)) {
    list_candidates(*kept, holds);
  }
  std::vector<Domain> found;
  if (!merge_candidates(*kept, holds, most, found)) {
    list_candidates(*kept, holds);
    GANTREE_CHECK(merge_candidates(*kept, holds, most, found));
  }
  return found;
}

Search::Rank Search::rank(const Asked& asked, std::uint32_t index) {
  const SlotCounts& slots = *asked.first.first;
  const Domain domain{asked.level, index};
  const bool host = asked.level == slots.tree().host_level();
  return {host ? 1 : children_needed(slots, domain, asked.first.second), slots.capacity(domain), index};
}

// Looks at every domain.
void Search::list_candidates(KeptCandidates& kept, const std::function<bool(const Domain&)>& holds) {
  const Asked& asked = kept.asked;
  const SlotCounts& slots = *asked.first.first;
  work(slots.tree().below(asked.within, asked.level).size() / 64);
  kept.order.clear();
  kept.changed.clear();
  kept.position = context_.inventory.position();
  // Of hosts none is better than those that hold no pod more, the first of them before others: these are enough.
  const bool hosts = asked.level == slots.tree().host_level();
  std::size_t tightest = 0;
  const auto enough = [&] { return tightest > kLongest; };
  visit(
      slots, asked.within, asked.level, [&] { return enough() ? kAnyNumber : asked.first.second; },
      [] { return kAnyNumber; },
      [&](std::uint32_t d) {
        const int capacity = slots.capacity({asked.level, d});
        if (capacity >= asked.first.second && !enough() && holds({asked.level, d})) {
          kept.order.push_back(rank(asked, d));
          tightest += hosts && capacity == asked.first.second ? 1 : 0;
        }
      });
  kept.all = kept.order.size() <= kLongest;
  if (!kept.all) {
    std::nth_element(kept.order.begin(), kept.order.begin() + kLongest, kept.order.end());
    kept.order.resize(kLongest);
    kept.order.shrink_to_fit();
  }
  std::sort(kept.order.begin(), kept.order.end());
}

// False where too much has changed.
bool Search::note_changes(KeptCandidates& kept) {
  const auto changed = context_.inventory.changed_since(kept.position);
  if (!changed) {
    return false;
  }
  const DomainTree& domains = kept.asked.first.first->tree();
  for (const Inventory::Change& change : *changed) {
    const std::uint32_t host = domains.host_of(change.node);
    if (host == DomainTree::kNowhere) {
      continue;
    }
    const std::uint32_t domain = domains.ancestor(domains.host_level(), host, kept.asked.level);
    const auto place = std::lower_bound(kept.changed.begin(), kept.changed.end(), domain);
    if (place == kept.changed.end() || *place != domain) {
      kept.changed.insert(place, domain);
    }
    if (kept.changed.size() > kMostChanged) {
      return false;
    }
  }
  kept.position = context_.inventory.position();
  return true;
}

// Those that have not changed and those that have, in one order. False where one may be better that is not in the list.
bool Search::merge_candidates(const KeptCandidates& kept, const std::function<bool(const Domain&)>& holds,
                              std::size_t most, std::vector<Domain>& found) const {
  const Asked& asked = kept.asked;
  const DomainTree& domains = asked.first.first->tree();
  const Range within = domains.below(asked.within, asked.level);
  std::vector<Rank> again;
  for (const std::uint32_t d : kept.changed) {
    if (d >= within.begin && d < within.end && holds({asked.level, d})) {
      again.push_back(rank(asked, d));
    }
  }
  std::sort(again.begin(), again.end());
  found.clear();
  auto next = again.begin();
  auto at = kept.order.begin();
  while (found.size() < most) {
    while (at != kept.order.end() && std::binary_search(kept.changed.begin(), kept.changed.end(), at->index)) {
      ++at;
    }
    if (at == kept.order.end() && !kept.all) {
      return false;
    }
    if (at == kept.order.end() && next == again.end()) {
      break;
    }
    const bool changed = at == kept.order.end() || (next != again.end() && *next < *at);
    found.push_back({asked.level, changed ? (next++)->index : (at++)->index});
  }
  return true;
}

}  // namespace gantree
