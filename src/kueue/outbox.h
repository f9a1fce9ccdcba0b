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
struct OrderTarget {
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
  // `orders`: how many were given by all families. `instance`: who writes events.
  Outbox(std::uint64_t& orders, std::string instance) : orders_(orders), instance_(std::move(instance)) {}

  // Returns the number of the order.
  std::uint64_t order(Step& step, Urgency urgency, Write write, OrderTarget about);
  void notify(Step& step, const Notice& notice, Time now);
  // What an order was about, once; nothing where it is not known.
  [[nodiscard]] std::optional<OrderTarget> close(std::uint64_t order);

 private:
  std::uint64_t& orders_;
  std::string instance_;
  std::map<std::uint64_t, OrderTarget> open_;
  std::uint64_t events_ = 0;
};

}  // namespace gantree::kueue
