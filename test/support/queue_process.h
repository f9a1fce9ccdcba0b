// The scheduler on a cluster, told of what a fake server has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "scheduler/scheduler.h"
#include "support/fake_server.h"

namespace gantree::test {

// One life of the program: what it takes in and what it orders.
class Process {
 public:
  explicit Process(const kueue::ReadyRules& ready, const std::vector<ShareStrategy>& shares = {})
      : scheduler_({}, {.instance = "model", .ready = ready, .shares = shares}) {}
  void take(const ServerEvent& event, Time now);
  [[nodiscard]] std::vector<Order> step(Time now);
  // Instead of step(), as long as another leads.
  void stand_by() { scheduler_.stand_by(); }
  void stop_leading(Time now) { scheduler_.stop_leading(now); }
  // It has the lease again, and all that happened before has been told.
  void start_leading(Time now);
  void answered(std::uint64_t order, Answer answer, Time now) { scheduler_.answered(order, answer, "", now); }
  [[nodiscard]] Cluster& cluster() { return scheduler_.cluster(); }
  [[nodiscard]] const kueue::Controller& controller() const { return scheduler_.queues(); }
  [[nodiscard]] std::optional<Time> wake() const { return wake_; }
  // Whether it has nobody evicted for some, since they were evicted time and again. Another process does not know that.
  [[nodiscard]] bool refrains() const { return scheduler_.account().has_restless(); }
  // Whether it has pods of gangs on their way to nodes, by its own account.
  [[nodiscard]] bool binds();
  std::vector<std::string> complaints;

 private:
  Scheduler scheduler_;
  std::optional<Time> wake_;
};

}  // namespace gantree::test
