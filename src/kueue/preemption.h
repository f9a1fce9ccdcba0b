// Who has to go for whom.
//
// Victims are whole Workloads, chosen for the domain that is to be cleared. The one they go for is given its place at
// once, so that nobody else gets it, and admitted when the last of them has left. What leaves anyway counts as gone
// already: who only waits for that has nobody evicted.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kueue/announcer.h"
#include "kueue/booking.h"
#include "kueue/evictions.h"
#include "kueue/grants.h"
#include "kueue/ledger.h"
#include "kueue/place.h"
#include "kueue/precedence.h"
#include "live/order.h"
#include "model/decision.h"

namespace gantree::kueue {

class Preemption {
 public:
  Preemption(Ledger& ledger, Booking& booking, Grants& grants, Evictions& evictions, Announcer& announcer,
             Precedence& precedence)
      : ledger_(ledger),
        booking_(booking),
        grants_(grants),
        evictions_(evictions),
        announcer_(announcer),
        precedence_(precedence) {}

  // Looks for victims for those that wait for room or quota.
  void preempt(Time now, Step& step);

 private:
  // Is on its way out. What those were given that it leaves for is booked already, so that all it has counts as free.
  struct Leaver {
    std::string key;  // of the Workload
    QuotaDemand used = {};
    std::vector<std::string> pods;  // and placeholders
  };
  [[nodiscard]] std::vector<Leaver> leavers(Time now);
  [[nodiscard]] Leaver leaver_of(const Entry& entry) const;
  // It is admitted when those of them have left whom it was given a place instead of.
  void wait_for(Entry& entry, const std::vector<Leaver>& leaving);
  using Asking = std::map<Rank, Entry*>;  // one of each line
  [[nodiscard]] bool is_modest(const Entry& entry) const;
  [[nodiscard]] Entry* first_of(const LineKey& key, Time now);
  [[nodiscard]] Asking crowded_out(Time now);
  // Those that others wait behind.
  [[nodiscard]] Asking waited_for(Time now);
  void look(Asking asking, Time now, Step& step);
  void look_at(Time when);
  [[nodiscard]] std::vector<WayDemands> outranked_by(const Entry& entry, Time now) const;
  void preempt_for(Entry& entry, const std::map<GangKey, RunningGang>& running, std::vector<Leaver>& leaving, Time now,
                   Step& step);
  [[nodiscard]] std::optional<RunningGang> running_gang(const Entry& entry) const;
  // A victim goes for another Workload.
  void evict(Entry& victim, const Entry& by, const Eviction& eviction, Time now, Step& step);

  Ledger& ledger_;
  Booking& booking_;
  Grants& grants_;
  Evictions& evictions_;
  Announcer& announcer_;
  Precedence& precedence_;
  std::optional<Time> due_ = {};  // there may be somebody to look for victims for
  Time next_ = {};                // not before, whatever is due
};

}  // namespace gantree::kueue
