// What is known of jobs that wait in queues, and what of it has to be looked at again. All parts of the controller read
// it and write it down here; each decides only what is its own duty.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "dialects/dialects.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/neighbour.h"
#include "kueue/cluster_defaults.h"
#include "kueue/entry.h"
#include "kueue/hostnames.h"
#include "kueue/job_entry.h"
#include "kueue/limit_bounds.h"
#include "kueue/pod_defaults.h"
#include "kueue/pod_groups.h"
#include "kueue/started_pod.h"
#include "kueue/strays.h"
#include "live/account.h"
#include "live/agenda.h"

namespace gantree::kueue {

// The key of the job that a group of pods is.
[[nodiscard]] std::string group_job(std::string_view group);

// What the API server does not let us do, twice in a row.
struct Complaint {
  ObjectRef about;
  std::string sentence;
  std::string_view reason = "WriteRefused";
};

// A Workload that was deleted while pods of it run, or are on their way out: its quota is in use until they are gone.
struct Departed {
  Admission admission = {};
  std::map<std::string, int> given_back = {};    // pods by pod set that were over by then
  std::map<std::string, std::string> pods = {};  // uids of the others by key
  std::optional<Time> since = {};                // somebody waits for it
  QuotaDemand used = {};                         // booked
};

struct Ledger {
  explicit Ledger(Account& shared) : account(shared), hostnames(shared.cluster.inventory()) {}

  Account& account;
  Family* family = nullptr;  // whose gangs the Workloads are
  Cluster& cluster = account.cluster;
  Quota& quota = account.quota;
  WaitingLines& lines = account.lines;  // those that wait
  Budgets& budgets = account.budgets;
  bool& room_changed = account.room_changed;
  std::set<QuotaId>& freed_quota = account.freed_quota;
  Hostnames hostnames;
  Time began = {};    // when the first object was told of
  Time stepped = {};  // when the last step began

  // What administrators set up.
  std::map<std::string, std::string, std::less<>> admin;  // texts by kind, namespace and name
  Setup setup;                                            // read from those
  std::vector<ShareStrategy> shares;                      // as ControllerOptions has it
  bool requeue_by_creation = false;                       // as ReadyRules has it
  std::unique_ptr<Intake> intake;                         // with what the setup was read
  Neighbour neighbour;
  PodDefaults defaults;
  LimitBounds bounds;
  ClusterDefaults job_defaults;

  // What users set up, and what became of it.
  std::map<std::string, Entry> entries;  // by namespace/name
  std::map<std::string, JobEntry> jobs;  // by kind and namespace/name
  PodGroups groups;
  Strays strays;
  std::map<std::string, StartedPod> pods;  // by namespace/name
  std::map<std::string, std::string> jobs_by_uid;
  std::map<std::string, std::string> workloads_by_owner;          // by uid of the job
  std::map<std::string, std::set<std::string>> pods_by_workload;  // none is empty
  // Pods of groups to which a write that releases them is under way, or done and not seen, whatever became of their
  // Workload since; by Workload, none is empty.
  std::map<std::string, std::set<std::string>> releasing;

  std::map<std::string, Entry*> holders;  // those that were given something and have not ended, as far as booked

  std::map<std::string, std::vector<Departed>> departed;  // by namespace/name; none is empty

  // What is to be looked at.
  std::set<std::string> dirty;            // workloads
  std::set<std::string> dirty_jobs;       // the same
  std::set<std::string> waiting_changed;  // workloads that came to wait, or wait for something else, or do not wait
  std::set<std::string> unbooked;         // workloads whose bookings are out of date
  std::set<std::string> places_changed;   // hosts that changed, or in whose domain pods chose other ones
  std::set<std::string> held;             // workloads whose place others have still to leave
  Agenda later;                           // workloads
  Agenda later_jobs;                      // the same
  std::vector<Complaint> complaints;      // that nobody was told of
  std::vector<std::string> made_for;      // jobs whose Workload was made, and that were not told
  bool setup_changed = true;
  bool queues_changed = true;  // what queues tell of themselves may be out of date

  [[nodiscard]] Entry* workload(const std::string& key);
  // The Workload of a job, by uid; nullptr where it has none.
  [[nodiscard]] Entry* workload_of(const std::string& owner_uid);
  // nullptr where its job is not known.
  [[nodiscard]] JobEntry* job_of(const Entry& entry);
  [[nodiscard]] const JobEntry* job_of(const Entry& entry) const;
  // Where a pod is, or is about to be bound by this process; "" where neither.
  [[nodiscard]] std::string_view node_of(const std::string& key, const StartedPod& pod) const {
    return pod.node.empty() && !pod.ended ? cluster.node_of(key) : std::string_view(pod.node);
  }
  [[nodiscard]] const std::set<std::string>& pods_of(const std::string& workload) const;

  [[nodiscard]] QuotaId root_of(QuotaId cell) const { return account.root_of(cell); }

  // What the Workload of a job asks for is to be read anew; by uid of the job.
  void ask_anew(const std::string& owner_uid);
  void no_longer_releasing(const std::string& workload, const std::string& pod);
  // Something of a Workload, its job or its pods has changed.
  void touch(const std::string& workload);
  // The same of jobs, by uid. Those that are not known are not ours.
  void touch_jobs(const std::vector<std::string>& uids);
  // The same of groups of pods.
  void touch_groups(const std::vector<std::string>& groups);
  // Pods may get other defaults. `ns`: where; "" for everywhere.
  void touch_templates(std::string_view ns);
  // Everything is looked at again.
  void touch_all();
  // A job that is gone, or is none of ours any more.
  void forget_job(std::string key);
  // A group of pods of which nothing is left; by the key of its job.
  void forget_group(const std::string& job);
  // Nothing is to be looked at: another decides. Groups of which nothing is left are forgotten.
  void rest();
  // When the next write to a Workload may be tried, where no event comes before.
  void look_again(const Entry& entry, Time now);
  void look_again(const std::string& job, const Guard& guard, Time now);
};

}  // namespace gantree::kueue
