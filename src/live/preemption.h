// Who is evicted for whom.
//
// Victims are gangs of any family, or pods of them above their minimum, chosen for the domain that is to be cleared.
// The one they leave for is given its place at once, so that nobody else gets it, and starts when the last of them has
// left. What leaves anyway counts as gone already: who only waits for that has nobody evicted.
//
// One thread owns it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "live/account.h"
#include "live/order.h"
#include "live/place.h"
#include "live/precedence.h"
#include "model/decision.h"

namespace gantree {

class Preemption {
 public:
  Preemption(Account& account, Precedence& precedence) : account_(account), precedence_(precedence) {}

  // Looks for victims for those that wait for room or quota.
  void preempt(Time now, Step& step);

 private:
  using Asking = std::map<Rank, Waiter*>;       // one of each line
  using Key = std::pair<std::string, GangKey>;  // of a running gang: its dialect and key

  // It starts when those of them have left whom it was given a place instead of.
  void wait_for(Waiter& waiter, const std::vector<Leaver>& leaving);
  [[nodiscard]] bool is_modest(const Waiter& waiter) const;
  [[nodiscard]] Waiter* first_of(const LineKey& key, Time now);
  [[nodiscard]] Asking crowded_out(Time now);
  // Those that others wait behind.
  [[nodiscard]] Asking waited_for(Time now);
  void look(Asking asking, Time now, Step& step);
  void look_at(Time when);
  [[nodiscard]] std::vector<WayDemands> outranked_by(const Waiter& waiter, Time now) const;
  void preempt_for(Waiter& waiter, std::map<Key, Victim>& victims, std::vector<Leaver>& leaving, Time now, Step& step);
  [[nodiscard]] std::optional<Time> first_free(const Waiter& waiter, const std::map<Key, Victim>& victims,
                                               Time now) const;
  void refuse(Waiter& waiter, const Decision& decision, Time now, Step& step);

  Account& account_;
  Precedence& precedence_;
  std::optional<Time> due_ = {};  // there may be somebody to look for victims for
  Time next_ = {};                // not before, whatever is due
};

}  // namespace gantree
