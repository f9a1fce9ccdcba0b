// Who starts, where, and who waits for what: one pass over those that wait, of all families, in one order.
//
// One thread owns it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
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

class Starter {
 public:
  Starter(Account& account, Precedence& precedence) : account_(account), precedence_(precedence) {}

  // Tries those that wait, as far as anything has changed for them.
  void start(Time now, Step& step);

 private:
  // Those that are tried together, by dialect and key.
  struct Batch {
    std::vector<Submission> submissions;
    std::map<std::pair<std::string, GangKey>, Waiter*> waiters;
  };
  class InTurn;

  // Those whose standing may have changed go where they belong now.
  void sort_in(Time now);
  // Lines for which something came free.
  void reopen(Time now);
  void reopen_for_quota(const std::set<QuotaId>& freed, Time now);
  // Families none of whose gangs may start now tell them so.
  void note_held_up(Time now, Step& step);
  [[nodiscard]] Submission without_evictions(const Waiter& waiter) const;
  [[nodiscard]] Place place_of(const Waiter& waiter) const;
  [[nodiscard]] static bool is_known(const LineKey& key, const WaitingLine& line, Time now);
  // `left`: the first that is left, where there is no quota for it beside those.
  [[nodiscard]] std::vector<Waiter*> front_of(const LineKey& key, Time now, const Rank*& left);
  // The same of all lines that are open and not held back, in order: so many of each crowd.
  [[nodiscard]] Batch fronts(std::set<LineKey>& held_back, Time now, Step& step);
  // Whether something was tried. `held_back`: lines that are not looked at again in this pass.
  bool try_fronts(std::set<LineKey>& held_back, Time now, Step& step);
  void close(const LineKey& key, const Waiter* refused, Time now, Step& step);
  [[nodiscard]] bool within_quota(const Waiter& waiter, int count) const;
  void tell(Waiter& waiter, const Verdict& verdict, Time now, Step& step);
  // The line that it was tried in, where it was turned down.
  std::optional<LineKey> settle(Waiter& waiter, const Decision& decision, Time now, Step& step);

  Account& account_;
  Precedence& precedence_;
  // Crowds of which there was more to try than one step may; and those of them for which room came free meanwhile.
  std::set<Crowd> under_way_ = {};
  std::set<Crowd> owed_ = {};
  // By family: what those were told that may not start now. Its order says nothing.
  std::map<const Family*, Verdict> held_up_ = {};
  std::set<const Family*> were_held_up_ = {};  // until this pass
};

}  // namespace gantree
