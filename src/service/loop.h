// The loop: letters to state, state to decisions, decisions to writes.
//
//   mailbox ──► scheduler.changed / removed / answered ──► scheduler.step ──► dispatcher ──► API server
//      ▲                                                                                        │
//      └────────────────────────── watches, answers, leadership ◄───────────────────────────────┘
//
// It decides only while all lists are complete and this process leads. After a step it rests as long as the step
// took, so that a storm of events costs at most half a core. When told to stop it decides nothing more, but sees the
// bindings through that it has decided on: a gang is not left half bound.
//
// The scheduler of pods and the controller of queues take turns; both work on one cluster.
//
// The thread that calls run() owns them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "kube/client.h"
#include "kueue/controller.h"
#include "live/scheduler.h"
#include "service/dispatcher.h"
#include "service/letters.h"
#include "service/log.h"
#include "service/metrics.h"

namespace gantree {

struct LoopSurroundings {
  LoopMailbox& mailbox;
  Log& log;
  kube::Client& writer;
  std::function<bool()> synced;                 // whether all that is watched has been listed
  std::function<bool()> serves_workloads = {};  // whether there can be Workloads; absent: there can
};

class Loop {
 public:
  // What it is given must outlive it. `leading`: from the start, without an election.
  Loop(LoopSurroundings surroundings, const SchedulerOptions& options, const kueue::ControllerOptions& queues,
       bool leading);

  // Until a Stop comes and all bindings are through, or `patience` after it is over: false, if writes are still under
  // way then.
  [[nodiscard]] bool run(std::chrono::milliseconds patience);

  [[nodiscard]] LiveScheduler& scheduler() { return scheduler_; }
  // All that has to be watched.
  [[nodiscard]] std::vector<ApiKind> kinds() const;

  // Any thread.
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] bool leading() const { return leading_; }
  [[nodiscard]] JobDefaults defaults_in(std::string_view ns) const { return queues_.defaults_in(ns); }
  // How long ago the loop last went round.
  [[nodiscard]] std::chrono::milliseconds silence() const;

  // What the metrics page says. On the loop's thread: send an Errand.
  [[nodiscard]] std::string metrics_page(const kube::Counters& reads, const kube::Counters& writes);

 private:
  using Steady = std::chrono::steady_clock;

  void take(Letter letter, Time now);
  void take_change(const LiveObject& object, Time now);
  void take_removal(const ObjectRemoved& removed, Time now);
  void carry_out(Step step);
  void log_placed(const StepFigures& figures, Steady::duration took);
  void take_answer(const WriteAnswered& answer, Time now);
  void set_leading(const LeadershipChanged& change, Time now);
  void step(Time now);
  [[nodiscard]] Steady::time_point next_wake(Time now) const;

  LoopSurroundings surroundings_;
  LiveScheduler scheduler_;
  kueue::Controller queues_;
  Dispatcher dispatcher_;
  Metrics metrics_;
  bool stopping_ = false;
  bool announced_ = false;    // that all is listed
  bool news_ = true;          // something came since the last step
  std::optional<Time> wake_;  // the last step asked for it
  Steady::time_point rest_until_ = {};
  std::atomic<bool> synced_ = false;
  std::atomic<bool> leading_ = false;
  std::atomic<Steady::rep> heartbeat_ = 0;
};

}  // namespace gantree
