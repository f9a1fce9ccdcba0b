// Gangs of pods, and pods of no gang, on a live cluster: events in, intended writes out, the clock passed in.
//
// It holds a cache and nothing else: all truth is in API objects. Capacity given away by a decision is assumed from
// the moment of the decision until the pod's own event confirms it, or its write fails.
//
// It is a family among others: its gangs stand in the lines of the account that it keeps for all families, and the
// Decider says who starts and who is evicted. What a gang asks for is read when its objects change, and kept.
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
#include "live/account.h"
#include "live/decider.h"
#include "live/family.h"
#include "live/object.h"
#include "live/order.h"
#include "live/promises.h"
#include "pods/daemons.h"
#include "pods/gang_table.h"
#include "pods/quota_use.h"
#include "pods/turns.h"
#include "state/cluster.h"

namespace gantree {

struct Notice;
struct Preemptor;

struct PodOptions {
  std::vector<std::string> schedulers = default_schedulers();
  std::string instance = "gantree";  // who writes events
  bool preemption = true;            // gangs of lower priority may be evicted
  // How long a gang may hold room with fewer pods than it needs, when it never had them all.
  std::chrono::milliseconds give_back_after = std::chrono::seconds(30);
};

// The texts of all pods that start together. Read, they take several times as much.
inline constexpr std::size_t kHeaviestBundle = 32U << 20U;

// An order that is not answered yet.
struct OpenOrder {
  WriteVerb verb = WriteVerb::kPatchStatus;
  std::string pod = {};  // to bind or to evict
  std::string uid = {};
  std::string gang = {};
  std::string body = {};
  int attempts = 1;
  bool uncertain = false;  // an attempt may have been executed
  bool cluster = false;    // the status of what concerns the whole cluster
  std::string queue = {};  // the status of that one
};

// Gangs that start together, as one that asks. The first of them names it.
struct GangWaiter : Waiter {
  std::vector<std::string> bundle = {};
  bool asks = false;  // what it asks for has been read, and it may be tried
  // Pods that are assumed in room which others have still to leave. They are bound when the last of those is gone.
  std::vector<std::string> held = {};
  Time held_since = {};
};

// Pods of ours that were evicted for a gang, by key, with their uids.
struct Evicted {
  std::string gang;  // the first one, where several start together
  std::map<std::string, std::string> pods;
  Time since = {};
  // Of its quota, where only pods above its minimum go; nothing: all of it.
  std::optional<QuotaDemand> used = {};
};

// A pod of another scheduler that has no node, and names one where room is made for it.
struct Nomination {
  std::string uid;
  std::string node;
  std::int64_t priority = 0;
  bool cleared = false;  // by us, which is not seen yet: its room is not booked
};

// A gang that runs, as it was read.
struct ReadRunning {
  std::optional<RunningGang> gang;               // nothing where it could not be read
  std::vector<std::pair<LabelMap, int>> labels;  // as Victim has it
  bool labelled = false;                         // whether those were read
  bool stale = false;
};

// A gang of which some pods have nodes and others wait.
struct HalfBound {
  Time since = {};
  std::optional<Time> given_back = {};                     // its pods were told to leave then
  std::optional<std::chrono::milliseconds> patience = {};  // how long it may be so, where it says that itself
};

class PodFamily final : public Family {
 public:
  // On the account of all families, which must outlive it. Who decides for all calls begin(), decides, and calls
  // finish(); step() is for one that is alone.
  PodFamily(Account& account, PodOptions options);
  // Alone, on a cluster of its own.
  explicit PodFamily(PodOptions options);
  ~PodFamily() override;

  // Who keeps room for pods of ours. Must outlive it, or be taken away (nullptr).
  void rely_on(Promises* promises) { promises_ = promises; }

  // Gangs of families with queues, and pods that carry their marks, are somebody else's to place for now.
  void leave_queues_alone(bool alone);

  // The kinds to watch, core ones included.
  [[nodiscard]] std::vector<ApiKind> kinds() const;
  // Whether objects of a kind matter here.
  [[nodiscard]] bool takes(std::string_view group, std::string_view kind) const;

  // An object as it is now. Fails where it is malformed; then what was known of it stays.
  [[nodiscard]] Result<> changed(LiveObject object, Time now);
  void removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name, Time now);

  // What happened is taken in, and who asks stands in line; then it is decided for all families, and what follows from
  // it is written and told. To be called when all that is known has been handed over, by the leader alone.
  void begin(Time now, Step& step);
  void finish(Time now, Step& step);
  // Both, and the decision between them.
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

  [[nodiscard]] std::vector<Waiter*> take_changed() override;
  void prepare(Waiter&) override {}
  [[nodiscard]] bool waits(const Waiter& waiter) const override;
  [[nodiscard]] bool stays_out(const Waiter&, Time) const override { return false; }
  [[nodiscard]] bool put_off(Waiter&, Time) override { return false; }
  [[nodiscard]] bool is_busy(const Waiter&, Time) const override { return false; }
  void told(Waiter& waiter, Time now, Step& step) override;
  void grant(Waiter& waiter, const Decision& decision, Time now, Step& step) override;
  void hold(Waiter& waiter, const Decision& decision, Time now) override;
  [[nodiscard]] std::set<std::string> held_hosts(const Waiter& waiter) const override;
  [[nodiscard]] bool waits_for(const std::string& leaver) const override;
  void add_victims(std::int64_t below, std::vector<Victim>& victims) override;
  void add_usage(std::vector<RunningGang>& running, std::vector<QuotaDemand>& leaving) const override;
  [[nodiscard]] std::optional<std::int64_t> lowest_running() const override { return table_.lowest_bound(); }
  void add_leavers(Time now, std::vector<Leaver>& leavers) override;
  [[nodiscard]] bool still_leaves(const std::string& id) const override;
  void make_way(const std::set<std::string>& hosts, std::int64_t priority, Step& step) override;
  Leaver evict(const RunningGang& victim, const Waiter& by, const Eviction& eviction, Time now, Step& step) override;

 private:
  using Bundle = std::vector<std::string>;
  // Who is alone keeps the account and decides itself.
  struct Alone {
    Cluster cluster = {};
    Account account{cluster};
    Decider decider{account};
  };
  // A gang that holds room with which it cannot start, in short of holds and bindings under way.
  struct Half {
    Submission submission;
    Bundle bundle;
    std::optional<std::chrono::milliseconds> patience = {};
  };

  [[nodiscard]] Result<> pod_changed(LiveObject object, Time now);
  [[nodiscard]] Result<> own_pod_changed(LiveObject object, const NamedObject& named, Time now);
  [[nodiscard]] std::string gang_of(const std::string& ns, const std::string& name, const NamedObject& named);
  void read_marks(const NamedObject& named, bool alone, PodNeeds& needs) const;
  void leave(const std::string& key, Time now);
  void pod_removed(const std::string& key, Time now);
  [[nodiscard]] Result<> node_changed(const LiveObject& object, Time now);
  [[nodiscard]] bool volume_changed(const LiveObject& object, json::Value value);
  [[nodiscard]] bool is_ours(std::string_view scheduler) const;
  void note_config(std::string_view group, std::string_view kind);
  void touch(const std::string& gang);
  void touch_waiting(bool anew);

  void bind_promised(Time now, Step& step);
  // The gangs of pods that wait for room which is kept for them.
  [[nodiscard]] std::set<std::string> promised_gangs();
  // Who asks, and for what, as far as that may have changed.
  void refresh(Time now, Step& step);
  // Those of the changed ones whose turn it is to be read.
  [[nodiscard]] std::vector<Bundle> choose(Time now, Step& step);
  [[nodiscard]] bool may_be_read(const Bundle& bundle, Time now, std::set<std::string>& later, Step& step);
  void note_promised();
  void read(const std::vector<Bundle>& bundles, Time now, Step& step);
  [[nodiscard]] Result<Reading> read_alone(const Bundle& bundle, Step& step);
  void take_submission(Submission submission, const Bundle& bundle, Time now, Step& step);
  void set_unreadable_aside(const std::vector<Bundle>& bundles, Time now, Step& step);
  // The one of the bundle, from now on; and that it does not ask.
  [[nodiscard]] GangWaiter& waiter_of(const Bundle& bundle);
  void retire(const Bundle& bundle);
  void part_from_others(const Bundle& bundle, std::set<std::string>& orphans);
  // Why the bundle cannot be looked at as yet; nothing where it can.
  [[nodiscard]] std::optional<Verdict> obstacle(const Bundle& bundle);
  [[nodiscard]] std::vector<json::Document> documents_of(const std::vector<Bundle>& bundles, Step& step);
  [[nodiscard]] std::size_t bytes_of(const Bundle& bundle);
  [[nodiscard]] std::vector<std::string> assume(const Decision& decision, Time now);
  // Writes down what the pods of a gang are told of their places when they are bound; in the order of the decision.
  void tell_places(const Decision& decision, const std::vector<std::string>& pods);
  void settle_on(const std::string& pod, const std::string& node, Time now);
  // A pod of another scheduler, as it is now; `pod`: nullptr where it has ended.
  void note_nomination(const std::string& key, const NamedObject& named, const PodRecord* pod);
  // Takes nominations away that are not so any more, where that was tried before and failed.
  void clear_own_nominations(Time now, Step& step);
  // Holds, for gangs that wait for others to leave, the room that their pods name.
  void restore_held(Time now, Step& step);
  void restore_held(const Bundle& bundle, const std::vector<Leaver>& leaving, Time now, Step& step);
  [[nodiscard]] bool assume_nominated(const std::string& pod, Time now);
  [[nodiscard]] bool lacks_pods(const Bundle& bundle, bool as_is, Step& step);

  [[nodiscard]] std::vector<Bundle> evictable(std::int64_t below);
  void read_running(const std::vector<Bundle>& bundles);
  // What gangs with queues use of quota, as far as that may have changed.
  void measure();
  [[nodiscard]] bool is_of_queues(std::string_view gang) const;
  [[nodiscard]] bool is_left_alone(const std::string& gang);
  [[nodiscard]] std::size_t hash_of_holders(const LiveGang& gang);
  void set_up_queues(const Quota& queues);
  // The gang's room and quota were booked, and its pods assumed.
  [[nodiscard]] std::vector<std::string> take_over(GangWaiter& waiter, const Decision& decision, Time now);
  [[nodiscard]] bool shielded(const Bundle& bundle) const;
  void undo(const Decision& decision);
  [[nodiscard]] Preemptor preemptor_of(const Waiter& waiter);
  // `by`: who preempts it; nullptr where it goes for nobody in particular.
  void evict(const Bundle& bundle, std::string_view reason, std::string_view why, const Preemptor* by, Time now,
             Step& step);
  // The same with some of its pods: it goes on without them.
  Leaver evict_spare(const Bundle& bundle, const RunningGang& victim, const Waiter& by, const Eviction& eviction,
                     Time now, Step& step);
  void tell_to_leave(const std::string& pod, std::string_view reason, std::string_view why, const Preemptor* by,
                     Time now, Step& step);
  // The quota of a gang, without that of pods above its minimum that leave.
  [[nodiscard]] QuotaDemand used_by_rest(const std::string& gang) const;
  void give_back(Time now, Step& step);
  void follow_half_bound(Time now);
  [[nodiscard]] bool is_in_flight(const Bundle& bundle);
  [[nodiscard]] std::vector<Half> read_half_bound(Time now, Step& step);
  [[nodiscard]] std::optional<Half> half_started(const Bundle& bundle, Step& step);
  [[nodiscard]] std::chrono::milliseconds patience_of(const HalfBound& half) const {
    return half.patience.value_or(options_.give_back_after);
  }
  void resolve(std::vector<Half>& halves, std::size_t which, Time now, Step& step);
  void give_back(const Half& half, std::string_view why, Time now, Step& step);
  [[nodiscard]] bool would_fit(Submission submission);
  [[nodiscard]] bool is_given_back(const std::string& gang);
  void keep_held(Time now, Step& step);
  // Whether that was the end of it.
  bool keep_held(GangWaiter& waiter, Time now, Step& step);
  void follow_evicted();
  [[nodiscard]] bool is_gone(const std::string& pod, const std::string& uid);
  [[nodiscard]] bool still_good(const std::vector<std::string>& pods) const;
  void tell_waiting(Time now, Step& step);
  void tell(const Bundle& bundle, Verdict verdict, Time now, Step& step);
  void add_delay(const Bundle& bundle, Verdict& verdict, Time now);
  void tell_pods(const LiveGang& gang, const Verdict& verdict, Time now, Step& step);
  void forget(const std::string& pod, Time now);
  void forget_assumed(const std::set<std::string>& pods, Time now);
  void order_again(Time now, Step& step);
  void report_answered(const OpenOrder& open, Answer answer, Time now);
  void binding_answered(const OpenOrder& open, Answer answer, Time now);
  // Requires that the pod is known; uid and gang are filled in.
  void order_pod(Step& step, OpenOrder open);
  void report(Time now, Step& step);
  // Whether nobody who starts together with that gang has a node.
  [[nodiscard]] bool is_idle(const std::string& id);
  void report_cluster(Time now, Step& step);
  void report_queues(Time now, Step& step);
  void read_config(Step& step);
  void remark(Step& step, const std::vector<Error>& faults);
  void order(Step& step, Urgency urgency, Write write, OpenOrder open = {});
  void notify(Step& step, const Notice& notice, Time now);

  PodFamily(std::unique_ptr<Alone> alone, PodOptions options);

  PodOptions options_;
  std::vector<std::unique_ptr<LiveDialect>> dialects_;
  std::vector<ApiKind> kinds_;
  std::unique_ptr<Alone> alone_;  // nullptr where others share the account
  Account& account_;
  Cluster& cluster_;
  Daemons daemons_{cluster_};
  GangTable table_;
  QuotaUse quota_use_{account_};
  std::set<std::string> unmeasured_;             // gangs of which what they use of quota may have changed
  std::map<std::string, std::size_t> measured_;  // hashes of what held room when they were measured
  Turns turns_;
  Volumes volumes_;
  std::unordered_map<std::string, std::size_t> node_texts_;  // hashes, to pass over heartbeats
  std::map<std::string, std::string, std::less<>> config_;   // texts of what concerns the whole cluster, by key
  Promises* promises_ = nullptr;
  std::set<std::string> queued_;      // pods of queues that want a place
  std::set<std::string> promised_;    // gangs that were left to those who keep room for their pods
  std::set<std::string> dirty_;       // gangs that changed since they were read
  std::set<std::string> unreported_;  // gangs whose status may be out of date
  bool config_changed_ = true;
  bool volumes_changed_ = false;
  bool leaves_queues_alone_ = false;
  bool stood_by_ = false;                         // changes were not remembered one by one
  std::optional<std::uint64_t> read_structure_;   // of the nodes, when what waits was read
  std::map<std::string, GangWaiter> waiters_;     // by the first gang of the bundle
  std::map<std::string, std::string> asks_with_;  // the other gangs of those bundles: the first one
  std::set<std::string> holding_;                 // those of them that hold room which others have still to leave
  std::set<std::string> changed_;                 // those of them that take_changed() has to tell of
  std::set<std::string> untold_;                  // those of them that have still to be told why they wait
  std::map<std::string, std::shared_ptr<ReadRunning>> running_;  // gangs that run, by gang; as far as they were read
  std::map<std::string, Evicted> evicted_;                       // by id; see Leaver
  std::map<std::uint64_t, OpenOrder> open_;
  std::set<std::string> under_way_;              // pods that were being bound when we had the lease
  std::multimap<Time, OpenOrder> again_;         // refused orders by when to try again; their room is kept meanwhile
  std::multimap<Time, std::string> look_again_;  // gangs by when to look at them again, whatever happens
  std::map<std::string, Time> going_;            // pods on a node that are being deleted, anyone's; since when
  std::map<std::string, Nomination> nominated_;  // of pods of other schedulers, by pod
  std::set<std::string> own_nominated_;          // pods of ours that name a node in their status and have none
  bool restores_ = true;                         // holds have still to be restored from what pods say
  std::map<std::string, HalfBound> half_bound_;  // by the first gang of the bundle
  Time next_give_back_ = {};
  std::uint64_t events_ = 0;
  std::set<std::string> remarked_;  // said once
  std::optional<std::uint64_t> reported_structure_;
  Time cluster_reported_at_ = {};
  std::map<std::string, std::string> told_queues_;  // what the status of queues was told last, by their config's key
  bool figures_changed_ = false;                    // what queues tell of themselves may be out of date
  Time queues_reported_at_ = {};
};

}  // namespace gantree
