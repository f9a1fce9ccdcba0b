// Who belongs to which PodGroup.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dialects/intake.h"
#include "dialects/kai/draft.h"
#include "dialects/kai/pod_group.h"

namespace gantree::kai {

// The name of the PodGroup that pods of a template join; absent where they join none.
[[nodiscard]] json::Value group_joined(const PodTemplate& pods);
// Whether a workload's pods are in PodGroups by its own templates, not by the pod grouper.
[[nodiscard]] bool joins_by_template(const Workload& workload);

using GroupName = std::pair<std::string, std::string>;  // namespace, name

// All that ask in PodGroups, and the pods of theirs that run.
struct Roll {
  struct Member {
    const Workload* workload = nullptr;
    const PodTemplate* pods = nullptr;
    int missing = 0;  // pods of it that do not run yet
  };
  struct Members {
    std::vector<Member> asking;
    std::vector<const PodRecord*> bound;
  };
  std::map<GroupName, Members> groups;
};

[[nodiscard]] Roll call_roll(const Intake& intake);

// The gang of a PodGroup with its members. One that lacks pods waits; one of which nothing is missing asks for
// nothing: its root is empty.
[[nodiscard]] Draft draft_of(const PodGroup& group, const Roll::Members& members, Intake& intake, Remarks& remarks);

// The gang of pods that name a PodGroup which is not there. `any`: whether the input has PodGroups at all; where it
// has none, the gang is of the pods there are.
[[nodiscard]] Draft draft_without_group(const GroupName& name, const Roll::Members& members, bool any, Intake& intake,
                                        Remarks& remarks);

}  // namespace gantree::kai
