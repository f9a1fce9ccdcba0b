// Who comes before those behind it in its queue although it cannot start as things are: others may be evicted for it,
// and whether they are has still to be found out. Until then nobody behind it is started: what is free now may be what
// it needs beside that which its victims leave. (In a strict queue nobody is in any case.) Nor does anybody of another
// queue borrow what is left of its queue's quota; from the first of a strict queue as long as it waits.
//
// One thread owns it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "live/account.h"
#include "model/running.h"

namespace gantree {

// Whether others may be evicted for it, where it waits for that reason; and by the rules of its queue alone.
[[nodiscard]] bool asks_for_room(const Account& account, const Waiter& waiter, const std::optional<Verdict>& verdict);
[[nodiscard]] bool may_evict(const Account& account, const Waiter& waiter);

class Precedence {
 public:
  explicit Precedence(Account& account) : account_(account) {}

  // What runs may have changed.
  void begin() {
    running_.reset();
    elsewhere_.reset();
    hopes_.clear();
  }
  // It waits for that reason. Whether it comes before those behind it from now on: so where somebody may be evicted
  // for it, quota would do then, and nobody was looked for in vain since it came. `started`: those that are about to
  // leave its line.
  bool claim(Waiter& waiter, const std::optional<Verdict>& verdict, const std::set<const Waiter*>& started = {});
  // The same where something has come free since they were looked for in vain, and that is a while ago.
  bool claim_again(Waiter& waiter, const std::optional<Verdict>& verdict, Time now);
  // Whether there would be quota for it, were all gone that leave or may be evicted for it; of one whose parts may
  // start in several ways each, were all gone.
  [[nodiscard]] bool evictions_could_help(const Waiter& waiter);
  // The first of a crowd that does; nullptr where nobody does.
  [[nodiscard]] Waiter* first_of(const Crowd& crowd);
  // The same of every crowd.
  [[nodiscard]] std::vector<Waiter*> all();
  // Those whose queue's quota is kept while they wait, where it could be lent to a queue of these submissions, join
  // them, unless they are among them: they stand by.
  void let_stand_by(std::vector<Submission>& submissions);
  // What of the quota that was kept when it was noted last is not kept any more has come free.
  void release_kept();
  void note_kept() { kept_ = kept_now(); }

 private:
  // Whether others may be evicted for it, where it waits for that reason, and nobody was looked for in vain.
  [[nodiscard]] bool has_hope(const Waiter& waiter, const std::optional<Verdict>& verdict);
  [[nodiscard]] std::vector<Waiter*> keepers();
  [[nodiscard]] std::map<QueueId, QuotaDemand> kept_now();
  [[nodiscard]] bool is_first_of_line(const Waiter& waiter, const std::set<const Waiter*>& started) const;
  [[nodiscard]] bool still_comes_first(const Waiter& waiter, const Rank& rank) const;
  void count_running();
  // The lowest priority of what runs outside of queues.
  [[nodiscard]] std::optional<std::int64_t> lowest_elsewhere();

  Account& account_;
  std::map<Crowd, std::map<Rank, LineKey>> first_;
  // What quota they use, and nothing of where they are; nothing where it has to be counted anew.
  std::optional<std::vector<RunningGang>> running_ = {};
  std::optional<std::optional<std::int64_t>> elsewhere_ = {};  // lowest_elsewhere(), where it was worked out
  std::map<QueueId, QuotaDemand> kept_ = {};
  std::map<std::string, bool> hopes_ = {};  // of the first ones of strict queues, as counted since begin()
  std::vector<QuotaDemand> leaving_ = {};   // of those that leave anyway
};

}  // namespace gantree
