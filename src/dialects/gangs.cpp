#include "dialects/gangs.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/pod_count.h"

namespace gantree {

std::vector<TopologyId> open_topologies(Intake& intake) {
  Engine& engine = intake.cluster.engine();
  std::optional<TopologyId> only = intake.levels;
  if (!only && intake.topologies.all().size() == 1) {
    only = intake.topologies.all().front().id;
  }
  if (!only) {
    return {hosts_only(engine)};
  }
  if (leaves_nodes_out(engine.topology(*only), intake.cluster.inventory())) {
    return {*only, hosts_only(engine)};
  }
  return {*only};
}

namespace {

std::size_t groups_below(const Group& group) {
  std::size_t groups = group.groups.size();
  for (const Group& nested : group.groups) {
    groups += groups_below(nested);
  }
  return groups;
}

}  // namespace

void add_alternative(Submission& submission, Gang gang) {
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  if (submission.rejection) {
    return;
  }
  if (submission.parts.empty()) {
    submission.key = gang.key;
    submission.dialect = gang.dialect;
    submission.priority = gang.priority;
    submission.created_seconds = gang.created_seconds;
    submission.pod_sets.clear();
    for (const PodSet* set : sets) {
      submission.pod_sets.emplace_back(set->name, set->count);
    }
  }
  if (const std::size_t groups = std::max(groups_below(gang.root), sets.size()); groups > kMostGroupsTogether) {
    submission.parts.clear();
    submission.rejection = {
        .reason = Reason::kInvalidRequest,
        .message = fmt::format("its pods are {} groups and sets of different pods; at most {} are placed together",
                               groups, kMostGroupsTogether),
        .waits = false};
    return;
  }
  if (submission.parts.empty()) {
    submission.parts.emplace_back();
  }
  Alternative& added = submission.parts.front().emplace_back();
  added.demand.resize(sets.size());
  added.flavors.resize(sets.size());
  added.gang = std::move(gang);
}

Submission rejected_submission(const GangKey& key, std::string_view dialect, std::string message) {
  Submission submission;
  submission.key = key;
  submission.dialect = dialect;
  submission.rejection = {.reason = Reason::kInvalidRequest, .message = std::move(message), .waits = false};
  return submission;
}

bool insists(const Group& group) {
  const auto at_least_one = [](const PodSet& set) { return set.min_count > 0; };
  return group.min_pods.value_or(0) > 0 || std::any_of(group.pod_sets.begin(), group.pod_sets.end(), at_least_one) ||
         std::any_of(group.groups.begin(), group.groups.end(), [](const Group& nested) { return insists(nested); });
}

void confine(PodShape& shape, const Topology& topology, std::span<const std::string> path, Interner& strings) {
  for (std::size_t level = 0; level < path.size() && level < topology.levels.size(); ++level) {
    const Label label{strings.intern(topology.levels[level]), strings.intern(path[level])};
    if (std::find(shape.node_selector.begin(), shape.node_selector.end(), label) == shape.node_selector.end()) {
      shape.node_selector.insert(std::lower_bound(shape.node_selector.begin(), shape.node_selector.end(), label),
                                 label);
    }
  }
}

std::optional<std::vector<std::string>> common_domain(Engine& engine, TopologyId topology, int level,
                                                      std::span<const NodeId> nodes) {
  const DomainTree& tree = engine.tree(topology);
  std::optional<std::uint32_t> common;
  for (const NodeId node : nodes) {
    const std::uint32_t host = tree.host_of(node);
    if (host == DomainTree::kNowhere) {
      return std::nullopt;
    }
    const std::uint32_t domain = tree.ancestor(tree.host_level(), host, level);
    if (common.value_or(domain) != domain) {
      return std::nullopt;
    }
    common = domain;
  }
  return common ? std::optional(tree.path({level, *common})) : std::nullopt;
}

}  // namespace gantree
