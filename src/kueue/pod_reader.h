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
  // A Workload is known now: pods that name it and no pod set of it are of the only one that it has.
  void name_sets(const std::string& workload);
  // Slots count the domains of an assignment. Where it changes, pods that are on their way to a domain that stays go on
  // to it, and the others are told anew.
  void move_slots(const std::string& workload, const std::optional<Admission>& before,
                  const std::optional<Admission>& after);

 private:
  // Whether it may be a pod of its Workload. One that names no pod set is of the only one, or of none while the
  // Workload is not known.
  [[nodiscard]] bool name_set(StartedPod& pod) const;
  void take(const std::string& key, StartedPod pod);
  void drop(const std::string& key);
  [[nodiscard]] bool is_sent_to_a_host(const StartedPod& pod) const;

  Ledger& ledger_;
};

}  // namespace gantree::kueue
