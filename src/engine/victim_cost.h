// The candidates for eviction, and what evicting some of them costs.
//
// Members are numbered in the order of their keys, not in the order in which
// they were handed in: whatever is chosen does not depend on the latter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/preempt.h"

namespace gantree {

class Victims {
 public:
  // Both must outlive this. Gangs that no one may evict are left out.
  Victims(std::span<const RunningGang* const> candidates, std::span<const DisruptionBudget> budgets);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] const RunningGang& gang(std::size_t i) const { return *members_[i].gang; }
  [[nodiscard]] std::int64_t priority(std::size_t i) const { return gang(i).priority; }
  [[nodiscard]] std::int64_t pods(std::size_t i) const { return members_[i].pods; }
  [[nodiscard]] std::int64_t age(std::size_t i) const { return -gang(i).started_seconds; }
  // Pods over disruption budgets if it were the only victim. Those of a set are never fewer than
  // those of its members together.
  [[nodiscard]] std::int64_t excess_alone(std::size_t i) const { return members_[i].excess_alone; }

  // The victims chosen so far.
  void add(std::size_t i);
  void remove(std::size_t i);
  [[nodiscard]] bool chosen(std::size_t i) const { return members_[i].chosen; }
  [[nodiscard]] const std::vector<std::size_t>& all_chosen() const { return chosen_; }  // in no order
  [[nodiscard]] EvictionCost cost() const;
  [[nodiscard]] std::int64_t over_budget() const { return over_budget_; }
  // By how much fewer pods the budgets are overrun without a chosen one.
  [[nodiscard]] std::int64_t relief(std::size_t i) const;
  // Positions among the candidates as handed in, ascending.
  [[nodiscard]] std::vector<std::size_t> positions() const;

 private:
  struct Member {
    const RunningGang* gang = nullptr;
    std::size_t position = 0;
    std::size_t rank = 0;  // of its priority
    std::int64_t pods = 0;
    std::int64_t excess_alone = 0;
    bool chosen = false;
    std::size_t at = 0;  // its place among the chosen
  };

  [[nodiscard]] std::int64_t excess(BudgetId budget, std::int64_t evicted) const;

  std::vector<Member> members_;
  std::vector<std::size_t> chosen_;
  std::vector<std::int64_t> allowed_;     // by budget
  std::vector<std::int64_t> evicted_;     // by budget
  std::vector<std::int64_t> priorities_;  // by rank, ascending
  std::vector<std::int64_t> at_rank_;     // chosen ones by rank
  std::size_t ranks_used_ = 0;            // no chosen one has this rank or a higher one
  std::int64_t over_budget_ = 0;
  std::int64_t pods_ = 0;
  std::int64_t age_ = 0;
};

}  // namespace gantree
