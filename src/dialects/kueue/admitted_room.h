// Room of admitted jobs whose pods are not all there yet: by their admission it is theirs, and nobody else's.
#pragma once

#include <vector>

#include "dialects/intake.h"
#include "dialects/kueue/job_request.h"
#include "model/record.h"
#include "model/running.h"
#include "queue/submission.h"

namespace gantree::kueue {

// What an admission gives by host, as far as it names hosts for all pod sets; else nothing.
[[nodiscard]] std::vector<Holding> admitted_holdings(const GangRecord& record, const JobRequest& request,
                                                     Inventory& inventory);

// Books what of it no pod of the gang has yet, at most that many pods, and adds it to the gang.
void hold_rest(std::vector<Holding> admitted, int most, RunningGang& gang, Inventory& inventory);

// Where an admission names no hosts, but one domain for a pod set: the set is kept to that, and the gang goes before
// those that were not admitted.
void keep_to_admission(const GangRecord& record, Submission& submission, Interner& strings);

}  // namespace gantree::kueue
