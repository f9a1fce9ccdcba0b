// The domains of one topology as a tree of arrays.
//
// Level 0 is the topology's top level; the last level is the hosts. Where the
// topology ends in kubernetes.io/hostname that level is the host level,
// otherwise a host level is added below, so that fragmentation inside a rack is
// never overlooked. Domains of a level are sorted by path, so the children of a
// domain, and the hosts below it, are one contiguous range.
//
// Immutable once built; a node that lacks a label is not in it, unless the
// topology lets it stand alone on the lowest level.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/inventory.h"
#include "model/topology.h"

namespace gantree {

// A domain by level and position in that level.
struct Domain {
  int level = -1;  // -1: the whole tree
  std::uint32_t index = 0;
  friend auto operator<=>(const Domain&, const Domain&) = default;
};
inline constexpr Domain kWholeTree{};

struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

class DomainTree {
 public:
  DomainTree(const Inventory& inventory, const Topology& topology);

  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()); }  // hosts included
  [[nodiscard]] int host_level() const { return levels() - 1; }
  // The topology's own levels: one less than levels() where hosts were added.
  [[nodiscard]] int topology_levels() const { return topology_levels_; }
  [[nodiscard]] std::uint32_t size(int level) const;
  [[nodiscard]] std::uint32_t parent(int level, std::uint32_t index) const { return levels_[to(level)].parent[index]; }
  [[nodiscard]] Range children(Domain domain) const;  // positions in the level below
  [[nodiscard]] Range hosts(Domain domain) const;     // positions in the host level
  [[nodiscard]] Range below(Domain domain, int level) const;
  [[nodiscard]] std::uint32_t ancestor(int level, std::uint32_t index, int at) const;

  [[nodiscard]] NodeId node(std::uint32_t host) const { return nodes_[host]; }
  // The host position of a node, or kNowhere.
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t host_of(NodeId node) const {
    return node.index() < host_of_.size() ? host_of_[node.index()] : kNowhere;
  }

  // Label values from the top, one a topology level at most.
  [[nodiscard]] std::vector<std::string> path(Domain domain) const;
  [[nodiscard]] const std::string& name(Domain domain) const;  // the last of them; of an added host, the node name

  [[nodiscard]] std::uint64_t structure() const { return structure_; }

 private:
  struct Level {
    std::vector<std::uint32_t> parent;
    std::vector<std::uint32_t> first_child;  // size + 1 entries; empty for hosts
    std::vector<std::uint32_t> first_host;   // size + 1 entries
    std::vector<std::string> name;
  };
  static std::size_t to(int level) { return static_cast<std::size_t>(level); }

  int topology_levels_ = 0;
  std::vector<Level> levels_;
  std::vector<NodeId> nodes_;           // by host position
  std::vector<std::uint32_t> host_of_;  // by node id
  std::uint64_t structure_ = 0;
};

// The tree of a topology as it is now.
using TreeOf = std::function<const DomainTree&(TopologyId)>;

}  // namespace gantree
