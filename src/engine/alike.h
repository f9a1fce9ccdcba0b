// Groups that are alike are counted instead of named.
//
// Two groups are alike where their subtrees have the same shapes, counts and rules. Which of them goes where is the
// same to everybody, so the search is asked for "twelve groups like this": a node that stands for all of them, and
// parts that hold the pods of all. "Each in one domain of a level" then means that pods come in whole groups in every
// domain of it, as slices do. Pods of one shape that nothing sets apart are one part as well.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/domain_tree.h"
#include "engine/gang_plan.h"
#include "engine/pack.h"

namespace gantree {

class AlikePlan {
 public:
  // None where nothing is alike, or parts differ in their topology: then the plan itself is all there is. The plan
  // must outlive it.
  [[nodiscard]] static std::optional<AlikePlan> of(const GangPlan& plan);

  // Every part has the pods of its members. A node of several groups has their rules, each for itself.
  [[nodiscard]] const GangPlan& merged() const { return merged_; }

  // From where the pods of the merged parts are to where those of the plan's own parts are: pods of a group as close
  // together as can be, the first groups (by name) in the first domains. None where the pods do not come in whole
  // groups.
  [[nodiscard]] std::optional<std::vector<Shares>> apart(const std::vector<Shares>& shares,
                                                         const DomainTree& tree) const;

  // One node of the merged plan and those of the plan that it stands for, parent by parent.
  struct Kind {
    std::vector<const PlanNode*> nodes;
    std::vector<Kind> children;
    std::size_t part = 0;  // of a leaf: of the merged plan
    [[nodiscard]] bool leaf() const { return children.empty(); }
  };

 private:
  friend class AlikePlanner;

  explicit AlikePlan(const GangPlan& plan) : plan_(&plan) {}

  const GangPlan* plan_;
  GangPlan merged_;
  Kind root_;
};

}  // namespace gantree
