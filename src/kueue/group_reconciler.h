// Pods that wait by themselves: their Workload is made, and they are removed when it is evicted. Nothing of ours stays
// behind at a pod that is over. The ungater lets them go when it is admitted.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/status_writer.h"
#include "kueue/workload_maker.h"
#include "live/order.h"

namespace gantree::kueue {

class GroupReconciler {
 public:
  GroupReconciler(Ledger& ledger, Outbox& outbox, StatusWriter& status)
      : ledger_(ledger), outbox_(outbox), status_(status), maker_(ledger, outbox) {}

  // `key`: of a job that is a group of pods.
  void reconcile(const std::string& key, Time now, Step& step);

 private:
  void make_workload(JobEntry& job, const std::string& key, PodGroup& group, Time now, Step& step);
  // What becomes of the pods, and of the Workload where it is out of date. `key`: of the job.
  void check(const std::string& key, PodGroup& group, Entry& entry, Time now, Step& step);
  // Where its class of priority was not there when the Workload was made, and is now; or where it is another.
  [[nodiscard]] bool settle_priority(const PodGroup& group, Entry& entry, Time now, Step& step);
  // Whether pods are missing, and why.
  void tell_lacking(const PodGroup& group, Entry& entry, const std::map<std::string, int>& counts, Time now,
                    Step& step);
  // Whether there was something to write.
  [[nodiscard]] bool keep_owners(const PodGroup& group, Entry& entry, Time now, Step& step);
  // Where the last pod is gone.
  void end(const std::string& key, PodGroup& group, Entry* entry, Time now, Step& step);
  void remove_workload(Entry& entry, Time now, Step& step);
  void remove_released(PodGroup& group, Step& step);
  void let_go(PodGroup& group, Step& step);
  void tell_incomplete(const std::string& key, PodGroup& group, Time now, Step& step);
  void tell_excess(PodGroup& group, const std::map<std::string, int>& counts, Time now, Step& step);

  Ledger& ledger_;
  Outbox& outbox_;
  StatusWriter& status_;
  WorkloadMaker maker_;
};

}  // namespace gantree::kueue
