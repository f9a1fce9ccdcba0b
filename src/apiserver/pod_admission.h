// What the real server's admission does to a new pod by other objects of the cluster: its service account and runtime
// class must be there, and the limit ranges of its namespace fill in and bound its resources. Api thread only.
#pragma once

#include <optional>
#include <string>

#include "apiserver/core.h"

namespace gantree::apiserver {

// A sentence where the pod is refused ("pods "a" is forbidden: " goes before it, code 403). Wants a pod with its
// defaults, in its namespace; before prepare_create(), which judges the resources.
[[nodiscard]] std::optional<std::string> admit_pod(const Core& core, Object& pod);

}  // namespace gantree::apiserver
