// ClusterNetworkTopology: the layers of the network and the node labels that tell them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/object.h"
#include "engine/inventory.h"
#include "model/topology.h"

namespace gantree::koordinator {

// One layer between the cluster and its nodes.
struct Layer {
  std::string name;
  std::vector<std::string> keys;  // label keys; the first that is not empty on a node tells
};

// Layers from coarse to fine, without the cluster and the nodes themselves. The level of a layer in
// the model is its position here; that of the nodes comes after them.
struct NetworkTopology {
  std::string name;
  std::string file;
  json::Value spec;  // as written
  std::vector<Layer> layers;

  // The level of a layer by name, letter case aside: -1 for the whole cluster, layers.size() for
  // nodes; nothing where there is no such layer.
  [[nodiscard]] std::optional<int> level(std::string_view layer) const;
  // The names of all layers, from the cluster to the nodes, for messages.
  [[nodiscard]] std::string known_layers() const;
};

// Fails, with file:line and the field, where the layers are not one chain below one root.
[[nodiscard]] Result<NetworkTopology> read_network_topology(const NamedObject& named);

// In terms of the model. A node that lacks only the label of the lowest layer stands there alone. It ends in
// kubernetes.io/hostname where all nodes have that label: then placements name hosts. Fails where the labels make no
// topology (too many levels, one key twice).
[[nodiscard]] Result<Topology> model_of(const NetworkTopology& network, const Inventory& inventory);

// Letter case aside.
[[nodiscard]] bool same_layer(std::string_view a, std::string_view b);

}  // namespace gantree::koordinator
