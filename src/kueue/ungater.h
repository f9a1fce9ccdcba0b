// The ungater: every pod of a started job is told where to go, by rank, and no domain gets more than it was assigned.
//
// One thread owns it: the controller's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kueue/booking.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/pod_releaser.h"
#include "live/order.h"

namespace gantree::kueue {

class Ungater {
 public:
  Ungater(Ledger& ledger, Outbox& outbox, Booking& booking)
      : ledger_(ledger), outbox_(outbox), booking_(booking), releaser_(ledger, outbox) {}

  // Pods of an admitted Workload that wait to be told.
  void ungate(const Entry& entry, Step& step);
  // Pods that were sent where their Workload has no place any more would wait for it for ever: those of a job are
  // failed, with a condition that a podFailurePolicy may look at, others are deleted; whoever made them makes others.
  void remove_stranded(const Entry& entry, Time now, Step& step);

 private:
  struct Slots;

  [[nodiscard]] std::set<std::string> strays_of(const Entry& entry, const SetAssignment& set) const;
  [[nodiscard]] bool has_place(const Entry& entry, const SetAssignment& set, const StartedPod& pod) const;
  void remove(const std::string& key, StartedPod& pod, Time now, Step& step);
  void ungate_set(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members, Step& step);
  void leave_earlier(const Entry& entry, const SetAssignment& set, std::vector<std::string>& members) const;
  [[nodiscard]] Slots slots_of(const Entry& entry, const SetAssignment& set) const;
  [[nodiscard]] std::vector<std::string> take_used(const TopologyAssignment& assignment,
                                                   const std::vector<std::string>& members, Slots& slots) const;
  [[nodiscard]] std::vector<std::string> give_by_rank(const Entry& entry, const SetAssignment& set,
                                                      const std::vector<std::string>& gated, Slots& slots);
  void leave_given_back(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members,
                        Slots& slots) const;

  Ledger& ledger_;
  Outbox& outbox_;
  Booking& booking_;
  PodReleaser releaser_;
};

}  // namespace gantree::kueue
