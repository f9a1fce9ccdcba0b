// What people are told of a Workload in events: on the Workload itself, whose name nobody knows by heart, and on what
// they made: the job, what makes the pods of a group, or else those pods.
//
// One thread owns it: the controller's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "dialects/write.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "live/order.h"

namespace gantree::kueue {

struct News {
  bool warning = false;
  std::string_view reason;
  std::string_view action;
  std::string note;
};

class Announcer {
 public:
  Announcer(Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // On the Workload and on its job.
  void announce(const Entry& entry, const News& news, Time now, Step& step);
  // On the Workload alone.
  void tell_workload(const Entry& entry, const News& news, Time now, Step& step);
  // On the job alone.
  void tell_job(const JobEntry& job, const News& news, Time now, Step& step);
  // Which Workloads were made since this was called last.
  void tell_made(Time now, Step& step);
  // That a job, or a group of pods, is being started for its Workload, which is admitted; once for each admission.
  void tell_started(const Entry& entry, JobEntry& job, Time now, Step& step);

 private:
  [[nodiscard]] std::vector<ObjectRef> objects_of(const JobEntry& job) const;

  Ledger& ledger_;
  Outbox& outbox_;
};

}  // namespace gantree::kueue
