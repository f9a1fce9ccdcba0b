// A question to the engine as text, to be asked again elsewhere.
//
// The form is that of test/support/instance_text.h: nodes with what is in use, then the gang. What it has no words
// for (further topologies, domains that others hold, minima of groups) stands there as comments.
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/inventory.h"
#include "model/gang.h"
#include "model/running.h"

namespace gantree {

[[nodiscard]] std::string replay_text(const Gang& gang, const Inventory& inventory,
                                      std::span<const Topology> topologies, const std::map<ExclusiveHold, int>& holds);

}  // namespace gantree
