// What runs and what waits, now: a plan whose gangs are partly there already.
#pragma once

#include <map>
#include <vector>

#include "model/decision.h"
#include "model/record.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree::view {

// Running gangs as placed where they are, by name, or as evicted where the records say that they are on their way out;
// then what becomes of those that ask, as a cycle decides it now. Pods that are nobody's gang (those of Deployments)
// are left out: what they use is in use. The cluster is as text_plan() wants it afterwards.
[[nodiscard]] Plan present_plan(Cluster& cluster, Quota& quota, std::vector<Submission> queue,
                                const std::map<GangKey, GangRecord>& records);

}  // namespace gantree::view
