#include "dialects/koordinator/coverage.h"

#include <set>
#include <string>
#include <vector>

namespace gantree::koordinator {

namespace {

// The first label of the layer that has a value; "" where there is none.
std::string_view value_of(const Layer& layer, const LabelMap& labels) {
  for (const std::string& key : layer.keys) {
    const auto it = labels.find(key);
    if (it != labels.end() && !it->second.empty()) {
      return it->second;
    }
  }
  return {};
}

}  // namespace

Coverage cover(const NetworkTopology& network, std::span<const NodeLabels> nodes) {
  Coverage coverage;
  coverage.nodes = nodes.size();
  std::set<std::string_view> outside;
  std::vector<std::string> paths(nodes.size());
  for (const Layer& layer : network.layers) {
    LayerCoverage& covered = coverage.layers.emplace_back();
    covered.layer = layer.name;
    covered.keys = layer.keys;
    std::set<std::string_view> domains;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const NodeLabels& node = nodes[i];
      const std::string_view value = value_of(layer, node.labels);
      // No label has such a letter.
      (paths[i] += '\n') += value;
      if (!value.empty()) {
        domains.insert(paths[i]);
        continue;
      }
      covered.without.push_back(node.name);
      if (&layer != &network.layers.back()) {
        outside.insert(node.name);
      }
    }
    covered.domains = domains.size();
  }
  coverage.outside.assign(outside.begin(), outside.end());
  return coverage;
}

}  // namespace gantree::koordinator
