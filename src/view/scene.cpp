#include "view/scene.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace gantree::view {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? (b > 0 ? -kMost : kMost) : difference;
}

bool keeps_away(const Taint& taint) {
  return taint.effect != TaintEffect::kPreferNoSchedule;
}

Trouble trouble_of(const Node& node, const std::set<StringId>& common) {
  if (!node.ready) {
    return Trouble::kNotReady;
  }
  if (node.unschedulable) {
    return Trouble::kCordoned;
  }
  const bool tainted = std::any_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return keeps_away(taint) && !common.contains(taint.key);
  });
  return tainted ? Trouble::kTainted : Trouble::kNone;
}

void add_share(HostView& host, int gang, std::int64_t amount, std::int64_t pods) {
  if (host.shares.empty() || host.shares.back().gang != gang) {
    host.shares.push_back({gang, 0, 0});
  }
  host.shares.back().amount = plus(host.shares.back().amount, amount);
  host.shares.back().pods = plus(host.shares.back().pods, pods);
}

void add_gangs(Scene& scene, std::span<const Decision> decisions) {
  int mark = 0;
  for (const Decision& decision : decisions) {
    if (decision.state != GangState::kPlaced) {
      continue;
    }
    for (const PodSetDecision& set : decision.pod_sets) {
      const std::int64_t each = set.requests.get(scene.resource);
      for (const HostShare& share : set.hosts) {
        if (const std::uint32_t at = scene.tree->host_of(share.node); at != DomainTree::kNowhere) {
          add_share(scene.hosts[at], mark, times(each, share.count), share.count);
        }
      }
    }
    ++mark;
  }
}

}  // namespace

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? kMost : -kMost) : sum;
}

HostState HostView::state() const {
  if (trouble == Trouble::kNotReady || trouble == Trouble::kCordoned) {
    return HostState::kOff;
  }
  if (total <= 0) {
    return HostState::kWithout;
  }
  return free <= 0 ? HostState::kFull : free >= total ? HostState::kFree : HostState::kPartly;
}

std::set<StringId> common_taints(const Inventory& inventory, const DomainTree& tree) {
  std::map<StringId, std::uint32_t> carriers;
  const Range hosts = tree.hosts(kWholeTree);
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    std::set<StringId> keys;
    for (const Taint& taint : inventory.node(tree.node(host)).taints) {
      if (keeps_away(taint) && keys.insert(taint.key).second) {
        ++carriers[taint.key];
      }
    }
  }
  std::set<StringId> common;
  for (const auto& [key, count] : carriers) {
    if (count >= hosts.size() - count) {
      common.insert(key);
    }
  }
  return common;
}

ResourceId main_resource(const Inventory& inventory, std::span<const Decision> decisions) {
  const std::size_t resources = inventory.resources().size();
  std::vector<std::int64_t> nodes(resources, 0);
  std::vector<bool> asked(resources, false);
  for (std::size_t n = 0; n < inventory.size(); ++n) {
    const auto id = make_id<NodeTag>(n);
    if (!inventory.alive(id)) {
      continue;
    }
    for (const auto& [resource, amount] : inventory.node(id).allocatable.entries()) {
      nodes[resource.index()] += amount > 0 ? 1 : 0;
    }
  }
  for (const Decision& decision : decisions) {
    for (const PodSetDecision& set : decision.pod_sets) {
      for (const auto& [resource, amount] : set.requests.entries()) {
        asked[resource.index()] = true;
      }
    }
  }
  ResourceId best = ResourceNames::kCpu;
  const auto rank = [&](ResourceId id) {
    const std::string_view name = inventory.resources().name(id);
    const std::size_t slash = name.find('/');
    const bool extended = slash != std::string_view::npos && nodes[id.index()] > 0;
    const bool gpu = extended && name.find("gpu", slash) != std::string_view::npos;
    return std::tuple(extended, extended && asked[id.index()], gpu, extended ? nodes[id.index()] : 0);
  };
  for (std::size_t r = 0; r < resources; ++r) {
    const auto id = make_id<ResourceTag>(r);
    const auto [mine, bests] = std::pair(rank(id), rank(best));
    if (mine > bests ||
        (std::get<0>(mine) && mine == bests && inventory.resources().name(id) < inventory.resources().name(best))) {
      best = id;
    }
  }
  return best;
}

Scene make_scene(Cluster& cluster, TopologyId topology, ResourceId resource, std::span<const Decision> decisions) {
  const Inventory& inventory = cluster.inventory();
  Scene scene;
  scene.topology = &cluster.engine().topology(topology);
  scene.tree = &cluster.engine().tree(topology);
  scene.resource = resource;
  scene.name = scene.topology->name;
  scene.resource_name = inventory.resources().name(resource);
  const std::set<StringId> common = common_taints(inventory, *scene.tree);
  const Range hosts = scene.tree->hosts(kWholeTree);
  scene.hosts.resize(hosts.size());
  add_gangs(scene, decisions);
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    const NodeId node = scene.tree->node(host);
    HostView& seen = scene.hosts[host];
    seen.total = inventory.allocatable(node, resource);
    seen.trouble = trouble_of(inventory.node(node), common);
    const std::int64_t free = inventory.free(node, resource);
    seen.before = minus(seen.total, free);
    for (const GangShare& share : seen.shares) {
      seen.before = minus(seen.before, share.amount);
    }
    seen.before = std::max<std::int64_t>(0, seen.before);
    seen.free = std::max<std::int64_t>(0, free);
  }
  for (std::size_t n = 0; n < inventory.size(); ++n) {
    const auto id = make_id<NodeTag>(n);
    scene.outside += inventory.alive(id) && scene.tree->host_of(id) == DomainTree::kNowhere ? 1 : 0;
  }
  return scene;
}

namespace {

bool same_domains(const DomainTree& a, const DomainTree& b) {
  bool same = a.levels() == b.levels();
  for (int level = 0; same && level < a.levels(); ++level) {
    same = a.size(level) == b.size(level);
    for (std::uint32_t d = 0; same && d < a.size(level); ++d) {
      same = a.name({level, d}) == b.name({level, d}) && (level == 0 || a.parent(level, d) == b.parent(level, d));
    }
  }
  return same;
}

}  // namespace

std::vector<std::vector<TopologyId>> networks(Cluster& cluster, const std::vector<TopologyId>& topologies) {
  Engine& engine = cluster.engine();
  std::vector<std::vector<TopologyId>> all;
  for (const TopologyId id : topologies) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const std::vector<TopologyId>& others) {
      const TopologyId other = others.front();
      return engine.topology(other).levels == engine.topology(id).levels &&
             same_domains(engine.tree(other), engine.tree(id));
    });
    (same == all.end() ? all.emplace_back() : *same).push_back(id);
  }
  return all;
}

std::string names_of(Cluster& cluster, const std::vector<TopologyId>& topologies) {
  std::string names;
  for (const TopologyId id : topologies) {
    names += (names.empty() ? "" : ", ") + cluster.engine().topology(id).name;
  }
  return names;
}

std::vector<Scene> make_scenes(Cluster& cluster, std::span<const Decision> decisions) {
  std::set<TopologyId> topologies;
  for (const Decision& decision : decisions) {
    for (const PodSetDecision& set : decision.pod_sets) {
      if (!set.hosts.empty() && set.topology.index() < cluster.engine().topologies()) {
        topologies.insert(set.topology);
      }
    }
  }
  if (topologies.empty() && cluster.engine().topologies() > 0) {
    topologies.insert(TopologyId{0});
  }
  const ResourceId resource = main_resource(cluster.inventory(), decisions);
  std::vector<Scene> scenes;
  for (const std::vector<TopologyId>& same : networks(cluster, {topologies.begin(), topologies.end()})) {
    scenes.push_back(make_scene(cluster, same.front(), resource, decisions));
    scenes.back().name = names_of(cluster, same);
  }
  return scenes;
}

void Totals::add(const HostView& host) {
  ++hosts;
  total = plus(total, host.total);
  before = plus(before, host.before);
  usable = plus(usable, host.usable());
  ++by_state[static_cast<std::size_t>(host.state())];
  for (const GangShare& share : host.shares) {
    placed = plus(placed, share.amount);
    const auto at = std::lower_bound(gangs.begin(), gangs.end(), share.gang);
    if (at == gangs.end() || *at != share.gang) {
      gangs.insert(at, share.gang);
    }
  }
}

void Totals::add(const Totals& other) {
  hosts += other.hosts;
  total = plus(total, other.total);
  before = plus(before, other.before);
  placed = plus(placed, other.placed);
  usable = plus(usable, other.usable);
  for (std::size_t s = 0; s < std::size(by_state); ++s) {
    by_state[s] += other.by_state[s];
  }
  std::vector<int> both;
  std::set_union(gangs.begin(), gangs.end(), other.gangs.begin(), other.gangs.end(), std::back_inserter(both));
  gangs = std::move(both);
}

bool Totals::all(HostState state) const {
  return gangs.empty() && by_state[static_cast<std::size_t>(state)] == hosts;
}

Totals totals(const Scene& scene, Range hosts) {
  Totals sum;
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    sum.add(scene.hosts[host]);
  }
  return sum;
}

}  // namespace gantree::view
