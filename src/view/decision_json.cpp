#include "view/decision_json.h"

#include <utility>

#include "base/check.h"

namespace gantree {

namespace {

// The domain of a host on every level of the topology.
std::vector<std::string> values_of(const DomainTree& tree, NodeId node) {
  const std::uint32_t host = tree.host_of(node);
  GANTREE_CHECK(host != DomainTree::kNowhere);
  return tree.path({tree.host_level(), host});
}

json::Out texts(const std::vector<std::string>& items) {
  json::Out list = json::Out::array();
  for (const std::string& item : items) {
    list.push(item);
  }
  return list;
}

json::Out assignment_to_json(const PodSetDecision& pod_set, Cluster& cluster) {
  json::Out domains = json::Out::array();
  for (const DomainShare& share : domain_shares(pod_set, cluster)) {
    json::Out domain = json::Out::object().add("values", texts(share.values)).add("count", share.count);
    if (!share.pods.empty()) {
      domain.add("pods", texts(share.pods));
    }
    domains.push(std::move(domain));
  }
  return json::Out::object()
      .add("levels", texts(cluster.engine().topology(pod_set.topology).levels))
      .add("domains", std::move(domains));
}

// Pods that run may do so on hosts that the topology does not know.
void add_places(const PodSetDecision& pod_set, Cluster& cluster, json::Out& entry) {
  if (pod_set.hosts.empty()) {
    return;
  }
  PodSetDecision inside = pod_set;
  json::Out outside = json::Out::array();
  bool some_outside = false;
  std::erase_if(inside.hosts, [&](const HostShare& share) {
    const bool known = cluster.engine().tree(pod_set.topology).host_of(share.node) != DomainTree::kNowhere;
    if (!known) {
      some_outside = true;
      outside.push(
          json::Out::object().add("node", cluster.inventory().node(share.node).name).add("count", share.count));
    }
    return !known;
  });
  if (!inside.hosts.empty()) {
    entry.add("topologyAssignment", assignment_to_json(inside, cluster));
  }
  if (some_outside) {
    entry.add("outside", std::move(outside));
  }
}

}  // namespace

std::vector<DomainShare> domain_shares(const PodSetDecision& pod_set, Cluster& cluster) {
  const DomainTree& tree = cluster.engine().tree(pod_set.topology);
  std::vector<DomainShare> shares;
  auto pod = pod_set.pods.begin();
  for (const HostShare& host : pod_set.hosts) {
    auto values = values_of(tree, host.node);
    if (!shares.empty() && shares.back().values == values) {
      shares.back().count += host.count;
    } else {
      shares.push_back({.values = std::move(values), .count = host.count, .pods = {}});
    }
    for (int rank = 0; rank < host.count && pod != pod_set.pods.end(); ++rank) {
      shares.back().pods.push_back(*pod++);
    }
  }
  return shares;
}

json::Out pod_set_to_json(const PodSetDecision& pod_set, Cluster& cluster) {
  json::Out entry = json::Out::object();
  entry.add("name", pod_set.name).add("count", pod_set.count);
  add_places(pod_set, cluster, entry);
  return entry;
}

json::Out pod_sets_to_json(const Decision& decision, Cluster& cluster) {
  json::Out pod_sets = json::Out::array();
  for (const PodSetDecision& pod_set : decision.pod_sets) {
    pod_sets.push(pod_set_to_json(pod_set, cluster));
  }
  return pod_sets;
}

json::Out decision_to_json(const Decision& decision, Cluster& cluster) {
  json::Out gang = json::Out::object();
  gang.add("namespace", decision.key.ns);
  gang.add("name", decision.key.name);
  gang.add("kind", decision.key.kind);
  gang.add("dialect", decision.dialect);
  gang.add("state", to_string(decision.state));
  const bool placed = decision.state == GangState::kPlaced;
  if (!placed) {
    gang.add("reason", to_string(decision.reason));
    gang.add("message", decision.message);
  }
  gang.add("podSets", pod_sets_to_json(decision, cluster));
  return gang;
}

json::Out eviction_to_json(const Eviction& eviction) {
  json::Out out = json::Out::object();
  out.add("namespace", eviction.key.ns)
      .add("name", eviction.key.name)
      .add("kind", eviction.key.kind)
      .add("dialect", eviction.dialect)
      .add("for", eviction.by.ns + "/" + eviction.by.name)
      .add("reason", to_string(eviction.reason))
      .add("message", eviction.message)
      .add("priority", eviction.priority)
      .add("pods", eviction.pods);
  if (!eviction.spare.empty()) {
    json::Out names = json::Out::array();
    for (const std::string& pod : eviction.spare) {
      names.push(pod);
    }
    out.add("podsAboveMinimum", std::move(names));
  }
  return out;
}

json::Out plan_to_json(const Plan& plan, Cluster& cluster) {
  json::Out gangs = json::Out::array();
  for (const Decision& decision : plan.decisions) {
    gangs.push(decision_to_json(decision, cluster));
  }
  json::Out evictions = json::Out::array();
  for (const Eviction& eviction : plan.evictions) {
    evictions.push(eviction_to_json(eviction));
  }
  return json::Out::object().add("gangs", std::move(gangs)).add("evictions", std::move(evictions));
}

}  // namespace gantree
