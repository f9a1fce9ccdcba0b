#include "state/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace gantree {

void Cluster::upsert_node(Node node) {
  inventory_.upsert(std::move(node));
}

void Cluster::remove_node(std::string_view name) {
  if (const auto id = inventory_.find(name)) {
    inventory_.remove(*id);
  }
}

void Cluster::upsert_pod(BoundPod pod) {
  remove_pod(pod.key);
  inventory_.take(inventory_.reserve(pod.node), pod.requests, 1);
  std::string key = pod.key;
  pods_.emplace(std::move(key), std::move(pod));
}

void Cluster::remove_pod(std::string_view key) {
  const auto it = pods_.find(std::string(key));
  if (it == pods_.end()) {
    return;
  }
  inventory_.give(inventory_.reserve(it->second.node), it->second.requests, 1);
  pods_.erase(it);
}

BudgetId Cluster::add_budget(DisruptionBudget budget) {
  budgets_.push_back(std::move(budget));
  return make_id<DisruptionBudgetTag>(budgets_.size() - 1);
}

void Cluster::add_running(RunningGang gang) {
  engine_.hold(gang);
  running_.push_back(std::move(gang));
}

RunningGang Cluster::evict(std::size_t position) {
  GANTREE_CHECK(position < running_.size());
  RunningGang gang = std::move(running_[position]);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
  engine_.evict(gang);
  for (const auto& [budget, pods] : gang.budgets) {
    int& allowed = budgets_[budget.index()].allowed;
    allowed = std::max(0, allowed - pods);
  }
  return gang;
}

}  // namespace gantree
