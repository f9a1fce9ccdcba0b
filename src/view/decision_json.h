// Decisions as the JSON (or YAML) that others read.
#pragma once

#include <string>
#include <vector>

#include "json/write.h"
#include "model/decision.h"
#include "state/cluster.h"

namespace gantree {

// Pods in one domain of the lowest topology level.
struct DomainShare {
  std::vector<std::string> values;  // one a level of the topology
  int count = 0;
  std::vector<std::string> pods;  // in rank order, where they exist already; else empty
};

// The hosts of a placed pod set, in rank order, as domains of the topology's lowest level. Hosts of
// one domain that follow each other are one entry.
[[nodiscard]] std::vector<DomainShare> domain_shares(const PodSetDecision& pod_set, Cluster& cluster);

// The pod sets of a gang; where it is placed, with the domains they go to.
[[nodiscard]] json::Out pod_sets_to_json(const Decision& decision, Cluster& cluster);

// One pod set, with the domains that its hosts are in; hosts that the topology does not know are listed apart.
[[nodiscard]] json::Out pod_set_to_json(const PodSetDecision& pod_set, Cluster& cluster);

// One gang, and one eviction, of a plan.
[[nodiscard]] json::Out decision_to_json(const Decision& decision, Cluster& cluster);
[[nodiscard]] json::Out eviction_to_json(const Eviction& eviction);

// {"gangs": [...], "evictions": [...]}, gangs in the order decided.
[[nodiscard]] json::Out plan_to_json(const Plan& plan, Cluster& cluster);

}  // namespace gantree
