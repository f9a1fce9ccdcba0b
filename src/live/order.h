// What a step of the live scheduler comes to: writes that are wanted, and what is to be told of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "dialects/write.h"

namespace gantree {

// How much it matters that a write is done soon, or at all.
enum class Urgency : std::uint8_t { kBinding, kStatus, kEvent };

struct Order {
  std::uint64_t id = 0;  // for answered()
  Urgency urgency = Urgency::kStatus;
  Write write;
};

// How an order ended.
enum class Answer : std::uint8_t {
  kDone,
  kRefused,    // certainly not executed, and trying again at once is no use
  kWithdrawn,  // not sent: this process does not lead any more
  kUncertain,  // perhaps executed, or another was faster: the object's own event tells
};

// What one step did, for logs and metrics.
struct StepFigures {
  bool decided = false;        // a cycle was run
  int gangs_looked_at = 0;     // bundles whose objects were read to decide about them
  std::size_t bytes_read = 0;  // of texts of objects, for decisions of any kind
  int gangs_tried = 0;
  int gangs_placed = 0;
  int pods_placed = 0;
  int gangs_evicted = 0;
  std::vector<std::chrono::milliseconds> waits;            // of the gangs placed: since their first pod waited
  std::vector<std::chrono::milliseconds> admission_waits;  // of the workloads admitted: since they came to wait
};

struct Step {
  std::vector<Order> orders;
  std::optional<Time> wake;          // call step() again then, if nothing happens before
  std::vector<std::string> remarks;  // for the log: what is wrong
  std::vector<std::string> news;     // what happened that people ask about later
  std::vector<std::string> details;  // who waits, and why
  StepFigures figures;

  void wake_by(Time time) { wake = std::min(wake.value_or(time), time); }
};

}  // namespace gantree
