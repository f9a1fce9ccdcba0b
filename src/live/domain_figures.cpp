#include "live/domain_figures.h"

#include <algorithm>
#include <map>

#include "engine/domain_tree.h"

namespace gantree {

namespace {

// The most resources that are shown; a cluster has few kinds of devices.
constexpr std::size_t kMostResources = 8;

std::vector<ResourceId> resources_of(const Inventory& inventory) {
  std::vector<ResourceId> found;
  const ResourceNames& names = inventory.resources();
  for (std::size_t r = 0; r < names.size() && found.size() < kMostResources; ++r) {
    const auto resource = make_id<ResourceTag>(r);
    if (names.name(resource).find('/') == std::string_view::npos) {
      continue;  // of Kubernetes itself
    }
    for (std::size_t n = 0; n < inventory.size(); ++n) {
      const auto node = make_id<NodeTag>(n);
      if (inventory.alive(node) && inventory.allocatable(node, resource) > 0) {
        found.push_back(resource);
        break;
      }
    }
  }
  return found.empty() ? std::vector{ResourceNames::kCpu} : found;
}

DomainFigures figures_of(const Inventory& inventory, const DomainTree& tree, int level, ResourceId resource) {
  DomainFigures figures;
  figures.domains = tree.size(level);
  for (std::uint32_t d = 0; d < tree.size(level); ++d) {
    std::int64_t free = 0;
    std::int64_t capacity = 0;
    const Range hosts = tree.hosts({level, d});
    for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
      const NodeId node = tree.node(host);
      if (inventory.node(node).ready && !inventory.node(node).unschedulable) {
        free += std::max<std::int64_t>(0, inventory.free(node, resource));
        capacity += inventory.allocatable(node, resource);
      }
    }
    figures.free += free;
    figures.capacity += capacity;
    figures.largest = std::max(figures.largest, free);
    figures.largest_empty = std::max(figures.largest_empty, capacity);
  }
  return figures;
}

}  // namespace

double DomainFigures::fragmentation() const {
  const std::int64_t best = std::min(free, largest_empty);
  return best <= 0 ? 0.0 : 1.0 - static_cast<double>(largest) / static_cast<double>(best);
}

std::vector<DomainFigures> domain_figures(Cluster& cluster) {
  std::map<std::string, TopologyId> newest;
  for (std::size_t t = 0; t < cluster.engine().topologies(); ++t) {
    const auto id = make_id<TopologyTag>(t);
    newest.insert_or_assign(cluster.engine().topology(id).name, id);
  }
  std::vector<DomainFigures> all;
  const Inventory& inventory = cluster.inventory();
  const std::vector<ResourceId> resources = resources_of(inventory);
  for (const auto& [name, id] : newest) {
    const DomainTree& tree = cluster.engine().tree(id);
    const Topology& topology = cluster.engine().topology(id);
    for (int level = 0; level < tree.topology_levels(); ++level) {
      for (const ResourceId resource : resources) {
        DomainFigures& figures = all.emplace_back(figures_of(inventory, tree, level, resource));
        figures.topology = name;
        figures.level = topology.levels[static_cast<std::size_t>(level)];
        figures.resource = inventory.resources().name(resource);
      }
    }
  }
  return all;
}

}  // namespace gantree
