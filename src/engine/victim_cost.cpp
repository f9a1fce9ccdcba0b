#include "engine/victim_cost.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace gantree {

Victims::Victims(std::span<const RunningGang* const> candidates, std::span<const DisruptionBudget> budgets) {
  for (const DisruptionBudget& budget : budgets) {
    allowed_.push_back(std::max(0, budget.allowed));
  }
  evicted_.assign(allowed_.size(), 0);
  for (std::size_t position = 0; position < candidates.size(); ++position) {
    const RunningGang& gang = *candidates[position];
    if (!gang.evictable) {
      continue;
    }
    Member member{.gang = &gang, .position = position, .pods = gang.pods() + gang.more_pods};
    for (const auto& [budget, pods] : gang.budgets) {
      GANTREE_CHECK(budget.index() < allowed_.size());
      member.excess_alone += excess(budget, pods);
    }
    members_.push_back(member);
    priorities_.push_back(gang.priority);
  }
  std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
    return std::tie(a.gang->key, a.gang->dialect, a.position) < std::tie(b.gang->key, b.gang->dialect, b.position);
  });
  std::sort(priorities_.begin(), priorities_.end());
  priorities_.erase(std::unique(priorities_.begin(), priorities_.end()), priorities_.end());
  at_rank_.assign(priorities_.size(), 0);
  for (Member& member : members_) {
    const auto at = std::lower_bound(priorities_.begin(), priorities_.end(), member.gang->priority);
    member.rank = static_cast<std::size_t>(at - priorities_.begin());
  }
}

std::int64_t Victims::excess(BudgetId budget, std::int64_t evicted) const {
  return std::max<std::int64_t>(0, evicted - allowed_[budget.index()]);
}

void Victims::add(std::size_t i) {
  Member& member = members_[i];
  GANTREE_CHECK(!member.chosen);
  member.chosen = true;
  member.at = chosen_.size();
  chosen_.push_back(i);
  for (const auto& [budget, pods] : member.gang->budgets) {
    std::int64_t& evicted = evicted_[budget.index()];
    over_budget_ -= excess(budget, evicted);
    evicted += pods;
    over_budget_ += excess(budget, evicted);
  }
  ++at_rank_[member.rank];
  ranks_used_ = std::max(ranks_used_, member.rank + 1);
  pods_ += member.pods;
  age_ += age(i);
}

void Victims::remove(std::size_t i) {
  Member& member = members_[i];
  GANTREE_CHECK(member.chosen);
  member.chosen = false;
  members_[chosen_.back()].at = member.at;
  chosen_[member.at] = chosen_.back();
  chosen_.pop_back();
  for (const auto& [budget, pods] : member.gang->budgets) {
    std::int64_t& evicted = evicted_[budget.index()];
    over_budget_ -= excess(budget, evicted);
    evicted -= pods;
    over_budget_ += excess(budget, evicted);
  }
  --at_rank_[member.rank];
  while (ranks_used_ > 0 && at_rank_[ranks_used_ - 1] == 0) {
    --ranks_used_;
  }
  pods_ -= member.pods;
  age_ -= age(i);
}

EvictionCost Victims::cost() const {
  return {.over_budget = over_budget_,
          .priority = ranks_used_ == 0 ? kNoVictim : priorities_[ranks_used_ - 1],
          .gangs = static_cast<std::int64_t>(chosen_.size()),
          .pods = pods_,
          .age = age_};
}

std::int64_t Victims::relief(std::size_t i) const {
  std::int64_t sum = 0;
  for (const auto& [budget, pods] : members_[i].gang->budgets) {
    const std::int64_t evicted = evicted_[budget.index()];
    sum += excess(budget, evicted) - excess(budget, evicted - pods);
  }
  return sum;
}

std::vector<std::size_t> Victims::positions() const {
  std::vector<std::size_t> found;
  for (const std::size_t i : chosen_) {
    found.push_back(members_[i].position);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace gantree
