// What made what, by the names that people type: a pod leads to the gang that it is part of, a Deployment to its pods.
// Pure.
#pragma once

#include <string_view>
#include <vector>

#include "json/value.h"
#include "model/gang.h"

namespace gantree {

// The objects of which the one that is called so (as find_gangs() takes it) is a part, the nearest first; then the pods
// that are a part of it. Some of them may be gangs.
[[nodiscard]] std::vector<GangKey> relatives(const std::vector<json::Document>& documents, std::string_view text);

}  // namespace gantree
