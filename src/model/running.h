// A gang that runs: what it holds, and what evicting it would cost.
#pragma once

#include <cstddef>
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

// Pods of a gang above its minimum, which may go while all others of it stay.
struct SparePods {
  std::vector<std::string> pods = {};  // namespace/name
  std::vector<Holding> holdings = {};  // part of the gang's
  std::vector<std::pair<BudgetId, int>> budgets = {};
  QuotaDemand used = {};
};

struct RunningGang {
  GangKey key;
  std::string dialect;
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;  // Unix time, of the API object; 0: not known
  std::int64_t started_seconds = 0;  // Unix time; 0: not known, taken for the oldest
  std::int64_t since_seconds = 0;    // Unix time, since when the first of its pods runs; 0: not known
  bool evictable = true;             // false: no one may evict it, whatever the priorities
  std::vector<Holding> holdings;
  std::vector<ExclusiveHold> exclusives;
  std::vector<std::pair<BudgetId, int>> budgets;  // pods of it under each budget
  std::optional<QueueId> queue;                   // whose quota it uses
  QuotaDemand used;                               // in all
  std::vector<SparePods> spare = {};              // each by itself; the first of them go first
  bool has_minimum = false;                       // known to have it, though further pods of it may wait
  int more_pods = 0;                              // that go where it goes, and are not in its holdings

  [[nodiscard]] int pods() const {
    int sum = 0;
    for (const Holding& holding : holdings) {
      sum += holding.count;
    }
    return sum;
  }
};

// Some of its spare pods, as a gang by itself.
[[nodiscard]] RunningGang only_spare(const RunningGang& gang, const std::vector<std::size_t>& which);
// The gang without those. `which` is ascending.
void take_spare_off(RunningGang& gang, const std::vector<std::size_t>& which);

}  // namespace gantree
