// What there is to see in one topology: of every host, how much of one resource
// was in use before, what each gang got of it, and what is left.
//
// The drawings (text, SVG) are made from scenes and know nothing of the engine
// but its tree.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/domain_tree.h"
#include "model/decision.h"
#include "state/cluster.h"

namespace gantree::view {

// What one placed gang has on one host.
struct GangShare {
  int gang = 0;             // its mark: the position among the placed decisions
  std::int64_t amount = 0;  // of the scene's resource; may be 0
  std::int64_t pods = 0;
};

// What keeps new pods off a host, as far as one can tell without asking for which pod.
enum class Trouble : std::uint8_t {
  kNone,
  kTainted,   // by a taint that less than half of the hosts carry
  kCordoned,  // unschedulable
  kNotReady,
};

enum class HostState : std::uint8_t {
  kFree,     // all of the resource is free
  kPartly,   // some of it
  kFull,     // nothing is left
  kOff,      // not ready or cordoned: nothing can start here
  kWithout,  // has none of the resource
};

struct HostView {
  std::int64_t total = 0;
  std::int64_t before = 0;        // in use before the plan, by anybody
  std::int64_t free = 0;          // after it; never negative
  std::vector<GangShare> shares;  // by mark
  Trouble trouble = Trouble::kNone;

  [[nodiscard]] HostState state() const;
  // What new pods may still take: nothing of a host that is off.
  [[nodiscard]] std::int64_t usable() const { return state() == HostState::kOff ? 0 : free; }
};

struct Scene {
  const Topology* topology = nullptr;
  std::string name;                  // of the topology, and of all others with the same levels
  const DomainTree* tree = nullptr;  // borrowed from the engine
  ResourceId resource;
  std::string resource_name;
  std::vector<HostView> hosts;  // by host position in the tree
  std::int64_t outside = 0;     // nodes that are not in the topology
};

// The keys of taints that at least half of the hosts carry and that keep pods away:
// whatever is meant for these hosts tolerates them.
[[nodiscard]] std::set<StringId> common_taints(const Inventory& inventory, const DomainTree& tree);

// The resource by which fullness is measured: an extended one (its name has a
// slash) before cpu; among those, what the placed gangs ask for, then GPUs, then
// what most nodes have, then the first by name.
[[nodiscard]] ResourceId main_resource(const Inventory& inventory, std::span<const Decision> decisions);

[[nodiscard]] Scene make_scene(Cluster& cluster, TopologyId topology, ResourceId resource,
                               std::span<const Decision> decisions);
// Families define the same network under names of their own: those that have the same levels and domains together.
[[nodiscard]] std::vector<std::vector<TopologyId>> networks(Cluster& cluster,
                                                            const std::vector<TopologyId>& topologies);
// "gpu-fabric, default"
[[nodiscard]] std::string names_of(Cluster& cluster, const std::vector<TopologyId>& topologies);
// One scene for every topology in which a gang was placed; the first topology
// where none was. Valid until a node of the cluster comes, goes or moves.
[[nodiscard]] std::vector<Scene> make_scenes(Cluster& cluster, std::span<const Decision> decisions);

// Sums up without overflow.
[[nodiscard]] std::int64_t plus(std::int64_t a, std::int64_t b);

// Totals over some hosts of a scene.
struct Totals {
  std::int64_t hosts = 0;
  std::int64_t total = 0;
  std::int64_t before = 0;
  std::int64_t placed = 0;
  std::int64_t usable = 0;     // free, on hosts where something can start
  std::vector<int> gangs;      // marks, sorted
  std::int64_t by_state[5]{};  // hosts by HostState

  void add(const HostView& host);
  void add(const Totals& other);
  [[nodiscard]] bool touched() const { return !gangs.empty(); }
  // Whether every host is in that state, and no gang came.
  [[nodiscard]] bool all(HostState state) const;
};
[[nodiscard]] Totals totals(const Scene& scene, Range hosts);

}  // namespace gantree::view
