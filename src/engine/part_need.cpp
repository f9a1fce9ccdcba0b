#include "engine/part_need.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace gantree {

namespace {

void collect_needs(const GangPlan& plan, const PlanNode& node, PartNeed above, std::vector<PartNeed>& out) {
  above.required = std::max(above.required, node.required);
  above.exclusive = std::max(above.exclusive, node.exclusive);
  if (node.leaf()) {
    above.part = &plan.parts[node.part];
    out.push_back(above);
  }
  for (const PlanNode& child : node.children) {
    collect_needs(plan, child, above, out);
  }
}

// In all, and the largest piece of which every part asks for whole numbers.
struct Demand {
  std::int64_t sum = 0;
  std::int64_t piece = 0;
};

double total_of(const Inventory& inventory, ResourceId resource) {
  double sum = 0;
  for (std::size_t node = 0; node < inventory.size(); ++node) {
    sum += static_cast<double>(inventory.allocatable(make_id<NodeTag>(node), resource));
  }
  return sum;
}

}  // namespace

std::vector<PartNeed> needs_of(const GangPlan& plan) {
  std::vector<PartNeed> found;
  collect_needs(plan, plan.root, {}, found);
  return found;
}

int common_level(const GangPlan& plan) {
  const bool one_tree = std::all_of(plan.parts.begin(), plan.parts.end(),
                                    [&](const Part& part) { return part.topology == plan.parts.front().topology; });
  int level = -1;
  for (const PlanNode* node = &plan.root; one_tree; node = &node->children.front()) {
    level = std::max(level, node->required);
    if (node->children.size() != 1) {
      break;
    }
  }
  return level;
}

PartNeed JointNeed::need(int level) {
  part = {.name = {}, .shape = &piece, .count = count, .slices = {}, .topology = topology};
  return {.part = &part, .required = level};
}

std::optional<JointNeed> joint_need(const GangPlan& plan, const Inventory& inventory) {
  const Part& first = plan.parts.front();
  PodShape place = *first.shape;
  place.requests = {};
  place.preferred.clear();
  std::map<ResourceId, Demand> demands;
  for (const Part& part : plan.parts) {
    PodShape own = *part.shape;
    own.requests = {};
    own.preferred.clear();
    if (part.topology != first.topology || own != place) {
      return std::nullopt;
    }
    for (const auto& [resource, amount] : part.shape->requests.entries()) {
      std::int64_t all = 0;
      Demand& demand = demands[resource];
      if (__builtin_mul_overflow(amount, part.count, &all) || __builtin_add_overflow(demand.sum, all, &demand.sum)) {
        return std::nullopt;
      }
      demand.piece = std::gcd(demand.piece, amount);
    }
  }
  std::optional<JointNeed> found;
  double largest = 0;
  for (const auto& [resource, demand] : demands) {
    const double share = static_cast<double>(demand.sum) / std::max(1.0, total_of(inventory, resource));
    if (demand.sum / demand.piece <= std::numeric_limits<int>::max() && share > largest) {
      largest = share;
      found = {.piece = place, .count = static_cast<int>(demand.sum / demand.piece), .topology = first.topology};
      found->piece.requests.set(resource, demand.piece);
    }
  }
  return found;
}

}  // namespace gantree
