// The scheduler of a live cluster: all families on one account, and one decision for them.
//
//   events ──► families take them in ──► who asks, who runs ──► Decider: who starts, who is evicted for whom
//                                                                  │
//   writes ◄── families carry it out ◄──────────────────────────────┘
//
// Events in, intended writes out, the clock passed in. A further family is a member, and a line in each function below.
//
// One thread owns it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "kai/grouper.h"
#include "kueue/controller.h"
#include "live/account.h"
#include "live/decider.h"
#include "live/object.h"
#include "live/order.h"
#include "pods/pod_family.h"
#include "state/cluster.h"

namespace gantree {

class Scheduler {
 public:
  Scheduler(const PodOptions& pods, const kueue::ControllerOptions& queues);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // All that has to be watched.
  [[nodiscard]] std::vector<ApiKind> kinds() const;

  // An object as it is now. What is wrong with it, where it is malformed; then what was known of it stays.
  [[nodiscard]] std::vector<Error> changed(const LiveObject& object, Time now);
  void removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name, Time now);

  // To be called when all that is known has been handed over, by the leader alone.
  [[nodiscard]] Step step(Time now);
  // Whether there may be something to decide now.
  bool answered(std::uint64_t order, Answer answer, std::string_view why, Time now);

  // Whether the API server has a kind, by its group and plural.
  using Serves = std::function<bool(std::string_view group, std::string_view plural)>;
  void serve(const Serves& serves);

  // As PodFamily has it.
  void stop_leading(Time now);
  void stand_by();
  void note_under_way();
  void start_leading(Time now);

  // Whether pods of KAI's scheduler are ours.
  [[nodiscard]] bool serves_kai() const { return grouper_ != nullptr; }
  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] const Account& account() const { return account_; }
  [[nodiscard]] PodFamily& pods() { return pods_; }
  [[nodiscard]] kueue::Controller& queues() { return queues_; }
  [[nodiscard]] const kueue::Controller& queues() const { return queues_; }

 private:
  Cluster cluster_;
  Account account_{cluster_};
  Decider decider_{account_};
  PodFamily pods_;
  kueue::Controller queues_;
  std::unique_ptr<kai::Grouper> grouper_;  // nullptr where pods of KAI's scheduler are not ours
  bool kept_off_ = false;                  // KAI itself runs, and the log says so
};

}  // namespace gantree
