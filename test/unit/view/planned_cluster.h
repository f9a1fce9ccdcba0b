// A cluster with gangs placed on it, for drawing tests.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/decision.h"
#include "state/cluster.h"

namespace gantree::view {

class PlannedCluster {
 public:
  explicit PlannedCluster(std::vector<std::string> levels = {"block", "rack", kHostnameLabel},
                          std::string resource = "nvidia.com/gpu")
      : levels_(std::move(levels)) {
    resource_ = cluster_.inventory().resources().intern(resource);
    topology_ = cluster_.engine().add_topology({"default", levels_});
  }

  // A node of that path, "b1/r1/n1": one label value a level, then its name; `used`
  // of its units are in use.
  NodeId host(const std::vector<std::string>& path, std::int64_t units = 8, std::int64_t used = 0) {
    Interner& strings = cluster_.inventory().strings();
    Node node;
    node.name = path.back();
    for (std::size_t level = 0; level < levels_.size() && level < path.size(); ++level) {
      node.labels.push_back({strings.intern(levels_[level]), strings.intern(path[level])});
    }
    std::sort(node.labels.begin(), node.labels.end());
    if (units > 0) {
      node.allocatable.set(resource_, units);
    }
    node.allocatable.set(ResourceNames::kPods, 110);
    const NodeId id = cluster_.inventory().upsert(std::move(node));
    if (used > 0) {
      cluster_.inventory().take(id, request(used), 1);
    }
    return id;
  }
  // Changes a node that is there.
  template <class Change>
  void change(NodeId id, Change change) {
    Node node = cluster_.inventory().node(id);
    change(node);
    cluster_.inventory().upsert(std::move(node));
  }

  // A gang of one pod set, put on those hosts as it stands.
  void gang(std::string name, std::int64_t units, std::vector<HostShare> hosts) {
    Decision decision = decision_of(std::move(name));
    decision.state = GangState::kPlaced;
    add_set(decision, "main", units, std::move(hosts));
    plan_.decisions.push_back(std::move(decision));
  }
  void add_set(Decision& decision, std::string name, std::int64_t units, std::vector<HostShare> hosts) {
    PodSetDecision set;
    set.name = std::move(name);
    set.requests = request(units);
    set.topology = topology_;
    for (const HostShare& share : hosts) {
      set.count += share.count;
      set.asked += share.count;
      cluster_.inventory().take(share.node, set.requests, share.count);
    }
    set.hosts = std::move(hosts);
    decision.pod_sets.push_back(std::move(set));
  }
  void refused(std::string name, GangState state, Reason reason, std::string message, int pods) {
    Decision decision = decision_of(std::move(name));
    decision.state = state;
    decision.reason = reason;
    decision.message = std::move(message);
    decision.pod_sets.emplace_back().name = "main";
    decision.pod_sets.back().count = pods;
    plan_.decisions.push_back(std::move(decision));
  }
  [[nodiscard]] static Decision decision_of(std::string name) {
    Decision decision;
    decision.key = {"team", std::move(name), "Job"};
    decision.dialect = "kueue";
    return decision;
  }

  [[nodiscard]] Amounts request(std::int64_t units) const {
    Amounts amounts;
    amounts.set(resource_, units);
    amounts.set(ResourceNames::kPods, 1);
    return amounts;
  }

  Cluster& cluster() { return cluster_; }
  std::vector<Decision>& decisions() { return plan_.decisions; }
  Plan& plan() { return plan_; }
  [[nodiscard]] TopologyId topology() const { return topology_; }
  [[nodiscard]] ResourceId resource() const { return resource_; }

 private:
  std::vector<std::string> levels_;
  Cluster cluster_;
  Plan plan_;
  ResourceId resource_;
  TopologyId topology_;
};

}  // namespace gantree::view
