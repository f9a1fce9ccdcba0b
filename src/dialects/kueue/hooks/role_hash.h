// What a pod is in its group: pods of the same role are one pod set.
#pragma once

#include <string>

#include "json/value.h"

namespace gantree::kueue {

// The first 8 hexadecimal digits of a digest of what a pod's spec says of its resources and of where it may go. The
// same that Kueue computes, so that pods that come later join those of a group that was begun under it; but for pods
// with sidecars, which count for more than Kueue's digest tells. Equal for equal pods, in whatever order their fields
// are written. `spec` may be absent.
[[nodiscard]] std::string role_hash(json::Value spec);

// Whether two specs of pods are alike in all that tells where pods may go and what they take there. Either may be
// absent.
[[nodiscard]] bool same_place_and_size(json::Value a, json::Value b);

}  // namespace gantree::kueue
