// One way to start a gang, tried: first quota, then the engine.
#pragma once

#include <tl/expected.hpp>
#include <vector>

#include "cycle/obstacle.h"
#include "model/decision.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

// What an alternative got. Lists are by pod set of its gang.
struct Started {
  std::vector<int> counts;
  Placement placement;
  QuotaDemand used = {};
};

// Books quota and hosts where there is enough of both. Where quota is short and the gang may start with fewer
// pods, as many as the quota holds are tried.
[[nodiscard]] tl::expected<Started, Obstacle> try_to_start(Cluster& cluster, Quota& quota, const Submission& submission,
                                                           const Alternative& alternative);

// A gang as the engine sees it: without the pod sets that find their place elsewhere.
[[nodiscard]] Gang to_place(const Alternative& alternative, const Gang& gang);

// Books an outcome that has a placement of to_place(gang), where `gang` is the alternative's, perhaps with fewer pods.
[[nodiscard]] Started book(Cluster& cluster, Quota& quota, const Alternative& alternative, const Gang& gang,
                           Outcome outcome);

// The pod sets as submitted, with what the alternative's gang got. A set of no pods is not in the gang.
[[nodiscard]] std::vector<PodSetDecision> placed_sets(const Submission& submission, const Alternative& alternative,
                                                      Started&& started);

}  // namespace gantree
