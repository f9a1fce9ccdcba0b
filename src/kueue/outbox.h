// Orders on their way: each has a number, and by it the answer finds what it was about.
//
// One thread owns it: the controller's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "dialects/write.h"
#include "live/order.h"

namespace gantree {
struct Notice;
}

namespace gantree::kueue {

// What a write was to. Keys; "" where it was not to one.
struct OpenOrder {
  std::string workload = {};
  std::string job = {};
  std::string pod = {};
  std::string queue = {};
  std::string leaving = {};  // object of an administrator whose finalizer is set or taken off
  std::string member = {};   // pod of a group
  bool admission = false;    // the write gives a Workload what is assumed
  bool creation = false;     // of the Workload of the job
};

class Outbox {
 public:
  // `instance`: who writes events.
  explicit Outbox(std::string instance) : instance_(std::move(instance)) {}

  // Returns the number of the order.
  std::uint64_t order(Step& step, Urgency urgency, Write write, OpenOrder about);
  void notify(Step& step, const Notice& notice, Time now);
  // What an order was about, once; nothing where it is not known.
  [[nodiscard]] std::optional<OpenOrder> close(std::uint64_t order);

 private:
  std::string instance_;
  std::map<std::uint64_t, OpenOrder> open_;
  std::uint64_t next_ = std::uint64_t{1} << 62U;  // apart from those of the scheduler
  std::uint64_t events_ = 0;
};

}  // namespace gantree::kueue
