#include "support/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree::test {
namespace {

std::vector<Label> labels_of(Interner& strings, const std::map<std::string, std::string>& spec) {
  std::vector<Label> labels;
  for (const auto& [key, value] : spec) {
    labels.push_back({.key = strings.intern(key), .value = strings.intern(value)});
  }
  std::ranges::sort(labels);
  return labels;
}

Toleration toleration_of(Interner& strings, const TolerationSpec& spec) {
  Toleration toleration;
  if (!spec.key.empty()) {
    toleration.key = strings.intern(spec.key);
  }
  toleration.op = spec.value.empty() ? TolerationOperator::kExists : TolerationOperator::kEqual;
  toleration.value = strings.intern(spec.value);
  toleration.effect = spec.effect;
  return toleration;
}

}  // namespace

World::World(const Instance& instance) {
  topology_ = engine().add_topology({.name = "default", .levels = instance.levels});
  for (const NodeSpec& node : instance.nodes) {
    upsert_node(node);
    add_pods(node);
  }
}

Amounts World::amounts(const AmountSpec& spec) {
  Amounts amounts;
  for (const auto& [name, amount] : spec) {
    amounts.set(inventory().resources().intern(name), amount);
  }
  return amounts;
}

void World::upsert_node(const NodeSpec& spec) {
  Interner& strings = inventory().strings();
  Node node;
  node.name = spec.name;
  node.labels = labels_of(strings, spec.labels);
  for (const TaintSpec& taint : spec.taints) {
    node.taints.push_back(
        {.key = strings.intern(taint.key), .value = strings.intern(taint.value), .effect = taint.effect});
  }
  node.allocatable = amounts(spec.allocatable);
  node.ready = spec.ready;
  node.unschedulable = spec.cordoned;
  cluster_.upsert_node(std::move(node));
}

void World::add_pods(const NodeSpec& spec) {
  for (std::size_t i = 0; i < spec.pods.size(); ++i) {
    cluster_.upsert_pod(
        {.key = fmt::format("default/{}-{}", spec.name, i), .node = spec.name, .requests = amounts(spec.pods[i])});
  }
}

SelectorTerm World::term(const TermSpec& spec) {
  Interner& strings = inventory().strings();
  SelectorTerm term;
  for (const RequirementSpec& wanted : spec) {
    SelectorRequirement requirement;
    requirement.key = strings.intern(wanted.key);
    requirement.op = wanted.op;
    requirement.bound = wanted.bound;
    for (const std::string& value : wanted.values) {
      requirement.values.push_back(strings.intern(value));
    }
    std::ranges::sort(requirement.values);
    term.labels.push_back(std::move(requirement));
  }
  return term;
}

PodShape World::shape(const PodSetSpec& spec) {
  Interner& strings = inventory().strings();
  PodShape shape;
  shape.requests = amounts(spec.requests);
  shape.node_selector = labels_of(strings, spec.selector);
  if (spec.affinity) {
    shape.affinity.emplace();
    for (const TermSpec& wanted : *spec.affinity) {
      shape.affinity->push_back(term(wanted));
    }
  }
  for (const TolerationSpec& toleration : spec.tolerations) {
    shape.tolerations.push_back(toleration_of(strings, toleration));
  }
  return shape;
}

Group World::group(const GroupSpec& spec) {
  Group group;
  group.name = spec.name;
  group.constraint = spec.constraint;
  group.min_pods = spec.min_pods;
  group.min_groups = spec.min_groups;
  for (const PodSetSpec& wanted : spec.pod_sets) {
    PodSet pod_set;
    pod_set.name = wanted.name;
    pod_set.shape = shape(wanted);
    pod_set.count = wanted.count;
    pod_set.min_count = wanted.min_count;
    pod_set.constraint = wanted.constraint;
    group.pod_sets.push_back(std::move(pod_set));
  }
  for (const GroupSpec& nested : spec.groups) {
    group.groups.push_back(this->group(nested));
  }
  return group;
}

Gang World::gang(const GangSpec& spec) {
  Gang gang;
  gang.key = {.ns = "default", .name = spec.name, .kind = "Job"};
  gang.topology = topology_;
  gang.exclusive_kind = spec.exclusive_kind;
  gang.root = group(spec.root);
  return gang;
}

std::vector<NamedShares> World::named(const Placement& placement) const {
  std::vector<NamedShares> named;
  for (const auto& hosts : placement.pod_sets) {
    NamedShares& shares = named.emplace_back();
    for (const HostShare& share : hosts) {
      shares.emplace_back(cluster_.inventory().node(share.node).name, share.count);
    }
  }
  return named;
}

Placement World::unnamed(const std::vector<NamedShares>& shares) const {
  Placement placement;
  for (const NamedShares& pod_set : shares) {
    auto& hosts = placement.pod_sets.emplace_back();
    for (const auto& [name, count] : pod_set) {
      hosts.push_back({.node = cluster_.inventory().find(name).value(), .count = count});
    }
  }
  return placement;
}

}  // namespace gantree::test
