// The cheapest victims inside one domain after another.
//
// A first answer comes from evicting all and sparing the dearest that can be
// spared; branch and bound then looks for a cheaper one. Both rely on "more
// victims never hurt": what fits after some evictions fits after more.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/budget.h"
#include "engine/freed_slots.h"
#include "engine/victim_cost.h"

namespace gantree {

// What the victims chosen so far must bring about, beside room for each part of the gang by itself.
struct VictimChecks {
  std::function<bool()> admits;  // empty: nothing to ask
  std::function<bool()>
      places;  // really places the gang, at the cost of steps; empty: where each part fits, the gang does
  std::function<bool()> patient;  // whether to place it again and again, to spare some more; empty: always
  int each_in = -1;               // several groups of the gang want one domain of this level each; -1: no such groups
};

// Members of one domain, as numbered by Victims.
struct VictimPool {
  Domain domain;
  std::vector<std::size_t> members;
};

class VictimSearch {
 public:
  struct Best {
    EvictionCost cost;
    std::vector<std::size_t> members;
    Domain domain;
  };

  // `steps` are what looking for the best may take, `work` (search.h) is what the whole decision may: where that is
  // exhausted, everything stops.
  VictimSearch(Victims& victims, FreedParts& parts, VictimChecks checks, Budget& steps, Budget& work);

  // What it costs to make room there for each part by itself, without placing; nullopt where evicting
  // the whole pool is not enough, or the work is exhausted.
  [[nodiscard]] std::optional<EvictionCost> estimate(const VictimPool& pool);
  // Looks for a set from which none can be spared.
  void sketch(const VictimPool& pool);
  // Looks for every cheaper set there is. Requires that there is a best one. False where the steps
  // did not suffice.
  bool exhaust(const VictimPool& pool);
  // Drops from the best set what can be spared, as long as checks are patient.
  void tidy();

  [[nodiscard]] const std::optional<Best>& best() const { return best_; }

 private:
  struct Member {
    std::size_t index = 0;
    std::int64_t most = 0;  // slots it can add
    bool keeps_out = false;
  };
  // What the members from some position on offer at best.
  struct Suffix {
    std::int64_t most = 0;  // together
    std::int64_t least_pods = 0;
    std::int64_t least_age = 0;
    std::int64_t least_priority = 0;
    std::size_t leanest = 0;  // the member with the fewest pods a slot
  };

  void enter(Domain domain);
  void choose(std::size_t member);
  void spare(std::size_t member);
  [[nodiscard]] bool suits(bool really) const;
  std::vector<Member> weigh(const VictimPool& pool);
  const std::vector<std::size_t>& dearest_first(const VictimPool& pool);
  // How many are chosen at first, and after how many no more are.
  struct Amount {
    std::size_t first = 1;
    std::size_t most = std::numeric_limits<std::size_t>::max();
  };
  bool choose_cheapest(std::vector<std::size_t>& dearest_first, bool really, Amount amount);
  // `needed`: those that are spared last.
  bool reduce(const VictimPool& pool, bool really, const std::vector<std::size_t>& needed = {},
              std::size_t most = std::numeric_limits<std::size_t>::max());
  [[nodiscard]] bool reduce_order(std::vector<std::size_t> dearest_first, bool really, Amount amount);
  bool clear_domains(const VictimPool& pool);
  void spare_first(const std::vector<std::size_t>& dearest_first);
  void spare_dearest(const std::vector<std::size_t>& dearest_first, bool for_budgets, bool really);
  void release(const VictimPool& pool);
  void record();

  bool prepare(const VictimPool& pool);
  void summarize();
  void descend(std::size_t from);
  void try_member(std::size_t at);
  [[nodiscard]] bool promising(std::size_t from) const;
  [[nodiscard]] bool dominated(std::size_t member) const;
  void note_passed_over(std::size_t member);

  Victims& victims_;
  FreedParts& parts_;
  VictimChecks checks_;
  Budget& steps_;
  Budget& work_;
  std::optional<Best> best_;

  VictimPool dearest_of_;             // the pool whose members are
  std::vector<std::size_t> dearest_;  // in order

  Domain domain_;
  std::int64_t missing_ = 0;              // slots, of the part that lacks most
  bool additive_ = false;                 // slots add up: no trial is needed
  std::vector<Member> order_;             // of branch and bound: the most slots first
  std::vector<Suffix> suffix_;            // by position in the order, one more at the end
  std::int64_t gained_ = 0;               // at most, by what is chosen
  std::vector<std::size_t> passed_over_;  // members that others need not be tried instead of
  bool complete_ = true;
};

}  // namespace gantree
