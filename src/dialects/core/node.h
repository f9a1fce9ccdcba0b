// Node objects to model values.
#pragma once

#include "base/error.h"
#include "dialects/dialects.h"
#include "engine/inventory.h"
#include "json/decode.h"
#include "model/node.h"

namespace gantree {

// Labels (kubernetes.io/hostname is the node's name where it is missing), taints, allocatable
// (capacity where that is missing), readiness. A node that says nothing of its readiness is ready:
// hand-written files leave that out.
[[nodiscard]] Result<Node> read_node(const NamedObject& named, Inventory& inventory);

// The list of taints at a key, say of a Node's spec.
[[nodiscard]] std::vector<Taint> read_taints(json::Reader& read, json::Value parent, std::string_view key,
                                             Interner& strings);

// A map of labels, interned and sorted by key.
[[nodiscard]] std::vector<Label> read_interned_labels(json::Reader& read, json::Value parent, std::string_view key,
                                                      Interner& strings);
// The same of what a pod asks for.
[[nodiscard]] std::vector<Label> read_selected_labels(json::Reader& read, json::Value parent, std::string_view key,
                                                      Interner& strings);

}  // namespace gantree
