// A gang that runs: what it holds, and what evicting it would cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/gang.h"
#include "model/node.h"
#include "model/quota_demand.h"
#include "model/resources.h"

namespace gantree {

// Pods of one pod set and one request on one node.
struct Holding {
  NodeId node;
  Amounts requests;
  int count = 1;
  std::string pod_set = {};  // "" where it is not known
};

// A domain that a gang has to itself, named by the gang's hosts in it: positions change when the
// tree is rebuilt, nodes do not.
struct ExclusiveHold {
  std::string kind;
  TopologyId topology;
  int level = 0;
  std::vector<NodeId> hosts;
  friend auto operator<=>(const ExclusiveHold&, const ExclusiveHold&) = default;
};

// A PodDisruptionBudget as far as evictions are concerned.
using BudgetId = Id<struct DisruptionBudgetTag>;
struct DisruptionBudget {
  std::string name;  // namespace/name
  int allowed = 0;   // pods that may still be evicted
};

struct RunningGang {
  GangKey key;
  std::string dialect;
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;  // Unix time, of the API object; 0: not known
  std::int64_t started_seconds = 0;  // Unix time; 0: not known, taken for the oldest
  bool evictable = true;             // false: no one may evict it, whatever the priorities
  std::vector<Holding> holdings;
  std::vector<ExclusiveHold> exclusives;
  std::vector<std::pair<BudgetId, int>> budgets;  // pods of it under each budget
  std::optional<QueueId> queue;                   // whose quota it uses
  QuotaDemand used;                               // in all

  [[nodiscard]] int pods() const {
    int sum = 0;
    for (const Holding& holding : holdings) {
      sum += holding.count;
    }
    return sum;
  }
};

}  // namespace gantree
