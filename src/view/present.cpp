#include "view/present.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cycle/cycle.h"

namespace gantree::view {

namespace {

// The topology that covers the gang's hosts; the first where none does.
TopologyId topology_of(Cluster& cluster, const RunningGang& gang) {
  for (std::size_t t = 0; t < cluster.engine().topologies(); ++t) {
    const auto id = make_id<TopologyTag>(t);
    const DomainTree& tree = cluster.engine().tree(id);
    if (std::any_of(gang.holdings.begin(), gang.holdings.end(),
                    [&](const Holding& holding) { return tree.host_of(holding.node) != DomainTree::kNowhere; })) {
      return id;
    }
  }
  return make_id<TopologyTag>(0);
}

// One pod set for each name and size of pods that it has.
Decision as_decision(Cluster& cluster, const RunningGang& gang) {
  Decision decision;
  decision.key = gang.key;
  decision.dialect = gang.dialect;
  decision.state = GangState::kPlaced;
  const TopologyId topology = topology_of(cluster, gang);
  std::map<std::pair<std::string, Amounts>, std::map<NodeId, int>> sets;
  for (const Holding& holding : gang.holdings) {
    sets[{holding.pod_set, holding.requests}][holding.node] += holding.count;
  }
  for (const auto& [what, hosts] : sets) {
    PodSetDecision set;
    set.name = what.first.empty() ? "pods" : what.first;
    set.topology = topology;
    set.requests = what.second;
    for (const auto& [node, count] : hosts) {
      set.hosts.push_back({node, count});
      set.count += count;
    }
    set.asked = set.count;
    decision.pod_sets.push_back(std::move(set));
  }
  return decision;
}

// A pod of a Deployment, or one by itself, that asks for nothing but to run.
bool is_plain_pod(const RunningGang& gang) {
  return gang.key.kind == "Pod" && gang.dialect.empty();
}

}  // namespace

Plan present_plan(Cluster& cluster, Quota& quota, std::vector<Submission> queue,
                  const std::map<GangKey, GangRecord>& records) {
  std::vector<Decision> running;
  for (const RunningGang& gang : cluster.running()) {
    if (is_plain_pod(gang)) {
      continue;
    }
    running.push_back(as_decision(cluster, gang));
    const auto record = records.find(gang.key);
    if (record != records.end() && record->second.standing == Standing::kEvicted) {
      running.back().state = GangState::kWaiting;
      running.back().reason = Reason::kEvicted;
      running.back().message = record->second.message;
    }
  }
  std::sort(running.begin(), running.end(), [](const Decision& a, const Decision& b) { return a.key < b.key; });
  Plan plan = run_cycle(cluster, quota, std::move(queue));
  // Those that have to go are told of as evicted.
  std::erase_if(running, [&](const Decision& one) {
    return std::any_of(plan.evictions.begin(), plan.evictions.end(),
                       [&](const Eviction& eviction) { return eviction.key == one.key; });
  });
  running.insert(running.end(), std::make_move_iterator(plan.decisions.begin()),
                 std::make_move_iterator(plan.decisions.end()));
  plan.decisions = std::move(running);
  return plan;
}

}  // namespace gantree::view
