// The loop: letters to state, state to decisions, decisions to writes.
//
//   mailbox ──► scheduler.changed / removed / answered ──► scheduler.step ──► dispatcher ──► API server
//      ▲                                                                                        │
//      └────────────────────────── watches, answers, leadership ◄───────────────────────────────┘
//
// It decides only while all lists are complete and this process leads, and not before every watch has been shown to be
// as fresh as the lease: whoever led before may have given away what a silent watch has not told of. After a step it
// rests as long as the step took, so that a storm of events costs at most half a core. When told to stop it decides
// nothing more, but sees the bindings through that it has decided on: a gang is not left half bound.
//
// The thread that calls run() owns them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/client.h"
#include "scheduler/scheduler.h"
#include "service/broken_answer.h"
#include "service/dispatcher.h"
#include "service/letters.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/namespace_budget.h"

namespace gantree {

// Half of what the chart gives the process.
inline constexpr std::size_t kNamespaceMemory = std::size_t{1} << 30;

struct LoopClock {
  std::function<std::chrono::steady_clock::time_point()> now = [] { return std::chrono::steady_clock::now(); };
  std::function<Time()> wall = {};  // absent: the time of day when the process started, and what has passed since
};

struct LoopSurroundings {
  LoopMailbox& mailbox;
  Log& log;
  kube::Client& writer;
  std::function<bool()> synced;   // whether all that is watched has been listed
  Scheduler::Serves serves = {};  // whether the API server has a kind; absent: it has all
  // Has all watches shown to be as fresh as that instant, and which are not as yet; absent: all are.
  std::function<void(std::chrono::steady_clock::time_point)> prove_fresh = {};
  std::function<std::vector<std::string>(std::chrono::steady_clock::time_point)> stale = {};
  // Gives the lease to another replica for a while; absent: there is nobody else.
  std::function<void()> step_aside = {};
  std::chrono::milliseconds longest_hand_over{60'000};  // then the lease is given up
  LoopClock clock = {};
  // Has an object read, and an ObjectRead sent. Absent: what is set aside comes with its next change.
  std::function<void(const NamespaceBudget::Aside&)> read = {};
  std::size_t namespace_memory = kNamespaceMemory;  // see NamespaceBudget
};

class Loop {
 public:
  // What it is given must outlive it. `leading`: from the start, without an election.
  Loop(LoopSurroundings surroundings, const PodOptions& options, const kueue::ControllerOptions& queues, bool leading);

  // Until a Stop comes and all bindings are through, or `patience` after it is over: false, if writes are still under
  // way then.
  [[nodiscard]] bool run(std::chrono::milliseconds patience);
  // One round of it, which waits for nothing, and when the next one is due if no letter comes before. What run()
  // returns, where that was the last round.
  [[nodiscard]] std::optional<bool> turn(std::vector<Letter> letters, std::chrono::milliseconds patience);
  [[nodiscard]] std::chrono::steady_clock::time_point next_wake() const;

  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }

  // Any thread.
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] bool leading() const { return leading_; }
  [[nodiscard]] JobDefaults defaults_in(std::string_view ns) const {
    JobDefaults defaults = scheduler_.queues().defaults_in(ns);
    defaults.serves_kai = scheduler_.serves_kai();
    return defaults;
  }
  // How long ago the loop last went round.
  [[nodiscard]] std::chrono::milliseconds silence() const;

  // What the metrics page says. On the loop's thread: send an Errand.
  [[nodiscard]] std::string metrics_page(const kube::Counters& reads, const kube::Counters& writes);

 private:
  using Steady = std::chrono::steady_clock;

  void take(Letter letter, Time now);
  void take_change(const LiveObject& object, Time now);
  // The same, where there is room for it.
  void take_new(const LiveObject& object, Time now);
  void set_aside(const LiveObject& object, Time now);
  void forget(const ObjectRemoved& removed, Time now);
  void take_removal(const ObjectRemoved& removed, Time now);
  void carry_out(Step step);
  void log_broken(const BrokenAnswer& broken);
  void log_placed(const StepFigures& figures, Steady::duration took);
  void take_answer(const WriteAnswered& answer, Time now);
  void set_leading(const LeadershipChanged& change, Time now);
  void follow_hand_over(Time now);
  void limit_hand_over();
  [[nodiscard]] std::optional<bool> drain(std::chrono::milliseconds patience);
  void step(Time now);

  // From the lease to the first decision.
  //
  //   asks ──► proving ──all watches are fresh──► reading what they told by then ──► leads
  //                └────it takes too long──────► gives the lease up: the watches of another may work
  struct HandOver {
    enum class State : std::uint8_t { kAsks, kProving, kReading, kGaveUp };
    State state = State::kAsks;
    Steady::time_point since;    // when the lease was had
    Steady::time_point warn_at;  // that it takes long
  };

  LoopSurroundings surroundings_;
  Scheduler scheduler_;
  Dispatcher dispatcher_;
  Metrics metrics_;
  BrokenAnswers broken_answers_;
  NamespaceBudget budget_;
  bool stopping_ = false;
  bool announced_ = false;    // that all is listed
  bool news_ = true;          // something came since the last step
  std::optional<Time> wake_;  // the last step asked for it
  std::optional<HandOver> hand_over_;
  int given_up_ = 0;                           // hand-overs in a row
  std::optional<Steady::time_point> give_up_;  // when told to stop
  Steady::time_point rest_until_ = {};
  std::atomic<bool> synced_ = false;
  std::atomic<bool> leading_ = false;
  std::atomic<Steady::rep> heartbeat_ = 0;
};

}  // namespace gantree
