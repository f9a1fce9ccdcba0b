// Events to what is known: Workloads, jobs, administrators' objects. Pods are read by PodReader.
//
// One thread owns it: the controller's.
#pragma once

#include <string_view>

#include "base/error.h"
#include "kueue/booking.h"
#include "kueue/ledger.h"
#include "kueue/pod_reader.h"
#include "kueue/queue_reporter.h"
#include "kueue/setup_release.h"
#include "live/object.h"

namespace gantree::kueue {

class EventReader {
 public:
  EventReader(Ledger& ledger, Booking& booking, QueueReporter& reporter, SetupRelease& release)
      : ledger_(ledger), booking_(booking), reporter_(reporter), release_(release), pods_(ledger) {}

  // An object as it is now. Fails where it is malformed; then what was known of it stays.
  [[nodiscard]] Result<> changed(const LiveObject& object);
  void removed(std::string_view kind, std::string_view ns, std::string_view name);

 private:
  [[nodiscard]] Result<> workload_changed(const LiveObject& object);
  [[nodiscard]] Result<WorkloadObject> read(const LiveObject& object) const;
  // Pods may get other defaults. `ns`: where; "" for everywhere.
  void templates_changed(std::string_view ns);
  // What an event says of a Workload that was known.
  void update(const std::string& key, Entry& entry, WorkloadObject read);
  void workload_removed(const std::string& key);
  void forget_owner(const std::string& key, const std::string& owner_uid);
  [[nodiscard]] bool namespace_in_use(std::string_view name) const;
  [[nodiscard]] Result<> job_changed(const LiveObject& object);
  // A job that is too large to be kept.
  void turn_away(const std::string& key, const LiveObject& job);
  void job_progresses(const std::string& uid, const JobProgress& before, const JobProgress& now);
  void neighbour_changed(const LiveObject& object, const Object& parsed);

  Ledger& ledger_;
  Booking& booking_;
  QueueReporter& reporter_;
  SetupRelease& release_;
  PodReader pods_;
};

}  // namespace gantree::kueue
