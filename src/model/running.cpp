#include "model/running.h"

#include <algorithm>
#include <map>

namespace gantree {

namespace {

void subtract(std::vector<Holding>& holdings, const std::vector<Holding>& gone) {
  for (const Holding& one : gone) {
    int left = one.count;
    for (Holding& holding : holdings) {
      if (left > 0 && holding.node == one.node && holding.requests == one.requests && holding.pod_set == one.pod_set) {
        const int taken = std::min(left, holding.count);
        holding.count -= taken;
        left -= taken;
      }
    }
  }
  std::erase_if(holdings, [](const Holding& holding) { return holding.count == 0; });
}

template <class Id, class Amount>
void subtract(std::vector<std::pair<Id, Amount>>& amounts, const std::vector<std::pair<Id, Amount>>& gone) {
  for (const auto& [id, amount] : gone) {
    const auto known = std::find_if(amounts.begin(), amounts.end(), [&](const auto& one) { return one.first == id; });
    if (known != amounts.end()) {
      known->second -= amount;
    }
  }
  std::erase_if(amounts, [](const auto& one) { return one.second == 0; });
}

template <class Id, class Amount>
void add(std::map<Id, Amount>& sums, const std::vector<std::pair<Id, Amount>>& amounts) {
  for (const auto& [id, amount] : amounts) {
    sums[id] += amount;
  }
}

}  // namespace

RunningGang only_spare(const RunningGang& gang, const std::vector<std::size_t>& which) {
  RunningGang some;
  some.key = gang.key;
  some.dialect = gang.dialect;
  some.priority = gang.priority;
  some.created_seconds = gang.created_seconds;
  some.started_seconds = gang.started_seconds;
  some.evictable = gang.evictable;
  some.queue = gang.queue;
  std::map<BudgetId, int> budgets;
  std::map<QuotaId, std::int64_t> used;
  for (const std::size_t i : which) {
    const SparePods& spare = gang.spare[i];
    some.holdings.insert(some.holdings.end(), spare.holdings.begin(), spare.holdings.end());
    add(budgets, spare.budgets);
    add(used, spare.used);
  }
  some.budgets.assign(budgets.begin(), budgets.end());
  some.used.assign(used.begin(), used.end());
  return some;
}

void take_spare_off(RunningGang& gang, const std::vector<std::size_t>& which) {
  const RunningGang gone = only_spare(gang, which);
  subtract(gang.holdings, gone.holdings);
  subtract(gang.budgets, gone.budgets);
  subtract(gang.used, gone.used);
  for (std::size_t i = which.size(); i-- > 0;) {
    gang.spare.erase(gang.spare.begin() + static_cast<std::ptrdiff_t>(which[i]));
  }
}

}  // namespace gantree
