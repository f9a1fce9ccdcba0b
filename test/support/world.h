// An instance brought to life: a Cluster with its nodes, pods and topology.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "state/cluster.h"
#include "support/instance.h"

namespace gantree::test {

// Where a gang's pods went, host by host in rank order, by names.
using NamedShares = std::vector<std::pair<std::string, int>>;

class World {
 public:
  // The gangs of the instance are left alone.
  explicit World(const Instance& instance);

  Cluster& cluster() { return cluster_; }
  Engine& engine() { return cluster_.engine(); }
  Inventory& inventory() { return cluster_.inventory(); }
  [[nodiscard]] TopologyId topology() const { return topology_; }

  [[nodiscard]] Gang gang(const GangSpec& spec);
  [[nodiscard]] PodShape shape(const PodSetSpec& spec);
  [[nodiscard]] Amounts amounts(const AmountSpec& spec);

  // The node without its pods; an update where the name is known.
  void upsert_node(const NodeSpec& spec);
  // The pods that run on a node from the start.
  void add_pods(const NodeSpec& spec);

  // Names instead of ids, by pod set in the gang's order.
  [[nodiscard]] std::vector<NamedShares> named(const Placement& placement) const;
  [[nodiscard]] Placement unnamed(const std::vector<NamedShares>& shares) const;

 private:
  Group group(const GroupSpec& spec);
  SelectorTerm term(const TermSpec& spec);

  Cluster cluster_;
  TopologyId topology_;
};

}  // namespace gantree::test
