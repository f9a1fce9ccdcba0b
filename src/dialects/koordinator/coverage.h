// Which nodes a ClusterNetworkTopology reaches, by their labels alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dialects/core/metadata.h"
#include "dialects/koordinator/network_topology.h"

namespace gantree::koordinator {

struct NodeLabels {
  std::string name;
  LabelMap labels;
};

struct LayerCoverage {
  std::string layer;
  std::vector<std::string> keys;
  std::size_t domains = 0;           // paths from the root: rack-1 of two blocks is two
  std::vector<std::string> without;  // nodes that have none of the labels
};

struct Coverage {
  std::size_t nodes = 0;
  std::vector<LayerCoverage> layers;  // from the root
  std::vector<std::string> outside;   // nodes that no gang with a topology is placed on
};

// A node that lacks only the lowest layer is a domain of its own there; one that lacks another is outside.
[[nodiscard]] Coverage cover(const NetworkTopology& network, std::span<const NodeLabels> nodes);

}  // namespace gantree::koordinator
