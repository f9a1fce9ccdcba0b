// Makes the Workloads of jobs.
//
// One thread owns it: the controller's.
#pragma once

#include <string>
#include <vector>

#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/workload_body.h"
#include "live/order.h"

namespace gantree::kueue {

class WorkloadMaker {
 public:
  WorkloadMaker(Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // The priority of the pods counts where the seed has none. `key`: of the job.
  void make(JobEntry& job, const std::string& key, WorkloadSeed seed, const std::vector<SetSpec>& sets, Step& step);

 private:
  Ledger& ledger_;
  Outbox& outbox_;
};

}  // namespace gantree::kueue
