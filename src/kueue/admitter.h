// Who is admitted, with what, and who waits for what.
//
// One thread owns it: the controller's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kueue/grants.h"
#include "kueue/ledger.h"
#include "live/order.h"
#include "model/decision.h"

namespace gantree::kueue {

class Admitter {
 public:
  // `one_by_one`: as ReadyRules has it.
  Admitter(Ledger& ledger, Grants& grants, bool one_by_one)
      : ledger_(ledger), grants_(grants), one_by_one_(one_by_one) {}

  // Tries those that wait, as far as anything has changed for them.
  void admit(Time now, Step& step);
  // The one whose pods have to be ready before another is admitted; nullptr where nobody has to wait for that.
  [[nodiscard]] const Entry* held_up_by() const;

 private:
  // Those that ask for the same in one queue, or all of a strict queue: where one of them is turned down, so are those
  // behind it. So very many can wait, and few are looked at closely.
  struct Line {
    std::vector<Entry*> entries = {};  // in order as far as they were looked at
    std::size_t next = 0;              // of those that were not tried yet
    bool in_order = false;             // of a strict queue
    bool fresh = false;                // somebody in it was never told anything
    const Entry* refused = nullptr;    // the last one that was turned down
  };
  using Lines = std::map<std::pair<std::optional<QueueId>, std::uint64_t>, Line>;

  [[nodiscard]] Lines lines(Time now);
  [[nodiscard]] std::vector<Entry*> front_of(Line& line, Time now);
  void try_fronts(Lines& open, Time now, Step& step);
  Lines::iterator close(Lines& open, Lines::iterator it);
  [[nodiscard]] bool put_off(Entry& entry, Time now);
  [[nodiscard]] bool past_its_queue(const Entry& entry) const;
  [[nodiscard]] bool within_quota(const Entry& entry, int count) const;
  [[nodiscard]] bool strict(const Entry& entry) const;
  // Whether one did.
  bool try_until_one_starts(Lines& open, Time now, Step& step);
  void hold_up(const Entry& starting, Time now);
  void settle(const Decision& decision, Time now, Step& step);

  Ledger& ledger_;
  Grants& grants_;
  bool one_by_one_;
  bool held_back_ = false;  // the first of a strict queue could not be tried, since it was being written to
  std::uint64_t room_ = 1;  // grows whenever room or quota may have come free
};

}  // namespace gantree::kueue
