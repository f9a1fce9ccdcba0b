// What the election tells the loop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "kube/leader.h"
#include "service/letters.h"
#include "service/log.h"

namespace gantree {

struct LeadershipNews {
  LoopMailbox& mailbox;
  Log& log;
  std::string self;                  // our identity
  std::atomic<std::uint64_t>& term;  // counts how often we came to lead: for the fence of the client that writes
  std::function<std::chrono::steady_clock::time_point()> now;
};

// What the news refer to must outlive the election.
[[nodiscard]] kube::LeaderHandlers leader_handlers(const LeadershipNews& news);

}  // namespace gantree
