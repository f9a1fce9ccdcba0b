// Which flavors suit which pod sets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/dialects.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/job_request.h"

namespace gantree::kueue {

// Pod sets that share their flavors: those of a group, or one alone.
struct Unit {
  std::string_view group_name;  // "" for one alone
  std::vector<const PodSetRequest*> pod_sets;

  [[nodiscard]] const TopologyRequest& request() const { return pod_sets.front()->topology; }
  // Every level that one of them names.
  [[nodiscard]] std::vector<std::string_view> named_levels() const;
};

// The units of a workload in order of first appearance. Sets of no pods are left out.
[[nodiscard]] std::vector<Unit> units_of(const JobRequest& workload);

// One way to serve a unit.
struct Choice {
  std::vector<const ResourceGroup*> groups;  // those in use
  std::vector<const FlavorQuota*> flavors;   // the flavor taken in each
  bool elsewhere = false;                    // no flavor of it has a topology, and others find the pods a place
  TopologyId topology;
  Constraint constraint;                     // of the unit as a whole
  std::vector<std::optional<int>> required;  // by pod set; finer than the unit's where it asks for more on its own
};

// The choices of flavors for a unit in lexicographic order, at most `limit`. Fails with the reason
// of every flavor where there is none: kInvalid where the request itself is wrong, kNotFound where other flavors might
// do.
[[nodiscard]] Result<std::vector<Choice>> choices_in_queue(const Unit& unit, const ClusterQueue& queue, Intake& intake,
                                                           std::size_t limit);

// The choices of a topology alone.
[[nodiscard]] Result<std::vector<Choice>> choices_without_queue(const Unit& unit, const Setup& setup, Intake& intake);

// The groups of a queue from which the unit takes quota; one for the flavor's sake where it asks
// for nothing that is covered.
[[nodiscard]] std::vector<const ResourceGroup*> groups_in_use(const Unit& unit, const ClusterQueue& queue);

}  // namespace gantree::kueue
