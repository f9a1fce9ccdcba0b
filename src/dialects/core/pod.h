// Pods and pod templates to model values.
#pragma once

#include <optional>

#include "base/error.h"
#include "dialects/dialects.h"
#include "engine/inventory.h"
#include "json/decode.h"
#include "model/pod_shape.h"
#include "state/cluster.h"

namespace gantree {

// A pod that has not ended; nothing where it has.
[[nodiscard]] Result<std::optional<PodRecord>> read_pod(const NamedObject& named, ResourceNames& names);

// All of a pod spec that decides where the pod may run.
[[nodiscard]] PodShape read_pod_shape(json::Reader& read, json::Value spec, Inventory& inventory);

[[nodiscard]] std::vector<Toleration> read_tolerations(json::Reader& read, json::Value parent, Interner& strings);

}  // namespace gantree
