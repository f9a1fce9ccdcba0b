#include "dialects/koordinator/coverage.h"

#include <set>

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
  for (const Layer& layer : network.layers) {
    LayerCoverage& covered = coverage.layers.emplace_back();
    covered.layer = layer.name;
    covered.keys = layer.keys;
    std::set<std::string_view> values;
    for (const NodeLabels& node : nodes) {
      const std::string_view value = value_of(layer, node.labels);
      if (!value.empty()) {
        values.insert(value);
        continue;
      }
      covered.without.push_back(node.name);
      if (&layer != &network.layers.back()) {
        outside.insert(node.name);
      }
    }
    covered.domains = values.size();
  }
  coverage.outside.assign(outside.begin(), outside.end());
  return coverage;
}

}  // namespace gantree::koordinator
