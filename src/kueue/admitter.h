// Who is admitted, with what, and who waits for what.
//
// One thread owns it: the controller's.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "kueue/grants.h"
#include "kueue/ledger.h"
#include "live/order.h"
#include "model/decision.h"

namespace gantree::kueue {

class Admitter {
 public:
  Admitter(Ledger& ledger, Grants& grants) : ledger_(ledger), grants_(grants) {}

  // Tries those that wait, as far as anything has changed for them.
  void admit(Time now, Step& step);

 private:
  [[nodiscard]] std::vector<Entry*> candidates(Time now);
  [[nodiscard]] bool past_its_queue(const Entry& entry) const;
  [[nodiscard]] bool worth_trying(const Entry& entry) const;
  [[nodiscard]] bool within_quota(const Entry& entry) const;
  [[nodiscard]] bool strict(const Entry& entry) const;
  void try_all(std::vector<Entry*> waiting, Time now, Step& step);
  void settle(const Decision& decision, Time now, Step& step);

  Ledger& ledger_;
  Grants& grants_;
  std::uint64_t room_ = 1;  // grows whenever room or quota may have come free
};

}  // namespace gantree::kueue
