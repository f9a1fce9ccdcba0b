#include "dialects/topologies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree {

std::optional<int> NamedTopology::level(const Topology& topology, std::string_view word) const {
  if (const int by_label = topology.level(word); by_label >= 0) {
    return by_label;
  }
  const auto alias = std::find(aliases.begin(), aliases.end(), word);
  if (word.empty() || alias == aliases.end()) {
    return std::nullopt;
  }
  return static_cast<int>(alias - aliases.begin());
}

const NamedTopology* TopologyBook::find(std::string_view family, std::string_view name) const {
  for (const NamedTopology& topology : topologies_) {
    if (topology.family == family && topology.name == name) {
      return &topology;
    }
  }
  return nullptr;
}

TopologyId hosts_only(Engine& engine) {
  if (const auto known = engine.find_topology(kHostnameLabel)) {
    return *known;
  }
  return engine.add_topology({.name = kHostnameLabel, .levels = {kHostnameLabel}});
}

namespace {

bool same(const Topology& a, const Topology& b) {
  return a.name == b.name && a.levels == b.levels && a.alternatives == b.alternatives && a.lone_nodes == b.lone_nodes;
}

}  // namespace

TopologyId shared_topology(Engine& engine, Topology topology) {
  for (std::size_t t = 0; t < engine.topologies(); ++t) {
    if (same(engine.topology(make_id<TopologyTag>(t)), topology)) {
      return make_id<TopologyTag>(t);
    }
  }
  return engine.add_topology(std::move(topology));
}

TopologyId shared_topology(Engine& engine, Topology topology, std::string_view family) {
  if (const auto taken = engine.find_topology(topology.name); taken && !same(engine.topology(*taken), topology)) {
    topology.name = fmt::format("{}/{}", family, topology.name);
  }
  return shared_topology(engine, std::move(topology));
}

TopologyId topology_with(Engine& engine, const std::vector<std::string>& labels) {
  for (std::size_t t = 0; t < engine.topologies(); ++t) {
    const Topology& topology = engine.topology(make_id<TopologyTag>(t));
    int last = -1;
    const bool has_all = std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
      const int level = topology.level(label);
      return std::exchange(last, level) < level;
    });
    if (has_all) {
      return make_id<TopologyTag>(t);
    }
  }
  Topology made{.name = fmt::format("{}", fmt::join(labels, ",")), .levels = labels};
  if (labels.empty() || labels.back() != kHostnameLabel) {
    made.levels.emplace_back(kHostnameLabel);
  }
  return engine.add_topology(std::move(made));
}

bool leaves_nodes_out(const Topology& topology, const Inventory& inventory) {
  const Interner& strings = inventory.strings();
  // By level the labels of which a node needs one; a level that no node can lack has none.
  std::vector<std::vector<std::optional<StringId>>> levels;
  for (std::size_t l = 0; l < topology.levels.size(); ++l) {
    if (topology.lone_nodes && static_cast<int>(l) == topology.lowest_above_hosts()) {
      continue;
    }
    auto& keys = levels.emplace_back();
    keys.push_back(strings.find(topology.levels[l]));
    if (l < topology.alternatives.size()) {
      for (const std::string& label : topology.alternatives[l]) {
        keys.push_back(strings.find(label));
      }
    }
  }
  for (std::size_t i = 0; i < inventory.size(); ++i) {
    const NodeId id = make_id<NodeTag>(i);
    const auto has = [&](const auto& key) { return key && label_value(inventory.node(id).labels, *key) != nullptr; };
    const auto lacks = [&](const auto& keys) { return std::none_of(keys.begin(), keys.end(), has); };
    if (inventory.alive(id) && std::any_of(levels.begin(), levels.end(), lacks)) {
      return true;
    }
  }
  return false;
}

}  // namespace gantree
