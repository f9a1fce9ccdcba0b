// What the parts of a gang need of a domain, each by itself and all together.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/gang_plan.h"
#include "engine/inventory.h"

namespace gantree {

// What one part needs, the constraints above it included.
struct PartNeed {
  const Part* part = nullptr;
  int required = -1;
  int exclusive = -1;
  int groups = 1;  // alike that are each alone in a domain of that level, and have as many of the pods
};
// Also of a plan whose groups are counted (alike.h): what such groups require each by itself, the slices say.
[[nodiscard]] std::vector<PartNeed> needs_of(const GangPlan& plan);
// Without those that others imply: of parts that differ only in their number of pods the largest is enough.
[[nodiscard]] std::vector<PartNeed> without_implied(const std::vector<PartNeed>& needs);

// The level of which one domain must hold the whole gang, or -1.
[[nodiscard]] int common_level(const GangPlan& plan);

// What is sure to be needed where the minima of groups leave open which pods start: of every pod set
// as many as always start, maybe none; where all pods are alike, as many as the gang cannot do without.
struct SureNeed {
  std::vector<Part> parts;
  int level = -1;          // of which one domain must hold the whole gang
  bool exclusive = false;  // some want domains to themselves: more than room is needed

  // Valid as long as this is, and stays where it is.
  [[nodiscard]] std::vector<PartNeed> needs() const;
};
[[nodiscard]] SureNeed sure_need(const Gang& gang);

// One resource, cut into pieces as fine as the parts allow: where these do not fit, the gang cannot.
struct JointNeed {
  PodShape piece;
  int count = 0;
  TopologyId topology;
  std::vector<Slice> slices = {};
  Part part = {};  // filled in by need()

  // Valid as long as this is, and stays where it is.
  [[nodiscard]] PartNeed need(int level);
};
// What some parts together need of the resource that they ask the largest share of. None where they
// differ in their topology, or in where they may run.
[[nodiscard]] std::optional<JointNeed> joint_need(std::span<const Part* const> parts, const Inventory& inventory);

// Where several groups of the gang each want one domain of a level: as many domains as there are groups,
// each with room for the smallest of them. None where fewer than two do. Groups may be counted (alike.h).
[[nodiscard]] std::optional<JointNeed> sibling_need(const GangPlan& plan, const Inventory& inventory);

}  // namespace gantree
