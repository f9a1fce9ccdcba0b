// Tells Workloads why they wait, and deactivates those that ask for what makes no sense.
//
// One thread owns it: the controller's.
#pragma once

#include "base/time.h"
#include "kueue/announcer.h"
#include "kueue/ledger.h"
#include "kueue/status_writer.h"
#include "live/order.h"

namespace gantree::kueue {

class PendingReporter {
 public:
  PendingReporter(Ledger& ledger, Announcer& announcer, StatusWriter& status)
      : ledger_(ledger), announcer_(announcer), status_(status) {}

  // Nothing where it knows already; later where too many are told at once.
  void tell(Entry& entry, Time now, Step& step);

 private:
  // So many may be told in a second; whoever comes when those are used up is given a turn.
  struct Allowance {
    double left = 0;
    Time since = {};
    Time last_turn = {};  // that was given
  };
  [[nodiscard]] bool may_tell(Entry& entry, Time now);
  void tell_inactive(Entry& entry, Time now, Step& step);
  void write_inactive(Entry& entry, std::vector<Wanted> more, Time now, Step& step);
  void reject(Entry& entry, Time now, Step& step);

  Ledger& ledger_;
  Announcer& announcer_;
  StatusWriter& status_;
  Allowance first_;  // of those who were told nothing yet: they do not wait for the others
  Allowance again_;
};

}  // namespace gantree::kueue
