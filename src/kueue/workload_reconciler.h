// What is to be done about one Workload, from its admission on, and what it is told before.
//
// One thread owns it: the controller's.
#pragma once

#include <string>

#include "base/time.h"
#include "kueue/announcer.h"
#include "kueue/evictions.h"
#include "kueue/grants.h"
#include "kueue/host_replacement.h"
#include "kueue/ledger.h"
#include "kueue/pending_reporter.h"
#include "kueue/readiness.h"
#include "kueue/status_writer.h"
#include "kueue/ungater.h"
#include "live/order.h"

namespace gantree::kueue {

class WorkloadReconciler {
 public:
  // Those to which it gives the work.
  struct Staff {
    StatusWriter& status;
    Announcer& announcer;
    Grants& grants;
    Evictions& evictions;
    PendingReporter& pending;
    Ungater& ungater;
    HostReplacement& hosts;
    Readiness& readiness;
  };
  WorkloadReconciler(Ledger& ledger, Staff staff) : ledger_(ledger), staff_(staff) {}

  void reconcile(const std::string& key, Time now, Step& step);

 private:
  // One that was decided and not seen to be admitted.
  void hold(Entry& entry, Time now, Step& step);
  // One that has been admitted.
  void look_after(Entry& entry, const JobEntry* job, Time now, Step& step);
  void watch_time(Entry& entry, Time now, Step& step);
  // One that is being deleted.
  void let_go(Entry& entry, Time now, Step& step);
  // Its priority follows the value of its class where that has changed. Whether that is being written.
  [[nodiscard]] bool settle_priority(Entry& entry, Step& step);
  // One that waits is told how many of its pods are over from an earlier start: it asks for the others. Whether it is.
  [[nodiscard]] bool settle_over(Entry& entry, const JobEntry& job, Time now, Step& step);
  void finish(Entry& entry, const JobEnd& end, Time now, Step& step);

  Ledger& ledger_;
  Staff staff_;
};

}  // namespace gantree::kueue
