// Whom to evict so that a gang starts: over its ways to start, the cheapest victims.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cycle/ways.h"
#include "engine/preempt.h"
#include "queue/submission.h"
#include "queue/victims.h"
#include "state/cluster.h"

namespace gantree {

// A way to start once some gangs are gone.
struct Clearing {
  Alternative alternative;
  std::vector<VictimCandidate> victims;  // positions among the running gangs, ascending
  EvictionCost cost;
  Gang gang;               // the alternative's, with the fewest pods that it may start with
  Outcome outcome;         // where it goes
  std::string considered;  // "2 of 14 gangs that may be evicted, the cheapest choice; 6 domains looked at"
};

struct ClearingSearch {
  std::optional<Clearing> found;
  std::string why_not;    // where candidates were looked at in vain; "" where there were none
  int searched = 0;       // how often the engine had to search
  bool hopeless = false;  // whoever may be evicted leaves, it is not enough
};

// What a victim uses of quota.
[[nodiscard]] QuotaDemand used_by(const Cluster& cluster, const VictimCandidate& victim);

// Evicts nothing: cluster and quota are as before when it returns.
[[nodiscard]] ClearingSearch find_clearing(Cluster& cluster, Quota& quota, const Submission& submission,
                                           const Alternative& alternative);

// The cheapest over the ways to start it; where there are many, over the first of those that evictions could help.
// `tried`: without evictions.
[[nodiscard]] ClearingSearch find_cheapest_clearing(Cluster& cluster, Quota& quota, const Submission& submission,
                                                    const Ways& tried);

// The gangs leave cluster and quota.
[[nodiscard]] std::vector<Eviction> clear(Cluster& cluster, Quota& quota, const Submission& submission,
                                          const Clearing& clearing);

}  // namespace gantree
