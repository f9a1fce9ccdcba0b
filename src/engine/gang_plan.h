// A gang prepared for the search: its constraints as a tree whose leaves are
// parts, each part so many identical pods.
//
// A pod set is one part, unless its count is no multiple of its slice size:
// then the smaller last piece is a part of its own, tied to one domain of the
// slice's level.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/gang.h"

namespace gantree {

struct Part {
  std::size_t pod_set = 0;  // its position in the gang
  std::string_view name;    // of the pod set
  const PodShape* shape = nullptr;
  int count = 0;
  std::vector<Slice> slices;
  Packing packing = Packing::kTightest;
  int level = -1;  // with kBalanced, the balance level; with kNearest, the preferred one
  TopologyId topology;
};

struct PlanNode {
  int required = -1;               // all below in one domain of this level
  int exclusive = -1;              // alone there
  bool unit = false;               // counts its domains as one (it asked for closeness)
  int depth = 0;                   // of units: how many units are above
  int groups = 1;                  // so many alike (alike.h): the above holds for each of them by itself
  std::size_t part = 0;            // of a leaf
  std::vector<PlanNode> children;  // none: a leaf
  [[nodiscard]] bool leaf() const { return children.empty(); }
};

struct GangPlan {
  std::vector<Part> parts;
  PlanNode root;
};

// `counts` gives the pods to place by pod set; sets with none are left out.
// Requires a gang with at least one pod to place.
[[nodiscard]] GangPlan make_plan(const Gang& gang, const std::vector<int>& counts);

// The parts below a node, in order.
void collect_parts(const PlanNode& node, std::vector<std::size_t>& out);

}  // namespace gantree
