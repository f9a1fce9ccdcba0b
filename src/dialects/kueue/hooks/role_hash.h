// A name for what a pod is in its group: pods of the same name are one pod set.
#pragma once

#include <string>

#include "json/value.h"

namespace gantree::kueue {

// The parts of a pod's spec that tell where it may go and what it takes there, and what its annotations ask of the
// topology, as 16 hexadecimal digits. Equal for equal pods, in whatever order their fields are written; the same in
// every version and process. Either value may be absent.
[[nodiscard]] std::string role_hash(json::Value spec, json::Value annotations);

}  // namespace gantree::kueue
