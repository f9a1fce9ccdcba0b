#include "dialects/lws/replica.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/pod.h"
#include "dialects/gangs.h"
#include "dialects/lws/names.h"

namespace gantree::lws {

namespace {

// The leader's name is the value of the group's own node label and of its taint, on leader and
// workers alike: a leader without them could take a node that its workers may not use.
void make_unique(PodShape& shape, const Policy& policy, const std::string& leader, Interner& strings) {
  if (!policy.unique_node_selector.empty()) {
    const Label label{strings.intern(policy.unique_node_selector), strings.intern(leader)};
    std::erase_if(shape.node_selector, [&](const Label& other) { return other.key == label.key; });
    shape.node_selector.insert(std::lower_bound(shape.node_selector.begin(), shape.node_selector.end(), label), label);
  }
  if (!policy.unique_toleration.empty()) {
    shape.tolerations.push_back({.key = strings.intern(policy.unique_toleration),
                                 .op = TolerationOperator::kEqual,
                                 .value = strings.intern(leader),
                                 .effect = policy.unique_effect});
  }
}

// Where some of the group runs, the domain is its own already.
Constraint alone_in(std::optional<int> level, bool runs) {
  Constraint constraint;
  if (level) {
    constraint.required = level;
    constraint.packing = Packing::kPack;
    if (!runs) {
      constraint.exclusive = level;
    }
  }
  return constraint;
}

std::vector<NodeId> nodes_of(const BoundMembers& bound, Inventory& inventory) {
  std::vector<NodeId> nodes;
  for (const auto& [index, pod] : bound) {
    nodes.push_back(inventory.reserve(pod->node));
  }
  return nodes;
}

// Bound members by subgroup; those of none are left out.
std::map<int, BoundMembers> by_subgroup(const Policy& policy, const BoundMembers& bound) {
  std::map<int, BoundMembers> split;
  for (const auto& [index, pod] : bound) {
    if (const auto subgroup = policy.subgroups->of(index, policy.size)) {
      split[*subgroup].emplace(index, pod);
    }
  }
  return split;
}

class ReplicaBuilder {
 public:
  ReplicaBuilder(const Policy& policy, const BoundMembers& bound, PodShape leader, PodShape worker)
      : policy_(policy), bound_(bound), leader_(std::move(leader)), worker_(std::move(worker)) {}

  // Adds the pods of the indices [begin, end) that are not bound.
  void add(Group& group, int begin, int end, const std::string& suffix, const PodShape& leader,
           const PodShape& worker) const {
    if (begin == 0 && begin < end && !bound_.contains(0)) {
      group.pod_sets.push_back({.name = "leader", .shape = leader, .count = 1, .min_count = 1, .constraint = {}});
    }
    int workers = 0;
    for (int index = std::max(begin, 1); index < end; ++index) {
      workers += bound_.contains(index) ? 0 : 1;
    }
    if (workers > 0) {
      group.pod_sets.push_back(
          {.name = "workers" + suffix, .shape = worker, .count = workers, .min_count = workers, .constraint = {}});
    }
  }

  void build(Group& root, const std::optional<Levels>& levels, Intake& intake) {
    if (levels) {
      confine_to(levels->topology, levels->replica, bound_, intake, leader_, worker_);
      root.constraint = alone_in(levels->replica, !bound_.empty());
    }
    if (!policy_.subgroups) {
      add(root, 0, policy_.size, "", leader_, worker_);
      return;
    }
    const auto split = by_subgroup(policy_, bound_);
    if (!policy_.subgroups->with_leader) {
      add(root, 0, 1, "", leader_, worker_);
    }
    for (int number = 0, next = policy_.subgroups->with_leader ? 0 : 1; next < policy_.size; ++number) {
      int end = next;
      while (end < policy_.size && policy_.subgroups->of(end, policy_.size) == number) {
        ++end;
      }
      Group subgroup;
      subgroup.name = fmt::format("subgroup-{}", number);
      PodShape leader = leader_;
      PodShape worker = worker_;
      if (levels) {
        // A group that holds its whole domain holds those of its subgroups with it.
        const bool held = split.contains(number) || (levels->replica && !bound_.empty());
        subgroup.constraint = alone_in(levels->subgroup, held);
        if (const auto members = split.find(number); members != split.end()) {
          confine_to(levels->topology, levels->subgroup, members->second, intake, leader, worker);
        }
      }
      add(subgroup, next, end, fmt::format("-{}", number), leader, worker);
      if (!subgroup.pod_sets.empty()) {
        root.groups.push_back(std::move(subgroup));
      }
      next = end;
    }
  }

 private:
  // What runs already fixes the domain.
  static void confine_to(TopologyId id, std::optional<int> level, const BoundMembers& members, Intake& intake,
                         PodShape& leader, PodShape& worker) {
    if (!level || members.empty()) {
      return;
    }
    Engine& engine = intake.cluster.engine();
    Inventory& inventory = intake.cluster.inventory();
    if (const auto path = common_domain(engine, id, *level, nodes_of(members, inventory))) {
      confine(leader, engine.topology(id), *path, inventory.strings());
      confine(worker, engine.topology(id), *path, inventory.strings());
    }
  }

  const Policy& policy_;
  const BoundMembers& bound_;
  PodShape leader_;
  PodShape worker_;
};

}  // namespace

std::optional<Levels> levels_of(const Policy& policy, Engine& engine) {
  std::vector<std::string> labels;
  for (const std::string& label : {policy.per_replica, policy.per_subgroup}) {
    if (!label.empty() && (labels.empty() || labels.back() != label)) {
      labels.push_back(label);
    }
  }
  if (labels.empty()) {
    return std::nullopt;
  }
  Levels levels{.topology = topology_with(engine, labels), .replica = {}, .subgroup = {}};
  const Topology& topology = engine.topology(levels.topology);
  if (!policy.per_replica.empty()) {
    levels.replica = topology.level(policy.per_replica);
  }
  if (!policy.per_subgroup.empty()) {
    levels.subgroup = topology.level(policy.per_subgroup);
  }
  return levels;
}

std::string leader_name(const Workload& workload, int index) {
  return fmt::format("{}-{}", workload.key.name, index);
}

std::string exclusive_kind(const Workload& workload) {
  return fmt::format("{} in {}", kKind, workload.key.ns);
}

Result<Gang> gang_of_replica(const Workload& workload, const Policy& policy, int index, const BoundMembers& bound,
                             TopologyId open_topology, Intake& intake) {
  Inventory& inventory = intake.cluster.inventory();
  json::Reader read(workload.object.file, workload.object.value,
                    fmt::format("{} \"{}/{}\"", kKind, workload.key.ns, workload.key.name));
  const std::string leader = leader_name(workload, index);
  PodShape leader_shape = read_pod_shape(read, workload.templates.front().spec, inventory);
  PodShape worker_shape = read_pod_shape(read, workload.templates.back().spec, inventory);
  if (!read.ok()) {
    return read.error();
  }
  make_unique(leader_shape, policy, leader, inventory.strings());
  make_unique(worker_shape, policy, leader, inventory.strings());
  const auto levels = levels_of(policy, intake.cluster.engine());
  Gang gang;
  gang.key = {.ns = workload.key.ns, .name = leader, .kind = std::string(kKind)};
  gang.dialect = kFamily;
  gang.created_seconds = workload.created_seconds;
  gang.topology = levels ? levels->topology : open_topology;
  gang.exclusive_kind = exclusive_kind(workload);
  ReplicaBuilder(policy, bound, std::move(leader_shape), std::move(worker_shape)).build(gang.root, levels, intake);
  return gang;
}

std::vector<ExclusiveHold> holds_by_annotation(std::span<const PodRecord* const> pods, Intake& intake) {
  const json::Value label = text_at(pods.front()->annotations(), kExclusive);
  if (!label || !is_label_key(label.text())) {
    return {};
  }
  Engine& engine = intake.cluster.engine();
  const TopologyId topology = topology_with(engine, {std::string(label.text())});
  ExclusiveHold hold{
      fmt::format("{} in {}", kKind, pods.front()->ns), topology, engine.topology(topology).level(label.text()), {}};
  for (const PodRecord* pod : pods) {
    hold.hosts.push_back(intake.cluster.inventory().reserve(pod->node));
  }
  return {hold};
}

std::vector<ExclusiveHold> holds_of(const Workload& workload, const Policy& policy, const BoundMembers& bound,
                                    Intake& intake) {
  std::vector<ExclusiveHold> holds;
  const auto levels = levels_of(policy, intake.cluster.engine());
  if (!levels) {
    return holds;
  }
  Inventory& inventory = intake.cluster.inventory();
  if (levels->replica) {
    holds.push_back({exclusive_kind(workload), levels->topology, *levels->replica, nodes_of(bound, inventory)});
  }
  if (levels->subgroup && policy.subgroups) {
    for (const auto& [number, members] : by_subgroup(policy, bound)) {
      holds.push_back({exclusive_kind(workload), levels->topology, *levels->subgroup, nodes_of(members, inventory)});
    }
  }
  return holds;
}

}  // namespace gantree::lws
