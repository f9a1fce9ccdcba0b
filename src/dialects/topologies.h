// The topologies of all families by name, and topologies made up where nobody defined one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "model/topology.h"

namespace gantree {

struct NamedTopology {
  std::string family;  // the dialect that defines it
  std::string name;
  TopologyId id;
  std::vector<std::string> aliases;  // other names of its levels, by level; "" where there is none

  // The level by label or alias; nullopt where there is none. Letter case counts.
  [[nodiscard]] std::optional<int> level(const Topology& topology, std::string_view word) const;
};

class TopologyBook {
 public:
  void add(NamedTopology topology) { topologies_.push_back(std::move(topology)); }
  // nullptr where the family has none of that name.
  [[nodiscard]] const NamedTopology* find(std::string_view family, std::string_view name) const;
  [[nodiscard]] const std::vector<NamedTopology>& all() const { return topologies_; }

 private:
  std::vector<NamedTopology> topologies_;
};

// The topology in which every host is a domain, for those who have no other.
[[nodiscard]] TopologyId hosts_only(Engine& engine);

// The topology of that name and these levels, which another family may have defined already; new where there is
// none. One tree then serves both. Requires a valid one.
[[nodiscard]] TopologyId shared_topology(Engine& engine, Topology topology);

// The same, but where the name stands for a topology of other levels it becomes "family/name".
[[nodiscard]] TopologyId shared_topology(Engine& engine, Topology topology, std::string_view family);

// The first topology that has all these labels, in this order from coarse to fine; where there is
// none, a new one of just these labels and the host. Requires label keys that differ.
[[nodiscard]] TopologyId topology_with(Engine& engine, const std::vector<std::string>& labels);

// Whether some node lacks a label of the topology.
[[nodiscard]] bool leaves_nodes_out(const Topology& topology, const Inventory& inventory);

}  // namespace gantree
