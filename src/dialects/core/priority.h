// The priorities of pods, by number or by class.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/core/objects.h"
#include "json/value.h"

namespace gantree {

// Of one pod spec: its number (the API server fills that in), else the value of its class, else the
// default. A class that is not in the input does not count.
[[nodiscard]] std::int64_t pod_priority(json::Value spec, const CoreObjects& core);

// Of the pods of a gang that asks: the first class named, else the first number, else the default.
// Fails, with file:line, where the class is not among those of the input; where the input has none at
// all it does not count, and `unresolved` says so.
[[nodiscard]] Result<std::int64_t> gang_priority(std::string_view file, const std::vector<json::Value>& specs,
                                                 const CoreObjects& core, int& unresolved);

// Whether the pod may evict nothing: preemptionPolicy Never, its own or that of its class.
[[nodiscard]] bool never_preempts(json::Value spec, const CoreObjects& core);

}  // namespace gantree
