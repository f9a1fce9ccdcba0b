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
// What is known is in the Ledger; each duty is a class of its own beside it, and step() says in which order they have
// their turns:
//
//   EventReader, PodReader, SetupReader   what the watches tell
//   JobReconciler, GroupReconciler        Workloads are made; jobs are started, stopped, followed
//   QueueFamily                           Workloads as gangs: the Decider (live/decider.h) says who starts, and who
//                                         is evicted for whom
//   Grants, Booking, Evictions            what is given, what is held, what comes back
//   WorkloadReconciler                    one Workload: Ungater, HostReplacement, Readiness, PendingReporter
//   StatusWriter, QueueReporter, Outbox   what is written
//
// One thread owns it: the one that owns the cluster.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "dialects/kueue/admin.h"
#include "dialects/object.h"
#include "kueue/entry.h"
#include "kueue/queue_status.h"
#include "kueue/readiness.h"
#include "live/account.h"
#include "live/object.h"
#include "live/order.h"
#include "live/promises.h"
#include "queue/quota.h"
#include "state/cluster.h"

namespace gantree::kueue {

struct ControllerOptions {
  std::string instance = "gantree";  // who writes events
  ReadyRules ready = {};
  std::vector<ShareStrategy> shares = {};  // by which fair sharing evicts, in the order tried; none: it does not
  bool ignore_checks = false;  // admission checks are taken to pass; otherwise queues that have any admit nothing
};

class Controller final : public Promises {
 public:
  // On the account of all families, which must outlive it. Who decides for all calls begin(), decides, and calls
  // finish(); step() is for one that is alone.
  Controller(Account& account, const ControllerOptions& options);
  // Alone on a cluster, which must outlive it.
  Controller(Cluster& cluster, const ControllerOptions& options);
  ~Controller() override;

  // The kinds to watch beside nodes.
  [[nodiscard]] static std::vector<ApiKind> kinds();

  // An object as it is now, of any kind: those that are none of its business, say another family's of the same name,
  // are passed over. Fails where it is malformed; then what was known of it stays.
  [[nodiscard]] Result<> changed(const LiveObject& object, Time now);
  void removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name, Time now);
  // Whether there is a Workload of the job, or the pod, of that uid; and whose the Workload is, by uid, "" where
  // nobody's.
  [[nodiscard]] bool has_workload_of(const std::string& uid) const;
  [[nodiscard]] std::string owner_of(std::string_view ns, std::string_view name) const;
  // Has an event say that of an object that it is not told of.
  void complain(const ObjectRef& about, std::string sentence, std::string_view reason);
  // A node came, went or changed.
  void node_changed(std::string_view name);

  // What happened is taken in, and what asks to start stands in line; whether anything is to be decided here. Then,
  // when it has been decided, what follows from it. By the leader alone.
  [[nodiscard]] bool begin(Time now, Step& step);
  void finish(Time now, Step& step);
  // Both, and the decision between them.
  [[nodiscard]] Step step(Time now);
  // Whether there may be something to decide now.
  bool answered(std::uint64_t order, Answer answer, std::string_view why, Time now);
  // Whether the API server knows Workloads. While it does not, no job is touched.
  void serve(bool workloads);
  // What was decided and not sent is given up; what was sent stays booked, whatever was answered.
  void stop_leading();
  // We have the lease again: what is on its way now may be carried out later than what the watches are about to show.
  void note_under_way();
  // We lead, and have been told of all that happened before we had the lease: what is assumed and was not seen by then
  // was not done, unless it was on its way at that time.
  void start_leading();
  // Instead of step(), as long as another leads: keeps the bookings true.
  void stand_by();

  // Placeholders are for pods of its Workloads, whoever binds them.
  [[nodiscard]] std::optional<Kept> kept_for(const std::string& pod) const override;
  [[nodiscard]] bool outlives(const std::string& pod) const override;
  void redeem(const std::string& pod) override;
  void returned(const std::string& pod) override;

  [[nodiscard]] const std::map<std::string, Entry>& workloads() const;
  [[nodiscard]] const Quota& quota() const;
  [[nodiscard]] const Setup& setup() const;
  // Reads what was told and decides nothing, for those who only look on. What is wrong with it.
  [[nodiscard]] std::vector<std::string> look();
  // For those in this namespace that name nothing of their own. Any thread.
  [[nodiscard]] JobDefaults defaults_in(std::string_view ns) const;
  // What every queue should say of itself now.
  [[nodiscard]] QueueStatuses queue_statuses() const;

 private:
  struct Alone;
  struct Parts;
  struct Place;

  [[nodiscard]] Place place_of(const std::string& pod) const;

  void take_due(Time now);
  void rest();
  void wake();
  void report_queues(Time now, Step& step);

  std::unique_ptr<Alone> alone_;  // nullptr where others share the account
  std::unique_ptr<Parts> parts_;
};

}  // namespace gantree::kueue
