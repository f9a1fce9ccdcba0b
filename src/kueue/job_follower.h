// What users change in a job is told to its Workload: all of it while it waits, its priority at any time.
//
// One thread owns it: the controller's.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "json/write.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/own_sets.h"
#include "live/order.h"

namespace gantree::kueue {

// Adds another class of priority to the spec that is to be written, with the value that it has now; whether it is
// another. What the class comes to be worth later changes no Workload. What holds quota may change from one class of
// workloads to another, and in nothing else.
[[nodiscard]] bool follow_class(std::string_view name, const Setup& setup, const Entry& entry, json::Out& spec);

class JobFollower {
 public:
  JobFollower(Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // Where the Workload had been deactivated because it made no sense, it is looked at anew. `key`: of the job.
  void follow(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step);

 private:
  void remove(Entry& entry, Time now, Step& step);
  // Adds what has changed to the spec that is to be written; whether anything has.
  static bool follow_request(const OwnSets& own, const Entry& entry, json::Out& spec);

  Ledger& ledger_;
  Outbox& outbox_;
};

}  // namespace gantree::kueue
