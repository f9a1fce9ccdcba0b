// Nodes of a real cluster, made into simulated ones.
#pragma once

#include "apiserver/json.h"
#include "base/time.h"

namespace gantree::controllers {

// The node as it can be created anew: without what a server sets itself, marked as simulated. One that was not ready
// stays so: its kubelet is silent.
[[nodiscard]] apiserver::Object adopted_node(const apiserver::Object& node, Time now);

}  // namespace gantree::controllers
