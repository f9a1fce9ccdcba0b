#include "engine/part_need.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace gantree {

namespace {

void collect_needs(const GangPlan& plan, const PlanNode& node, PartNeed above, std::vector<PartNeed>& out) {
  if (node.groups == 1) {
    above.required = std::max(above.required, node.required);
  }
  if (node.exclusive >= 0 && node.exclusive >= above.exclusive) {
    above.exclusive = node.exclusive;
    above.groups = node.groups;
  }
  if (node.leaf()) {
    above.part = &plan.parts[node.part];
    out.push_back(above);
  }
  for (const PlanNode& child : node.children) {
    collect_needs(plan, child, above, out);
  }
}

bool wants_to_be_alone(const Group& group) {
  return group.constraint.exclusive ||
         std::any_of(group.pod_sets.begin(), group.pod_sets.end(),
                     [](const PodSet& set) { return set.constraint.exclusive.has_value(); }) ||
         std::any_of(group.groups.begin(), group.groups.end(), wants_to_be_alone);
}

// Adds the pod sets of a group, and returns how many pods it cannot do without.
std::int64_t collect_sure(const Group& group, TopologyId topology, bool sure, std::vector<Part>& out) {
  const TopologyId own = group.constraint.topology.value_or(topology);
  std::int64_t pods = 0;
  for (const PodSet& set : group.pod_sets) {
    pods += set.min_count;
    out.push_back({.name = set.name,
                   .shape = &set.shape,
                   .count = sure ? set.min_count : 0,
                   .slices = {},
                   .topology = set.constraint.topology.value_or(own)});
  }
  pods = sure ? std::max<std::int64_t>(pods, group.min_pods.value_or(0)) : 0;
  const bool all = group.min_groups.value_or(std::numeric_limits<int>::max()) >= static_cast<int>(group.groups.size());
  for (const Group& nested : group.groups) {
    pods += collect_sure(nested, own, sure && all, out);
  }
  return pods;
}

// In all, and the largest piece of which every part asks for whole numbers.
struct Demand {
  std::int64_t sum = 0;
  std::int64_t piece = 0;
};

// What a host has of a resource, on average over a sample.
double usual(const Inventory& inventory, ResourceId resource) {
  constexpr std::size_t kSample = 64;
  const std::size_t stride = inventory.size() / kSample + 1;
  double sum = 0;
  std::size_t hosts = 0;
  for (std::size_t node = 0; node < inventory.size(); node += stride) {
    sum += static_cast<double>(inventory.allocatable(make_id<NodeTag>(node), resource));
    ++hosts;
  }
  return hosts == 0 ? 0 : sum / static_cast<double>(hosts);
}

}  // namespace

std::vector<PartNeed> needs_of(const GangPlan& plan) {
  std::vector<PartNeed> found;
  collect_needs(plan, plan.root, {}, found);
  return found;
}

std::vector<PartNeed> without_implied(const std::vector<PartNeed>& needs) {
  const auto differs = [](const PartNeed* a, const PartNeed* b) {
    const auto key = [](const PartNeed& need) {
      return std::tie(need.part->topology, need.required, need.exclusive, need.groups, need.part->slices,
                      *need.part->shape);
    };
    return key(*a) < key(*b);
  };
  std::map<const PartNeed*, int, decltype(differs)> most(differs);  // pods
  for (const PartNeed& need : needs) {
    int& pods = most[&need];
    pods = std::max(pods, need.part->count);
  }
  std::vector<PartNeed> found;
  for (const PartNeed& need : needs) {
    int& pods = most[&need];
    if (need.part->count == pods) {
      found.push_back(need);
      pods = std::numeric_limits<int>::max();  // once
    }
  }
  return found;
}

int common_level(const GangPlan& plan) {
  const bool one_tree = std::all_of(plan.parts.begin(), plan.parts.end(),
                                    [&](const Part& part) { return part.topology == plan.parts.front().topology; });
  int level = -1;
  for (const PlanNode* node = &plan.root; one_tree; node = &node->children.front()) {
    level = std::max(level, node->required);
    if (node->children.size() != 1 || node->children.front().groups > 1) {
      break;
    }
  }
  return level;
}

SureNeed sure_need(const Gang& gang) {
  SureNeed found;
  found.exclusive = wants_to_be_alone(gang.root);
  const std::int64_t pods = collect_sure(gang.root, gang.topology, true, found.parts);
  const Part first = found.parts.front();
  const auto all = [&](auto is_so) { return std::all_of(found.parts.begin(), found.parts.end(), is_so); };
  if (!all([&](const Part& part) { return part.topology == first.topology; })) {
    return found;
  }
  for (const Group* group = &gang.root;; group = &group->groups.front()) {
    const Constraint& constraint = group->constraint;
    found.level = std::max({found.level, constraint.required.value_or(-1), constraint.exclusive.value_or(-1)});
    if (!group->pod_sets.empty() || group->groups.size() != 1) {
      break;
    }
  }
  if (all([&](const Part& part) { return *part.shape == *first.shape; })) {
    found.parts.resize(1);
    found.parts.front().count = static_cast<int>(pods);
  }
  return found;
}

std::vector<PartNeed> SureNeed::needs() const {
  std::vector<PartNeed> found;
  for (const Part& part : parts) {
    found.push_back({.part = &part, .required = level});
  }
  return found;
}

PartNeed JointNeed::need(int level) {
  part = {.name = {}, .shape = &piece, .count = count, .slices = slices, .topology = topology};
  return {.part = &part, .required = level};
}

std::optional<JointNeed> joint_need(std::span<const Part* const> parts, const Inventory& inventory) {
  const Part& first = *parts.front();
  PodShape place = *first.shape;
  place.requests = {};
  place.preferred.clear();
  std::map<ResourceId, Demand> demands;
  for (const Part* part : parts) {
    PodShape own = *part->shape;
    own.requests = {};
    own.preferred.clear();
    if (part->topology != first.topology || own != place) {
      return std::nullopt;
    }
    for (const auto& [resource, amount] : part->shape->requests.entries()) {
      std::int64_t all = 0;
      Demand& demand = demands[resource];
      if (__builtin_mul_overflow(amount, part->count, &all) || __builtin_add_overflow(demand.sum, all, &demand.sum)) {
        return std::nullopt;
      }
      demand.piece = std::gcd(demand.piece, amount);
    }
  }
  std::optional<JointNeed> found;
  double largest = 0;
  for (const auto& [resource, demand] : demands) {
    const double share = static_cast<double>(demand.sum) / std::max(1.0, usual(inventory, resource));
    if (demand.sum / demand.piece <= std::numeric_limits<int>::max() && share > largest) {
      largest = share;
      found = {.piece = place, .count = static_cast<int>(demand.sum / demand.piece), .topology = first.topology};
      found->piece.requests.set(resource, demand.piece);
    }
  }
  return found;
}

std::optional<JointNeed> sibling_need(const GangPlan& plan, const Inventory& inventory) {
  const PlanNode* node = &plan.root;
  while (node->children.size() == 1 && node->children.front().groups == 1) {
    node = &node->children.front();
  }
  std::vector<const Part*> all;
  for (const Part& part : plan.parts) {
    all.push_back(&part);
  }
  std::optional<JointNeed> found = joint_need(all, inventory);
  if (!found) {
    return std::nullopt;
  }
  const auto& [resource, piece] = found->piece.requests.entries().front();
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  std::int64_t siblings = 0;
  int coarsest = std::numeric_limits<int>::max();
  for (const PlanNode& child : node->children) {
    std::vector<std::size_t> parts;
    collect_parts(child, parts);
    std::int64_t pieces = 0;
    for (const std::size_t part : parts) {
      pieces += plan.parts[part].shape->requests.get(resource) / piece * (plan.parts[part].count / child.groups);
    }
    if (child.required >= 0 && pieces > 0) {
      siblings += child.groups;
      smallest = std::min(smallest, pieces);
      coarsest = std::min(coarsest, child.required);
    }
  }
  if (siblings < 2) {
    return std::nullopt;
  }
  found->count = static_cast<int>(smallest * siblings);
  found->slices = {{.level = coarsest, .size = static_cast<int>(smallest)}};
  return found;
}

}  // namespace gantree
