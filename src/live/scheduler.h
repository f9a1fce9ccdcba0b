// The scheduler on a live cluster: events in, decisions out as intended writes, the clock passed in.
//
// It holds a cache and nothing else: all truth is in API objects. Capacity given away by a decision is assumed from
// the moment of the decision until the pod's own event confirms it, or its write fails.
//
// A gang that waits is looked at again when something changes for it: its own objects, or room that came free
// anywhere. Whoever runs already in part goes first, then the order of queue/order.h.
//
// One thread owns it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "dialects/live.h"
#include "live/daemons.h"
#include "live/gang_table.h"
#include "live/object.h"
#include "live/order.h"
#include "live/promises.h"
#include "live/turns.h"
#include "state/cluster.h"

namespace gantree {

struct Notice;

struct SchedulerOptions {
  std::vector<std::string> schedulers = {"gantree", "koord-scheduler", "kai-scheduler"};
  std::string instance = "gantree";  // who writes events
  bool preemption = true;            // gangs of lower priority may be evicted
  // How long a gang may hold room with fewer pods than it needs, when it never had them all.
  std::chrono::milliseconds give_back_after = std::chrono::seconds(30);
};

// An order that is not answered yet.
struct OpenOrder {
  WriteVerb verb = WriteVerb::kPatchStatus;
  std::string pod = {};  // to bind or to evict
  std::string uid = {};
  std::string gang = {};
  int attempts = 1;
  bool uncertain = false;  // an attempt may have been executed
  bool cluster = false;    // the status of what concerns the whole cluster
};

// Room that a gang has been given, and that others have still to leave. Its pods are assumed, so that nobody else gets
// it, and bound when the last of those is gone.
struct Reservation {
  std::vector<std::string> bundle;
  std::vector<std::string> pods;
  std::map<std::string, std::string> blockers;  // pods that are being deleted, with their uids; "" of others' pods
  Time until = {};
};

// A gang of which some pods have nodes and others wait.
struct HalfBound {
  Time since = {};
  std::optional<Time> given_back;  // its pods were told to leave then
};

class LiveScheduler {
 public:
  explicit LiveScheduler(SchedulerOptions options);
  ~LiveScheduler();

  // Who keeps room for pods of ours. Must outlive it, or be taken away (nullptr).
  void rely_on(Promises* promises) { promises_ = promises; }

  // The kinds to watch, core ones included.
  [[nodiscard]] std::vector<ApiKind> kinds() const;

  // An object as it is now. Fails where it is malformed; then what was known of it stays.
  [[nodiscard]] Result<> changed(LiveObject object, Time now);
  void removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name, Time now);

  // Decides what can be decided now, and what has to be told. To be called when all that is known has been handed
  // over, by the leader alone.
  [[nodiscard]] Step step(Time now);
  void answered(std::uint64_t order, Answer answer, std::string_view why, Time now);

  // Another may lead now: all that was decided and not sent is given up; what was sent stays assumed, whatever was
  // answered. Then, as long as that lasts, now and then instead of step(): what changed is not remembered one by one.
  void stop_leading(Time now);
  void stand_by();
  // We have the lease again: what is on its way now may be carried out later than what the watches are about to show.
  void note_under_way();
  // We lead, and have been told of all that happened before we had the lease: what is assumed and was not seen by then
  // was not done, unless it was on its way at that time.
  void start_leading(Time now);

  // The nodes where room came free that was held for pods of DaemonSets: beside its own gangs others may want it.
  [[nodiscard]] std::set<std::string> take_freed_nodes(Time now);

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] const GangTable& table() const { return table_; }

 private:
  using Bundle = std::vector<std::string>;
  // A gang that holds room with which it cannot start, in short of reservations and bindings under way.
  struct Half {
    Submission submission;
    Bundle bundle;
  };

  [[nodiscard]] Result<> pod_changed(LiveObject object, Time now);
  [[nodiscard]] Result<> own_pod_changed(LiveObject object, const NamedObject& named, Time now);
  [[nodiscard]] std::string gang_of(const std::string& ns, const std::string& name, const NamedObject& named);
  void leave(const std::string& key, Time now);
  void pod_removed(const std::string& key, Time now);
  [[nodiscard]] Result<> node_changed(const LiveObject& object, Time now);
  [[nodiscard]] bool volume_changed(const LiveObject& object, json::Value value);
  [[nodiscard]] bool is_ours(std::string_view scheduler) const;
  void touch(const std::string& gang);

  void bind_promised(Time now, Step& step);
  // The gangs of pods that wait for room which is kept for them.
  [[nodiscard]] std::set<std::string> promised_gangs();
  [[nodiscard]] std::vector<Bundle> choose(Time now, Step& step);
  void decide(const std::vector<Bundle>& bundles, Time now, Step& step);
  void set_unreadable_aside(const std::vector<Bundle>& bundles, Time now, Step& step);
  // Why the bundle cannot be looked at as yet; nothing where it can.
  [[nodiscard]] std::optional<Verdict> obstacle(const Bundle& bundle);
  [[nodiscard]] std::vector<json::Document> documents_of(const std::vector<Bundle>& bundles, Step& step);
  [[nodiscard]] std::size_t bytes_of(const Bundle& bundle);
  void settle(const Decision& decision, const Bundle& bundle, Time now, Step& step);
  void bind(const Decision& decision, const Bundle& bundle, Time now, Step& step);
  [[nodiscard]] std::vector<std::string> assume(const Decision& decision, Time now);
  void preempt(Time now, Step& step);
  [[nodiscard]] std::vector<std::string> next_asking();
  [[nodiscard]] std::vector<const std::string*> budgets_of(std::string_view ns) const;
  [[nodiscard]] bool too_many_budgets(std::string_view ns) const;
  void preempt_for(Submission submission, const Bundle& bundle, Time now, Step& step);
  void undo(const Decision& decision, const std::vector<Eviction>& evictions);
  void evict(const Bundle& bundle, std::string_view reason, std::string_view why, Time now, Step& step);
  void give_back(Time now, Step& step);
  void follow_half_bound(Time now);
  [[nodiscard]] bool is_in_flight(const Bundle& bundle);
  [[nodiscard]] std::vector<Half> read_half_bound(Time now, Step& step);
  [[nodiscard]] std::optional<Submission> half_started(const Bundle& bundle, Step& step);
  void resolve(std::vector<Half>& halves, std::size_t which, Time now, Step& step);
  void give_back(const Half& half, std::string_view why, Time now, Step& step);
  [[nodiscard]] bool would_fit(const Submission& submission);
  [[nodiscard]] bool is_given_back(const std::string& gang);
  void keep_reservations(Time now, Step& step);
  [[nodiscard]] bool outranks_somebody(const Bundle& bundle);
  [[nodiscard]] bool is_gone(const std::string& pod, const std::string& uid);
  [[nodiscard]] bool still_good(const Reservation& reservation) const;
  [[nodiscard]] std::vector<Bundle> evictable(std::int64_t below, const std::map<std::string, Bundle>& asking);
  void shield(const std::map<std::string, Bundle>& asking);
  void tell(const Bundle& bundle, Verdict verdict, Time now, Step& step);
  void tell_pods(const LiveGang& gang, const Verdict& verdict, Time now, Step& step);
  void forget(const std::string& pod, Time now);
  void forget_assumed(const std::set<std::string>& pods, Time now);
  void order_again(Time now, Step& step);
  void report_answered(const OpenOrder& open, Answer answer, Time now);
  void binding_answered(const OpenOrder& open, Answer answer, Time now);
  void order_pod(Step& step, WriteVerb verb, const std::string& pod, int attempts, bool uncertain = false);
  void report(Time now, Step& step);
  // Whether nobody who starts together with that gang has a node.
  [[nodiscard]] bool is_idle(const std::string& id);
  void report_cluster(Time now, Step& step);
  void read_config(Step& step);
  void remark(Step& step, const std::vector<Error>& faults);
  void order(Step& step, Urgency urgency, Write write, OpenOrder open = {});
  void notify(Step& step, const Notice& notice, Time now);

  SchedulerOptions options_;
  std::vector<std::unique_ptr<LiveDialect>> dialects_;
  Cluster cluster_;
  Daemons daemons_{cluster_};
  GangTable table_;
  Turns turns_;
  Volumes volumes_;
  std::unordered_map<std::string, std::size_t> node_texts_;  // hashes, to pass over heartbeats
  std::map<std::string, std::string, std::less<>> config_;   // texts of what concerns the whole cluster, by key
  std::map<std::string, std::string, std::less<>> budgets_;  // texts of PodDisruptionBudgets, by namespace/name
  Promises* promises_ = nullptr;
  std::set<std::string> queued_;      // pods of queues that want a place
  std::set<std::string> dirty_;       // gangs that changed since they were looked at
  std::set<std::string> unreported_;  // gangs whose status may be out of date
  bool config_changed_ = true;
  bool stood_by_ = false;   // changes were not remembered one by one
  bool room_grew_ = false;  // since all that waits was looked at
  std::map<std::uint64_t, OpenOrder> open_;
  std::set<std::string> under_way_;              // pods that were being bound when we had the lease
  std::multimap<Time, OpenOrder> again_;         // refused orders by when to try again; their room is kept meanwhile
  std::multimap<Time, std::string> look_again_;  // gangs by when to look at them again, whatever happens
  std::set<std::string> going_;                  // pods on a node that are being deleted, anyone's
  std::set<std::string> crowded_out_;            // gangs that wait for room and may be worth an eviction
  std::map<std::string, LinePlace, std::less<>> asked_last_;  // of those, by namespace
  std::map<std::string, HalfBound> half_bound_;               // by the first gang of the bundle
  Time next_give_back_ = {};
  std::vector<Reservation> reservations_;
  Time next_preemption_ = {};
  Time all_tried_at_ = {};
  std::uint64_t next_order_ = 1;
  std::uint64_t events_ = 0;
  std::set<std::string> remarked_;  // said once
  std::optional<std::uint64_t> reported_structure_;
  Time cluster_reported_at_ = {};
};

}  // namespace gantree
