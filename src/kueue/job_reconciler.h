// What is to be done about one job: its Workload is made, it is started, stopped, followed. Groups of pods have
// GroupReconciler.
//
// One thread owns it: the controller's.
#pragma once

#include <string>

#include "base/time.h"
#include "kueue/announcer.h"
#include "kueue/evictions.h"
#include "kueue/job_follower.h"
#include "kueue/job_switch.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/status_writer.h"
#include "kueue/workload_maker.h"
#include "live/order.h"

namespace gantree::kueue {

class JobReconciler {
 public:
  JobReconciler(Ledger& ledger, Outbox& outbox, Announcer& announcer, StatusWriter& status, Evictions& evictions)
      : ledger_(ledger),
        announcer_(announcer),
        status_(status),
        evictions_(evictions),
        maker_(ledger, outbox),
        switch_(ledger, outbox),
        follower_(ledger, outbox) {}

  // `key`: of a job that is known.
  void reconcile(const std::string& key, Time now, Step& step);

 private:
  // Of one that may run, and does. `started`: by us, as far as is known.
  [[nodiscard]] bool is_past_its_queue(const JobEntry& job, const Entry& entry, bool started) const;
  // Stops a job that somebody else started, and tells why.
  void send_back(JobEntry& job, const std::string& key, const Entry& entry, Time now, Step& step);
  void make_workload(JobEntry& job, const std::string& key, Time now, Step& step);
  void turn_down(JobEntry& job, std::string why, Time now, Step& step);
  [[nodiscard]] bool is_to_stop(const JobEntry& job, const gantree::Workload& workload) const;
  void start(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step);
  void look_after(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step);
  void resume(Entry& entry, Time now, Step& step);

  Ledger& ledger_;
  Announcer& announcer_;
  StatusWriter& status_;
  Evictions& evictions_;
  WorkloadMaker maker_;
  JobSwitch switch_;
  JobFollower follower_;
};

}  // namespace gantree::kueue
