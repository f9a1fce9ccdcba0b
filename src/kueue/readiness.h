// Whether the pods of a started job become ready, and what happens to it where they do not.
//
// One thread owns it: the controller's.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/time.h"
#include "kueue/evictions.h"
#include "kueue/ledger.h"
#include "kueue/status_writer.h"
#include "live/order.h"

namespace gantree::kueue {

// What happens to jobs whose pods do not all become ready.
struct ReadyRules {
  std::chrono::milliseconds timeout{0};    // after admission; 0: they are waited for without end
  std::chrono::milliseconds recovery{-1};  // after having been ready; 0: as above; below 0: as long as after admission
  int limit = -1;                          // times that a job is queued again; below 0: without end
  std::chrono::milliseconds backoff{60'000};  // before the first; doubles each time
  std::chrono::milliseconds longest_backoff{3'600'000};
  // By when a job that is queued again was created it has its place in the queue; otherwise by when it was evicted.
  bool requeue_by_creation = false;
  [[nodiscard]] std::chrono::milliseconds patience(bool recovering) const {
    return recovering && recovery.count() >= 0 ? recovery : timeout;
  }
  bool one_by_one = false;  // nobody is admitted as long as the pods of another that was are not all ready
};

class Readiness {
 public:
  Readiness(const ReadyRules& rules, Ledger& ledger, StatusWriter& status, Evictions& evictions)
      : rules_(rules), ledger_(ledger), status_(status), evictions_(evictions) {}

  // Tells a Workload how far its job is, and evicts it where that takes too long.
  void watch(Entry& entry, const JobEntry& job, Time now, Step& step);
  // The same of one that nothing owns: its maker tells how far it is.
  void watch_unowned(Entry& entry, Time now, Step& step);

 private:
  // Whether all that it was given is given back, and has been for no more than a moment.
  [[nodiscard]] bool ends_in_a_moment(Entry& entry, const std::map<std::string, int>& reclaimable, Time now);
  // Evicts one whose pods are not ready, where they had time enough.
  void lose_patience(Entry& entry, bool recovering, Time now, Step& step);
  void give_up(Entry& entry, bool recovering, Time now, Step& step);

  ReadyRules rules_;
  Ledger& ledger_;
  StatusWriter& status_;
  Evictions& evictions_;
};

}  // namespace gantree::kueue
