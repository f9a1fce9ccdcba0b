// Who is admitted, with what, and who waits for what.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"
#include "kueue/grants.h"
#include "kueue/ledger.h"
#include "kueue/place.h"
#include "kueue/precedence.h"
#include "live/order.h"
#include "model/decision.h"

namespace gantree::kueue {

class Admitter {
 public:
  // `one_by_one`: as ReadyRules has it.
  Admitter(Ledger& ledger, Grants& grants, Precedence& precedence, bool one_by_one)
      : ledger_(ledger), grants_(grants), precedence_(precedence), one_by_one_(one_by_one) {}

  // Tries those that wait, as far as anything has changed for them.
  void admit(Time now, Step& step);
  // The one whose pods have to be ready before another is admitted; nullptr where nobody has to wait for that.
  [[nodiscard]] const Entry* held_up_by() const;

 private:
  // Those whose standing in their queues may have changed go where they belong now.
  void sort_in(Time now);
  // Lines for which something came free.
  void reopen(Time now);
  [[nodiscard]] Submission without_evictions(const Entry& entry) const;
  [[nodiscard]] Place place_of(const Entry& entry) const;
  [[nodiscard]] static bool is_known(const LineKey& key, const Line& line, Time now);
  // `left`: the first that is left, where there is no quota for it beside those.
  [[nodiscard]] std::vector<Entry*> front_of(const LineKey& key, Time now, const Rank*& left);
  // The same of all lines that are open and not held back, by queue: so many of each.
  [[nodiscard]] std::map<std::optional<QueueId>, std::vector<Entry*>> fronts(std::set<LineKey>& held_back, Time now,
                                                                             std::size_t most);
  // Whether something was tried. `held_back`: lines that are not looked at again in this pass.
  bool try_fronts(std::set<LineKey>& held_back, Time now, Step& step);
  void close(const LineKey& key, const Entry* refused, Time now);
  [[nodiscard]] bool put_off(Entry& entry, Time now);
  [[nodiscard]] bool is_unsettled(const Entry& entry, Time now) const;
  [[nodiscard]] bool within_quota(const Entry& entry, int count) const;
  void try_until_one_starts(Time now, Step& step);
  void hold_up(const Entry& starting, Time now);
  void tell(Entry& entry, const Verdict& verdict, Time now);
  [[nodiscard]] Entry& entry_of(const Decision& decision);
  // The line that it was tried in, where it was turned down.
  std::optional<LineKey> settle(const Decision& decision, Time now, Step& step);

  Ledger& ledger_;
  Grants& grants_;
  Precedence& precedence_;
  bool one_by_one_;
  // Queues of which there was more to try than one step may; and those of them for which room came free meanwhile.
  std::set<std::optional<QueueId>> under_way_ = {};
  std::set<std::optional<QueueId>> owed_ = {};
  std::string held_up_by_ = {};  // the Workload of which those were told that wait for its pods
};

}  // namespace gantree::kueue
