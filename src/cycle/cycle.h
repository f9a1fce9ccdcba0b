// The algorithm on one page: who goes next, where, or why not.
#pragma once

#include <vector>

#include "model/decision.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

// Takes the queue in order; each gang is tried with its alternatives in order:
// first quota, then the engine. What is placed is assumed and its quota used,
// so that the next gang sees it. One decision a submission, in the order taken.
//
// Where quota is short and a pod set may start with fewer pods, as many as the
// quota holds are tried. Where no alternative works, the decision gives the
// reason that is nearest to being lifted (busy, search limit, quota in use, too
// large, quota too small; the first alternative among equals) and names the
// others.
[[nodiscard]] std::vector<Decision> run_cycle(Cluster& cluster, Quota& quota, std::vector<Submission> queue);

}  // namespace gantree
