#pragma once

#include "json/write.h"
#include "state/cluster.h"
#include "view/present.h"

namespace gantree::view {

// Its pod sets, with the hosts or domains that they have or were admitted to.
[[nodiscard]] json::Out pod_sets_to_json(const PresentGang& gang, Cluster& cluster);

// One gang: its state, what was said of it, and where it is or was admitted to.
[[nodiscard]] json::Out gang_to_json(const PresentGang& gang, Cluster& cluster);

// {"gangs": [...], "evictions": [...]}. What a plan would do with gangs that are in no cluster is marked as "planned",
// and evictions are of such a plan alone.
[[nodiscard]] json::Out present_to_json(const Present& present, Cluster& cluster);

}  // namespace gantree::view
