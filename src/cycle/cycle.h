// The algorithm on one page: who goes next, where, or why not, and who has to go for it.
#pragma once

#include <vector>

#include "model/decision.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

// Looks on while the cycle decides. Places may be tried on the cluster and victims looked for, but all must be
// as before when a call returns. A submission that waits may be taken up again after an eviction: it has another turn
// then, and the last decision counts.
class CycleObserver {
 public:
  CycleObserver() = default;
  virtual ~CycleObserver() = default;
  CycleObserver(const CycleObserver&) = delete;
  CycleObserver& operator=(const CycleObserver&) = delete;

  // It is the submission's turn; cluster and quota are as it finds them.
  virtual void before(const Submission& submission, Cluster& cluster, const Quota& quota) = 0;
  // It has been decided; cluster and quota are as it leaves them.
  virtual void after(const Submission& submission, const Decision& decision, Cluster& cluster, const Quota& quota) = 0;
  // It waits for room or quota. Whether nobody behind it in its queue is to be tried in this cycle, and its quota is
  // kept meanwhile: nothing is decided of those then.
  [[nodiscard]] virtual bool holds_up(const Submission& /*submission*/, const Decision& /*decision*/) { return false; }
};

// Takes the submissions in the order of queue/order.h; each gang is tried with its ways to start in order
// (cycle/ways.h): first quota, then the engine. What is placed is assumed and its quota used, so that the next gang
// sees it. One decision a submission, in the order first taken.
//
// Where none works without, evictions are tried: of the ways the one with the cheapest victims, the first
// among equals. Victims leave the cluster and their quota at once; a gang that this cycle placed is never one.
// What they leave over goes first to gangs that were turned down before, in their order: after evictions those that
// wait for room or quota (the first 64) are tried once more, without evictions, and where the head of a strict queue
// starts thus, those behind it get their turn.
//
// Where quota is short and a pod set may start with fewer pods, as many as the quota holds are tried. Where no
// way works, the decision gives the reason that is nearest to being lifted (busy, search limit, quota in
// use, too large, quota too small; the first way among equals) and names the others. Behind a gang that
// waits in a strict queue all others of that queue wait too, and what is left of its queue's own quota is kept for it
// (queue/own_quota.h): those of other queues that have their turn later do not borrow it.
[[nodiscard]] Plan run_cycle(Cluster& cluster, Quota& quota, std::vector<Submission> submissions,
                             CycleObserver* observer = nullptr);

}  // namespace gantree
