#include "engine/least_gang.h"

#include <algorithm>
#include <vector>

namespace gantree {

namespace {

// Whether it depends on the placement which pods the gang starts with.
bool leaves_open(const Group& group) {
  return group.min_pods || group.min_groups || std::any_of(group.groups.begin(), group.groups.end(), leaves_open);
}

// A group's minimum over its only pod set is that pod set's.
void settle_minima(Group& group) {
  if (group.min_pods && group.pod_sets.size() == 1 && *group.min_pods <= group.pod_sets.front().count) {
    PodSet& only = group.pod_sets.front();
    only.min_count = std::max(only.min_count, *group.min_pods);
    group.min_pods.reset();
  }
  if (group.min_groups && *group.min_groups >= static_cast<int>(group.groups.size())) {
    group.min_groups.reset();
  }
  for (Group& nested : group.groups) {
    settle_minima(nested);
  }
}

void ask_for_minima(Group& group) {
  for (PodSet& pod_set : group.pod_sets) {
    pod_set.count = pod_set.min_count;
  }
  for (Group& nested : group.groups) {
    ask_for_minima(nested);
  }
}

}  // namespace

Gang least_of(Gang gang) {
  settle_minima(gang.root);
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  const bool any = std::any_of(sets.begin(), sets.end(), [](const PodSet* set) { return set->min_count > 0; });
  if (any && !leaves_open(gang.root)) {
    ask_for_minima(gang.root);
  }
  return gang;
}

bool has_spare_pods(const Gang& gang) {
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  return leaves_open(gang.root) ||
         std::any_of(sets.begin(), sets.end(), [](const PodSet* set) { return set->count > set->min_count; });
}

}  // namespace gantree
