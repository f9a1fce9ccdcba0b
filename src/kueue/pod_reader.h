// Events of pods to what is known of the pods of started jobs, and of pods that wait by themselves.
//
// One thread owns it: the controller's.
#pragma once

#include <string>

#include "base/error.h"
#include "kueue/ledger.h"
#include "live/object.h"

namespace gantree::kueue {

class PodReader {
 public:
  explicit PodReader(Ledger& ledger) : ledger_(ledger) {}

  [[nodiscard]] Result<> changed(const LiveObject& object);
  void removed(const std::string& key);
  // Slots count the domains of an assignment. Where it changes, pods that are on their way to a domain that stays go on
  // to it, and the others are told anew.
  void move_slots(const std::string& workload, const std::optional<Admission>& before,
                  const std::optional<Admission>& after);

 private:
  void take(const std::string& key, StartedPod pod);
  void drop(const std::string& key);
  [[nodiscard]] bool is_sent_to_a_host(const StartedPod& pod) const;

  Ledger& ledger_;
};

}  // namespace gantree::kueue
