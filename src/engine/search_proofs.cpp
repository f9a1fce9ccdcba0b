// Proofs that a gang does not fit, from counts and from some of its groups alone.
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::int64_t kSubsetSteps = 500'000;  // to find out whether there is a placement for some of the groups

}  // namespace

// Whether no domain of a level has as much of some resource as the parts below a node need of it. Only on few hosts.
bool Search::short_of_a_resource(const PlanNode& node, int required) {
  const std::vector<std::size_t> parts = parts_of(node);
  if (!small_ || parts.size() < 2 || !joinable(parts)) {
    return false;
  }
  Amounts wanted;
  for (const std::size_t part : parts) {
    for (const auto& [resource, amount] : plan_.parts[part].shape->requests.entries()) {
      std::int64_t all = 0;
      if (__builtin_mul_overflow(amount, plan_.parts[part].count, &all)) {
        return true;
      }
      wanted.add(resource, all);
    }
  }
  const DomainTree& domains = counts(parts.front()).tree();
  const auto have = [&](std::uint32_t host, ResourceId resource) {
    const NodeId at = domains.node(host);
    const bool usable = std::any_of(parts.begin(), parts.end(), [&](std::size_t part) {
      return counts_[part]->slots(host) > 0 && plan_.parts[part].shape->requests.get(resource) > 0;
    });
    const Inventory& inventory = context_.inventory;
    return !usable ? 0 : fill_ == Fill::kNow ? inventory.free(at, resource) : inventory.allocatable(at, resource);
  };
  const auto enough = [&](Domain domain) {
    const Range hosts = domains.hosts(domain);
    return std::all_of(wanted.entries().begin(), wanted.entries().end(), [&](const auto& entry) {
      std::int64_t sum = 0;
      for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
        sum += have(host, entry.first);
      }
      return sum >= entry.second;
    });
  };
  if (required < 0) {
    return !enough(kWholeTree);
  }
  bool found = false;
  for (std::uint32_t d = 0; d < domains.size(required) && !found; ++d) {
    found = enough({required, d});
  }
  return !found;
}

// Whether some part fits into no domain even by itself, or the pods of one shape below a node do not together.
bool Search::hopeless(const PlanNode& node, int required) {
  required = node.groups > 1 ? required : std::max(required, node.required);
  if (!node.leaf()) {
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const PlanNode& child) { return hopeless(child, required); }) ||
           too_many_of_a_shape(node, required) || short_of_a_resource(node, required);
  }
  const int need = plan_.parts[node.part].count;
  return !can_hold(counts(node.part), {.within = kWholeTree, .required = required}, need);
}

// Whether more groups want a domain of a level to themselves than there are domains that nobody has.
bool Search::too_many_alone() {
  std::map<std::pair<TopologyId, int>, std::int64_t> wanted;
  const auto count = [&](const auto& self, const PlanNode& node) -> void {
    // Only the outermost: a group around others may share a domain with them.
    if (node.exclusive >= 0) {
      wanted[{plan_.parts[parts_of(node).front()].topology, node.exclusive}] += node.groups;
      return;
    }
    for (const PlanNode& child : node.children) {
      self(self, child);
    }
  };
  count(count, plan_.root);
  return std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const auto& [topology, level] = entry.first;
    const auto part =
        std::find_if(plan_.parts.begin(), plan_.parts.end(), [&](const Part& one) { return one.topology == topology; });
    const DomainTree& domains = context_.counts(*part, fill_).tree();
    const std::vector<bool>* taken = fill_ == Fill::kNow ? context_.occupied(topology, level) : nullptr;
    const std::int64_t gone = taken == nullptr ? 0 : std::count(taken->begin(), taken->end(), true);
    return entry.second > static_cast<std::int64_t>(domains.size(level)) - gone;
  });
}

bool Search::too_many_of_a_shape(const PlanNode& node, int required) {
  const auto before = [&](std::size_t a, std::size_t b) {
    const Part& x = plan_.parts[a];
    const Part& y = plan_.parts[b];
    return x.topology != y.topology ? x.topology < y.topology : x.shape != y.shape && *x.shape < *y.shape;
  };
  std::vector<std::size_t> parts = parts_of(node);
  std::sort(parts.begin(), parts.end(), before);
  std::vector<Part> shapes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = plan_.parts[parts[i]];
    if (i == 0 || before(parts[i - 1], parts[i])) {
      shapes.push_back(part);
      shapes.back().slices.clear();
    } else if (__builtin_add_overflow(shapes.back().count, part.count, &shapes.back().count)) {
      return true;
    }
  }
  return std::any_of(shapes.begin(), shapes.end(), [&](const Part& part) {
    return !can_hold(context_.counts(part, fill_), {.within = kWholeTree, .required = required}, part.count);
  });
}

// Whether some of the groups do not fit even without the others: those that are hardest to place first, more and more
// of them as long as that can be decided.
bool Search::some_do_not_fit() {
  const PlanNode* node = &plan_.root;
  while (node->children.size() == 1) {
    node = &node->children.front();
  }
  std::vector<std::tuple<double, std::string_view, std::vector<std::size_t>>> order;  // (-weight, name, parts)
  for (const PlanNode& child : node->children) {
    double weight = 0;
    std::vector<std::size_t> parts = parts_of(child);
    for (const std::size_t part : parts) {
      const double there = std::max(1, counts(part).capacity(kWholeTree));
      weight += plan_.parts[part].count / there;
    }
    const std::string_view name = plan_.parts[parts.front()].name;
    order.emplace_back(-weight, name, std::move(parts));
  }
  std::sort(order.begin(), order.end());
  Budget effort(kSubsetSteps);
  std::vector<std::size_t> parts;
  std::size_t tried = 0;
  for (std::size_t g = 0; g + 1 < order.size(); ++g) {
    const auto& own = std::get<2>(order[g]);
    parts.insert(parts.end(), own.begin(), own.end());
    if (parts.size() < tried + 2) {
      continue;
    }
    tried = parts.size();
    const JointVerdict verdict = jointly(plan_.root, kWholeTree, parts, effort, true).verdict;
    if (verdict != JointVerdict::kFound) {
      return verdict == JointVerdict::kNone;
    }
  }
  return false;
}

}  // namespace gantree
