// Events live for an hour after they were last written, as on any API server. Api thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "apiserver/store.h"

namespace gantree::apiserver {

class Core;

class EventLives {
 public:
  explicit EventLives(Core& core) : core_(core) {}

  // After a start: those that are there.
  void begin();
  void written(const Key& key, std::uint64_t revision);
  // Takes away those whose hour is over; some of them, where there are very many.
  void sweep();

 private:
  using Time = std::chrono::system_clock::time_point;
  struct Life {
    Time since;
    Key key;
    std::uint64_t revision = 0;  // written again since, it has a later life
  };

  Core& core_;
  std::deque<Life> lives_;  // the oldest first
};

}  // namespace gantree::apiserver
