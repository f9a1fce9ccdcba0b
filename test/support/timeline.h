// Virtual time, in which everybody acts one after the other.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/time.h"
#include "http/transport.h"

namespace gantree::test {

// Whoever acts: the server, or one life of a replica.
using Actor = int;
inline constexpr Actor kServer = 0;

class Timeline {
 public:
  using Instant = http::Clock::time_point;

  [[nodiscard]] Instant now() const { return now_; }
  // The time of day. It begins with the year 2027: what tests have been created in the past is older.
  [[nodiscard]] Time wall() const {
    return Time(std::chrono::seconds(1'798'761'600)) +
           std::chrono::duration_cast<std::chrono::milliseconds>(now_ - kBegin);
  }
  // Has an actor do something then. Numbers are never 0, and grow.
  http::TaskId at(Instant when, Actor actor, std::function<void()> act);
  void cancel(http::TaskId id);
  // Lets time pass until then.
  void run_until(Instant end);

  [[nodiscard]] Actor new_actor() { return *living_.insert(++last_actor_).first; }
  [[nodiscard]] bool lives(Actor actor) const { return actor == kServer || living_.contains(actor); }
  // It does nothing more.
  void kill(Actor actor);
  // It does nothing until then, as a process that is stopped: what it would have done, it does afterwards, in the same
  // order. So no time that it is stopped for already is cut short.
  void freeze(Actor actor, Instant until) { frozen_[actor] = std::max(frozen_[actor], until); }

 private:
  struct Act {
    Actor actor = kServer;
    std::function<void()> act;
  };

  static constexpr Instant kBegin = Instant{} + std::chrono::hours(1);

  Instant now_ = kBegin;
  http::TaskId last_ = 0;
  Actor last_actor_ = kServer;
  std::set<Actor> living_;
  std::map<Actor, Instant> frozen_;
  std::map<std::pair<Instant, http::TaskId>, Act> acts_;
  std::map<http::TaskId, Instant> times_;
};

}  // namespace gantree::test
