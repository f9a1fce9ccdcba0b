#include "engine/gang_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gantree {

namespace {

// The level that the packing is about.
int level_of(const Constraint& constraint) {
  switch (constraint.packing) {
    case Packing::kBalanced:
      return constraint.balance.value_or(-1);
    case Packing::kNearest:
      return constraint.preferred.value_or(-1);
    case Packing::kPack:
    case Packing::kTightest:
    case Packing::kSpread:
      break;
  }
  return -1;
}

bool asks_for_closeness(const Constraint& constraint) {
  return constraint.required || constraint.preferred || constraint.exclusive || !constraint.slices.empty();
}

class Planner {
 public:
  Planner(GangPlan& plan, const std::vector<int>& counts) : plan_(plan), counts_(counts) {}

  PlanNode group(const Group& group, TopologyId topology, int depth);

 private:
  PlanNode pod_set(const PodSet& pod_set, TopologyId topology, int depth);
  // Adds a leaf (or, where the slices leave a remainder, leaves) below a node.
  void cut(PlanNode& node, Part part, int depth);
  // A group of several sets cut as one: ranks run through the sets in order.
  void cut_group(PlanNode& node, std::vector<Part> parts, const std::vector<Slice>& slices, int depth);
  static PlanNode node_for(const Constraint& constraint, int depth);

  GangPlan& plan_;
  const std::vector<int>& counts_;
  std::size_t next_set_ = 0;
};

PlanNode Planner::node_for(const Constraint& constraint, int depth) {
  PlanNode node;
  node.exclusive = constraint.exclusive.value_or(-1);
  node.required = std::max(constraint.required.value_or(-1), node.exclusive);
  node.unit = asks_for_closeness(constraint);
  node.depth = depth;
  return node;
}

void Planner::cut(PlanNode& node, Part part, int depth) {
  const int size = part.slices.empty() ? 1 : part.slices.front().size;
  const int rest = part.count % size;
  if (part.count > rest) {
    PlanNode leaf;
    leaf.part = plan_.parts.size();
    Part whole = part;
    whole.count -= rest;
    plan_.parts.push_back(std::move(whole));
    node.children.push_back(std::move(leaf));
  }
  if (rest > 0) {
    PlanNode last;
    last.required = part.slices.front().level;
    last.depth = depth + 1;
    part.count = rest;
    part.slices.erase(part.slices.begin());
    cut(last, std::move(part), depth + 1);
    node.children.push_back(std::move(last));
  }
}

PlanNode Planner::pod_set(const PodSet& pod_set, TopologyId topology, int depth) {
  const Constraint& constraint = pod_set.constraint;
  PlanNode node = node_for(constraint, depth);
  const std::size_t position = next_set_++;
  if (counts_[position] > 0) {
    cut(node,
        Part{position, pod_set.name, &pod_set.shape, counts_[position], constraint.slices, constraint.packing,
             level_of(constraint), constraint.topology.value_or(topology)},
        depth);
  }
  return node;
}

void Planner::cut_group(PlanNode& node, std::vector<Part> parts, const std::vector<Slice>& slices, int depth) {
  const Slice& layer = slices.front();
  const std::vector<Slice> inner(slices.begin() + 1, slices.end());
  std::size_t next = 0;
  while (next < parts.size()) {
    // A run of whole pieces inside one set stays one part.
    if (const int whole = parts[next].count / layer.size * layer.size; whole > 0) {
      Part run = parts[next];
      run.count = whole;
      run.slices = slices;
      cut(node, std::move(run), depth);
      parts[next].count -= whole;
    }
    PlanNode piece;
    piece.required = layer.level;
    piece.depth = depth + 1;
    std::vector<Part> members;
    for (int room = layer.size; room > 0 && next < parts.size();) {
      Part member = parts[next];
      member.count = std::min(room, parts[next].count);
      room -= member.count;
      parts[next].count -= member.count;
      if (member.count > 0) {
        members.push_back(std::move(member));
      }
      next += parts[next].count == 0 ? 1 : 0;
    }
    if (members.empty()) {
      continue;
    }
    if (inner.empty()) {
      for (Part& member : members) {
        cut(piece, std::move(member), depth + 1);
      }
    } else {
      cut_group(piece, std::move(members), inner, depth + 1);
    }
    node.children.push_back(std::move(piece));
  }
}

PlanNode Planner::group(const Group& group, TopologyId topology, int depth) {
  PlanNode node = node_for(group.constraint, depth);
  const TopologyId own = group.constraint.topology.value_or(topology);
  const int below = depth + (node.unit ? 1 : 0);
  if (!group.constraint.slices.empty() && group.groups.empty()) {
    std::vector<Part> parts;
    for (const PodSet& pod_set : group.pod_sets) {
      const std::size_t position = next_set_++;
      parts.push_back(Part{position, pod_set.name, &pod_set.shape, counts_[position], {}, Packing::kPack, -1, own});
    }
    std::erase_if(parts, [](const Part& part) { return part.count == 0; });
    cut_group(node, std::move(parts), group.constraint.slices, below);
    return node;
  }
  for (const PodSet& pod_set : group.pod_sets) {
    const std::size_t part = plan_.parts.size();
    PlanNode child = this->pod_set(pod_set, own, below);
    if (!child.leaf()) {
      // What a group of one set asks for, the set asks for.
      if (group.constraint.packing == Packing::kNearest && group.pod_sets.size() == 1 && group.groups.empty() &&
          pod_set.constraint.packing == Packing::kTightest) {
        plan_.parts[part].packing = Packing::kNearest;
        plan_.parts[part].level = level_of(group.constraint);
      }
      node.children.push_back(std::move(child));
    }
  }
  for (const Group& nested : group.groups) {
    PlanNode child = this->group(nested, own, below);
    if (!child.leaf()) {
      node.children.push_back(std::move(child));
    }
  }
  return node;
}

}  // namespace

GangPlan make_plan(const Gang& gang, const std::vector<int>& counts) {
  GangPlan plan;
  plan.root = Planner(plan, counts).group(gang.root, gang.topology, 0);
  return plan;
}

void collect_parts(const PlanNode& node, std::vector<std::size_t>& out) {
  if (node.leaf()) {
    out.push_back(node.part);
    return;
  }
  for (const PlanNode& child : node.children) {
    collect_parts(child, out);
  }
}

}  // namespace gantree
