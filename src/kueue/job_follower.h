// What users change in a job is told to its Workload: all of it while it waits, its priority at any time.
//
// One thread owns it: the controller's.
#pragma once

#include <string>

#include "base/time.h"
#include "json/write.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/own_sets.h"
#include "live/order.h"

namespace gantree::kueue {

class JobFollower {
 public:
  JobFollower(Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // Where the Workload had been deactivated because it made no sense, it is looked at anew. `key`: of the job.
  void follow(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step);

 private:
  // Each adds what has changed to the spec that is to be written; whether anything has.
  static bool follow_request(const OwnSets& own, const Entry& entry, json::Out& spec);
  bool follow_priority(const OwnSets& own, const Entry& entry, bool given, json::Out& spec) const;

  Ledger& ledger_;
  Outbox& outbox_;
};

}  // namespace gantree::kueue
