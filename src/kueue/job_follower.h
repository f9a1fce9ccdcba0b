// What users change in a job that waits is told to its Workload.
//
// One thread owns it: the controller's.
#pragma once

#include <string>

#include "base/time.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "live/order.h"

namespace gantree::kueue {

class JobFollower {
 public:
  JobFollower(Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // Where the Workload had been deactivated because it made no sense, it is looked at anew. `key`: of the job.
  void follow(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step);

 private:
  Ledger& ledger_;
  Outbox& outbox_;
};

}  // namespace gantree::kueue
