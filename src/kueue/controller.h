// Kueue's jobs on a live cluster: they wait in queues, are admitted under quota and topology in one step, started, told
// where each pod goes, and stopped again. Events in, intended writes out, the clock passed in.
//
//   job ──► Workload ──► waits ──► admitted ──► job started ──► pods ungated, each to its slot ──► finished
//                          ▲          │ evicted
//                          └──────────┘ once its pods are gone
//
// All truth is in API objects: what a Workload has been given is in its status. Between the decision and the event that
// shows it, it is assumed. Room is held in the cluster by placeholders: one for each assigned pod that has no node yet.
//
// One thread owns it: the one that owns the cluster.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "dialects/dialects.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/neighbour.h"
#include "dialects/live.h"
#include "kueue/guard.h"
#include "kueue/job.h"
#include "kueue/pod_groups.h"
#include "kueue/queue_reporter.h"
#include "kueue/queue_status.h"
#include "kueue/workload_body.h"
#include "kueue/workload_object.h"
#include "live/object.h"
#include "live/order.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {
struct Notice;
}

namespace gantree::kueue {

// What happens to jobs whose pods do not all become ready.
struct ReadyRules {
  std::chrono::milliseconds timeout{0};       // after admission; 0: they are waited for without end
  std::chrono::milliseconds recovery{0};      // after having been ready; 0: the same
  int limit = -1;                             // times that a job is queued again; below 0: without end
  std::chrono::milliseconds backoff{60'000};  // before the first; doubles each time
  std::chrono::milliseconds longest_backoff{3'600'000};
};

struct ControllerOptions {
  std::string instance = "gantree";  // who writes events
  ReadyRules ready = {};
};

// So many pods on a host, by name.
struct HostCount {
  std::string node;
  int count = 0;
};

// A pod of a job that was started.
struct StartedPod {
  std::string uid;
  std::string workload;  // namespace/name
  std::string set;
  std::string node;  // "" where it is not bound
  bool gated = false;
  bool deleting = false;
  bool ended = false;
  bool succeeded = false;  // it will not be replaced
  bool held = false;       // behind the gate of admission: it carries no marks of ours yet
  bool spent = false;      // of a group, and has succeeded: nobody takes its slot
  std::string group;       // uid of the group of a held pod
  std::map<std::string, std::string, std::less<>> marks;     // labels, else annotations, of a gated pod
  std::map<std::string, std::string, std::less<>> selector;  // of a pod that has no node
  std::optional<std::size_t> slot;  // domain of the assignment to which we sent it, not seen yet
  bool asked = false;               // a write of ours to it is under way, or done and not seen
};

// The reason of the condition Evicted where a job is not queued again.
inline constexpr std::string_view kGivenUp = "DeactivatedDueToRequeuingLimitExceeded";

// Where its user has suspended the job: it waits for the user, and is in no queue; and where that is over.
inline constexpr std::string_view kSuspendedByUser = "Suspended";
inline constexpr std::string_view kResumedByUser = "Resumed";

// The reason of QuotaReserved=False where it asks for what makes no sense.
inline constexpr std::string_view kInadmissible = "Inadmissible";

// Why a Workload has to give back what it was given.
struct Removal {
  std::string_view reason;  // of the condition Evicted
  std::string message;
  std::string_view preempted = {};      // reason of the condition Preempted; "" where nobody takes its place
  std::optional<Time> requeue_at = {};  // not to be queued again before, since it did not start in time
};

struct Entry {
  WorkloadObject object;
  std::vector<QuotaDemand> least = {};        // by alternative: what it needs of quota to start at all
  std::uint64_t tried_with_room = 0;          // state of the room when it was last tried
  bool missed = false;                        // it could not be tried, since a write of ours was not seen yet
  int fruitless = 0;                          // times that no victims were found for it, in a row
  Time preempts_at = {};                      // not before that somebody is evicted for it
  std::optional<Submission> submission = {};  // nothing where it is to be made anew
  std::optional<Admission> assumed = {};      // decided and not seen yet
  bool sent = false;                          // what is assumed was written
  std::set<std::string> blockers = {};        // workloads that have to leave before it is
  std::optional<Removal> evicting = {};       // wanted, and not seen yet
  std::map<std::string, std::vector<HostCount>> hosts = {};  // by pod set: where the decision placed them
  QuotaDemand used = {};                                     // booked
  std::vector<std::string> placeholders = {};                // booked
  Guard guard = {};
  std::optional<Verdict> verdict = {};
  std::optional<Verdict> told = {};
  Time told_at = {};
  Time waits_since = {};

  [[nodiscard]] const std::optional<Admission>& admission() const { return assumed ? assumed : object.admission; }
  [[nodiscard]] bool waits() const;
  // Its user has suspended the job.
  [[nodiscard]] bool suspended() const {
    return object.holds(kEvicted) && object.condition(kEvicted)->reason == kSuspendedByUser;
  }
  [[nodiscard]] bool leaves() const { return evicting || (object.admission && object.holds(kEvicted)); }
  [[nodiscard]] std::string key() const { return object.ref.ns + "/" + object.ref.name; }
};

// Stands for the version of an object that is not seen yet.
inline constexpr std::string_view kMade = "made";

// The places of an assignment while they are given out. Positions are those of its domains.
struct Slots {
  std::vector<int> left = {};
  std::vector<std::size_t> by_rank = {};
  std::set<std::size_t> lost = {};  // on hosts that are of no use any more

  [[nodiscard]] std::optional<std::size_t> any() const {
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] > 0 && !lost.contains(i)) {
        return i;
      }
    }
    return std::nullopt;
  }
};

struct JobEntry {
  const JobKind* kind = nullptr;  // of an object; nullptr where pods wait by themselves
  std::string group;              // those pods
  ObjectRef ref;
  std::string resource_version;
  std::string text;
  JobProgress progress;
  Guard guard;
  bool ran = false;  // was seen to run since it was last admitted
  int follows = 0;   // times that its Workload was told of this version of it
  Guard creation;    // of its Workload, which shows in that, and not in the job
};

// The node that carries a hostname; its own name in nearly all clusters, and where there is none.
[[nodiscard]] std::string node_named(const Inventory& inventory, const std::string& hostname);

// The key of the job that a group of pods is.
[[nodiscard]] std::string group_job(std::string_view group);

class Controller {
 public:
  // The cluster must outlive it.
  Controller(Cluster& cluster, ControllerOptions options);
  ~Controller();

  // The kinds to watch beside nodes and pods.
  [[nodiscard]] static std::vector<ApiKind> kinds();
  // Whether objects of a kind are told to this alone.
  [[nodiscard]] static bool owns(std::string_view group, std::string_view kind);

  // An object as it is now: of kinds(), or a pod. Fails where it is malformed; then what was known of it stays.
  [[nodiscard]] Result<> changed(const LiveObject& object, Time now);
  void removed(std::string_view kind, std::string_view ns, std::string_view name, Time now);
  // A node came, went or changed.
  void node_changed(std::string_view name) {
    room_changed_ = true;
    changed_nodes_.emplace(name);
  }

  // Decides what can be decided now. By the leader alone.
  [[nodiscard]] Step step(Time now);
  void answered(std::uint64_t order, Answer answer, std::string_view why, Time now);
  void stop_leading();
  // Instead of step(), as long as another leads: keeps the bookings true.
  void stand_by();

  [[nodiscard]] const std::map<std::string, Entry>& workloads() const { return entries_; }
  [[nodiscard]] const Quota& quota() const { return quota_; }
  [[nodiscard]] const Setup& setup() const { return setup_; }
  // Reads what was told and decides nothing, for those who only look on. What is wrong with it.
  [[nodiscard]] std::vector<std::string> look();
  // What every queue should say of itself now.
  [[nodiscard]] QueueStatuses queue_statuses() const;

 private:
  struct OpenOrder {
    std::string workload;  // "" where the write was not to one
    std::string job;
    std::string pod;
    bool admission = false;
    bool creation = false;  // of the Workload of the job
    std::string queue = {};
    std::string member = {};  // pod of a group
  };

  [[nodiscard]] Result<> workload_changed(const LiveObject& object);
  [[nodiscard]] Result<> job_changed(const LiveObject& object);
  [[nodiscard]] Result<> pod_changed(const LiveObject& object);
  void take_pod(const std::string& key, StartedPod pod);
  [[nodiscard]] bool is_sent_to_a_host(const StartedPod& pod) const;
  void forget_slots(const std::string& workload);
  void pod_removed(const std::string& key);
  void touch(const std::string& workload);
  // Everything is looked at again.
  void start_over();

  void read_setup(Step& step);
  // Brings the bookings of a Workload up to date with what it has been given and what of it runs.
  void book(Entry& entry);
  void unbook(Entry& entry);
  void book_all();
  // `given_back`: pods by pod set that are over.
  [[nodiscard]] QuotaDemand quota_of(const Admission& admission, const std::map<std::string, int>& given_back) const;
  [[nodiscard]] std::vector<HostCount> hosts_of(const Entry& entry, const SetAssignment& set);

  void reconcile_job(const std::string& key, Time now, Step& step);
  void resume(Entry& entry, Time now, Step& step);
  void follow(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step);
  void make_workload(JobEntry& job, const std::string& key, Step& step);
  void create(JobEntry& job, const std::string& key, WorkloadSeed seed, const std::vector<SetSpec>& sets, Step& step);
  void start_job(JobEntry& job, const std::string& key, const Entry& entry, Step& step);
  void stop_job(JobEntry& job, const std::string& key, Step& step);
  void add_flavors(const SetAssignment& assigned, SetStart& start) const;
  void patch_job(JobEntry& job, const std::string& key, json::Out::Array patch, Step& step);

  void admit(Time now, Step& step);
  [[nodiscard]] bool past_its_queue(const Entry& entry) const;
  [[nodiscard]] const Submission& submission_for(Entry& entry);
  [[nodiscard]] std::vector<Entry*> candidates(Time now);
  [[nodiscard]] bool worth_trying(const Entry& entry) const;
  [[nodiscard]] bool within_quota(const Entry& entry) const;
  [[nodiscard]] bool strict(const Entry& entry) const;
  void try_all(std::vector<Entry*> candidates, Time now, Step& step);
  void settle(const Decision& decision, Time now, Step& step);
  void write_admitted(Entry& entry, Time now, Step& step);
  void preempt(Time now, Step& step);
  [[nodiscard]] std::vector<Entry*> crowded_out(Time now, Step& step);
  void preempt_for(Entry& entry, const std::map<GangKey, RunningGang>& running, Time now, Step& step);
  [[nodiscard]] std::optional<RunningGang> running_gang(const Entry& entry);
  void hold(Entry& entry, Time now, Step& step);
  void evict(Entry& entry, Removal removal, Time now, Step& step);
  [[nodiscard]] Admission admission_of(const Entry& entry, const Decision& decision);
  void assume(Entry& entry, const Decision& decision);

  void reconcile(const std::string& key, Time now, Step& step);
  void tell_waiting(Entry& entry, Time now, Step& step);
  [[nodiscard]] bool may_tell(Time now);
  void reject(Entry& entry, Time now, Step& step);
  void look_after(Entry& entry, const JobEntry* job, Time now, Step& step);
  void release(Entry& entry, const JobEntry* job, Time now, Step& step);
  void write_eviction(Entry& entry, Time now, Step& step);
  void watch_readiness(Entry& entry, const JobEntry& job, Time now, Step& step);
  void give_up_waiting(Entry& entry, bool recovering, Time now, Step& step);
  void deactivate(Entry& entry, Step& step);
  // `fields` of the status beside the conditions. Does nothing where all is so already.
  void write_status(Entry& entry, const std::vector<Wanted>& wanted, json::Out::Object fields, Time now, Step& step,
                    Urgency urgency = Urgency::kStatus);

  // Puts the pods of hosts that are of no use any more elsewhere. Returns whether there was something to do.
  bool mend(Entry& entry, Time now, Step& step);
  [[nodiscard]] bool is_lost(const Entry& entry, const SetAssignment& set, const std::string& node);
  void touch_users_of_changed_nodes();
  [[nodiscard]] bool place_again(const Alternative& alternative,
                                 const std::map<std::size_t, std::set<std::size_t>>& lost, Admission& admission,
                                 Entry& entry);
  void book_kept(Entry& entry, const std::map<std::size_t, std::set<std::size_t>>& lost);
  [[nodiscard]] std::string hostname_of(NodeId node) const;

  void groups_changed(const std::vector<std::string>& groups);
  void reconcile_group(const std::string& key, Time now, Step& step);
  void make_group_workload(JobEntry& job, const std::string& key, PodGroup& group, Time now, Step& step);
  void check_group(PodGroup& group, Entry& entry, Time now, Step& step);
  // Where the last pod is gone.
  void end_group(const std::string& key, PodGroup& group, Entry* entry, Time now, Step& step);
  void remove_workload(Entry& entry, Time now, Step& step);
  void remove_released(PodGroup& group, Step& step);
  void let_go(PodGroup& group, Step& step);
  void tell_excess(PodGroup& group, const std::map<std::string, int>& counts, Time now, Step& step);
  // `domain`: where it is to go; nullptr where that is for the scheduler to say.
  void release_pod(const std::string& key, const Entry& entry, const SetAssignment& set, const AssignedDomain* domain,
                   Step& step);
  void release_set(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members, Step& step);

  void ungate(const std::string& key, Entry& entry, Step& step);
  void leave_given_back(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members,
                        std::vector<int>& left);
  void remove_stranded_pods(const Entry& entry, Step& step);
  [[nodiscard]] std::vector<std::string> take_used(const TopologyAssignment& assignment,
                                                   const std::vector<std::string>& members, Slots& slots) const;
  [[nodiscard]] std::vector<std::string> give_by_rank(const Entry& entry, const SetAssignment& set,
                                                      const std::vector<std::string>& gated, Slots& slots);
  void ungate_set(Entry& entry, const SetAssignment& set, const std::vector<std::string>& pods, Step& step);
  void report_queues(Time now, Step& step);
  // Why a Workload that has quota has to go because its queue is stopped; nothing where it may stay.
  [[nodiscard]] std::optional<Drain> drain(const Entry& entry) const;
  // Whether it was sent away by a stopped queue that runs again, and has not been told.
  [[nodiscard]] std::optional<Wanted> queued_again(const Entry& entry) const;

  std::uint64_t order(Step& step, Urgency urgency, Write write, OpenOrder open);
  void notify(Step& step, const Notice& notice, Time now);

  ControllerOptions options_;
  Cluster& cluster_;
  Quota quota_;
  Setup setup_;
  std::unique_ptr<Intake> intake_;                         // with what the setup was read
  std::map<std::string, std::string, std::less<>> admin_;  // texts by kind, namespace and name
  std::vector<json::Document> admin_documents_;            // what the setup points into
  std::map<std::string, Entry> entries_;                   // by namespace/name
  std::map<std::string, JobEntry> jobs_;                   // by kind and namespace/name
  std::map<std::string, std::string> jobs_by_uid_;
  std::map<std::string, std::string> workloads_by_owner_;  // by uid of the job
  PodGroups groups_;
  std::map<std::string, StartedPod> pods_;                // by namespace/name
  std::map<std::string, std::set<std::string>> pods_of_;  // by workload
  std::set<std::string> dirty_;                           // workloads to look at
  std::set<std::string> waiting_changed_;                 // workloads that came to wait, or wait for something else
  std::set<std::string> dirty_jobs_;
  std::set<std::string> unbooked_;  // workloads whose bookings are out of date
  std::set<std::string> changed_nodes_;
  std::set<std::string> held_;                   // workloads whose place others have still to leave
  std::multimap<Time, std::string> later_;       // workloads to look at again
  std::multimap<Time, std::string> later_jobs_;  // the same
  std::map<std::uint64_t, OpenOrder> open_;
  std::set<std::string> remarked_;
  Neighbour neighbour_;
  QueueReporter reporter_;
  bool setup_changed_ = true;
  bool room_changed_ = true;
  std::uint64_t room_ = 1;  // grows whenever room or quota may have come free
  Time preempts_at_ = {};
  double tells_ = 0;
  Time tells_since_ = {};
  std::uint64_t next_order_ = std::uint64_t{1} << 62U;  // apart from those of the scheduler
  std::uint64_t events_ = 0;
};

}  // namespace gantree::kueue
