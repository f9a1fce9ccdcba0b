// What a decision gives a Workload: from the moment of the decision it is assumed and booked, then it is written.
//
// One thread owns it: the controller's.
#pragma once

#include "base/time.h"
#include "kueue/booking.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/status_writer.h"
#include "live/order.h"
#include "model/decision.h"

namespace gantree::kueue {

class Grants {
 public:
  Grants(Ledger& ledger, Outbox& outbox, StatusWriter& status, Booking& booking)
      : ledger_(ledger), outbox_(outbox), status_(status), booking_(booking) {}

  // The cycle has booked quota and hosts: from now on they are the Workload's.
  void assume(Entry& entry, const Decision& decision);
  // Writes what is assumed, for the first time or once more.
  void write(Entry& entry, Time now, Step& step);

 private:
  [[nodiscard]] Admission admission_of(const Entry& entry, const Decision& decision);

  Ledger& ledger_;
  Outbox& outbox_;
  StatusWriter& status_;
  Booking& booking_;
};

}  // namespace gantree::kueue
