// Workloads that have to leave: they are told, their jobs are stopped, and what they were given comes back once nothing
// of them runs any more.
//
//   evict() ──► Evicted=True written ──► job stopped, pods gone ──► release(): admission taken back, queued again
//
// One thread owns it: the controller's.
#pragma once

#include "base/time.h"
#include "kueue/announcer.h"
#include "kueue/ledger.h"
#include "kueue/status_writer.h"
#include "live/order.h"

namespace gantree::kueue {

class Evictions {
 public:
  Evictions(Ledger& ledger, Announcer& announcer, StatusWriter& status)
      : ledger_(ledger), announcer_(announcer), status_(status) {}

  // Decides it, and tells people. Nothing where it leaves already.
  void evict(Entry& entry, Removal removal, Time now, Step& step);
  // Writes what was decided.
  void write(Entry& entry, Time now, Step& step);
  // Whether anything of it runs, or may be started. `job`: nullptr where it is not known.
  [[nodiscard]] bool runs(const Entry& entry, const JobEntry* job) const;
  // Takes back what it was given, where it can be. `job`: nullptr where it is not known.
  void release(Entry& entry, const JobEntry* job, Time now, Step& step);
  // Somebody else has taken its admission away: what is told of it follows.
  void settle_returned(Entry& entry, Time now, Step& step);

 private:
  [[nodiscard]] bool is_cut_off(const StartedPod& pod) const;

  Ledger& ledger_;
  Announcer& announcer_;
  StatusWriter& status_;
};

}  // namespace gantree::kueue
