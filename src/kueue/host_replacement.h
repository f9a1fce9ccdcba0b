// Hosts that fail, go or are drained: only the pods that were on them are placed anew, inside the domain that was asked
// for and inside the slices that they were part of. Where that cannot be, the Workload is evicted and queued again.
//
// One thread owns it: the controller's.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kueue/booking.h"
#include "kueue/evictions.h"
#include "kueue/grants.h"
#include "kueue/ledger.h"
#include "kueue/remainder.h"
#include "live/order.h"
#include "queue/submission.h"

namespace gantree::kueue {

class HostReplacement {
 public:
  HostReplacement(Ledger& ledger, Booking& booking, Grants& grants, Evictions& evictions)
      : ledger_(ledger), booking_(booking), grants_(grants), evictions_(evictions) {}

  // A node came, went or changed.
  void node_changed(std::string_view name) { changed_.emplace(name); }
  // Workloads that have pods on nodes that changed are looked at.
  void touch_users();
  // Nothing is to be looked at: another decides.
  void rest() { changed_.clear(); }
  // Puts the pods of hosts that are of no use any more elsewhere. Returns whether there was something to do.
  bool mend(Entry& entry, Time now, Step& step);

 private:
  [[nodiscard]] Submission asked_for(Entry& entry);
  [[nodiscard]] LostRanks lost_ranks(const Entry& entry, std::set<std::string>& hosts) const;
  [[nodiscard]] bool place_again(const Alternative& alternative, const LostRanks& lost, Admission& admission,
                                 Entry& entry);
  void book_kept(Entry& entry, const LostRanks& lost);
  [[nodiscard]] bool give_up(Entry& entry, Time now, Step& step);
  void evict(Entry& entry, const std::set<std::string>& hosts, Time now, Step& step);

  Ledger& ledger_;
  Booking& booking_;
  Grants& grants_;
  Evictions& evictions_;
  std::set<std::string> changed_;  // nodes
};

}  // namespace gantree::kueue
