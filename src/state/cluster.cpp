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

Cluster::Booked Cluster::booking(const BoundPod& pod) {
  const auto [it, fresh] = request_ids_.try_emplace(pod.requests, static_cast<std::uint32_t>(requests_.size()));
  if (fresh) {
    requests_.push_back(&it->first);
  }
  return {.node = inventory_.reserve(pod.node), .requests = it->second};
}

void Cluster::upsert_pod(const BoundPod& pod) {
  const Booked booked = booking(pod);
  const auto [it, fresh] = pods_.try_emplace(pod.key, booked);
  if (!fresh) {
    if (it->second.node == booked.node && it->second.requests == booked.requests) {
      return;
    }
    inventory_.give(it->second.node, *requests_[it->second.requests], 1);
    it->second = booked;
  }
  inventory_.take(booked.node, pod.requests, 1);
}

void Cluster::remove_pod(std::string_view key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) {
    return;
  }
  inventory_.give(it->second.node, *requests_[it->second.requests], 1);
  pods_.erase(it);
}

void Cluster::lend(std::string_view key) {
  const auto it = pods_.find(key);
  GANTREE_CHECK(it != pods_.end());
  inventory_.give(it->second.node, *requests_[it->second.requests], 1);
}

void Cluster::take_back(std::string_view key) {
  const auto it = pods_.find(key);
  GANTREE_CHECK(it != pods_.end());
  inventory_.take(it->second.node, *requests_[it->second.requests], 1);
}

std::string_view Cluster::node_of(std::string_view key) const {
  const auto it = pods_.find(key);
  return it == pods_.end() ? std::string_view() : std::string_view(inventory_.node(it->second.node).name);
}

void Cluster::name_assumed(const BoundPod& pod) {
  const bool fresh = pods_.try_emplace(pod.key, booking(pod)).second;
  GANTREE_CHECK(fresh);
}

BudgetId Cluster::add_budget(DisruptionBudget budget) {
  budgets_.push_back(std::move(budget));
  return make_id<DisruptionBudgetTag>(budgets_.size() - 1);
}

void Cluster::add_running(RunningGang gang) {
  engine_.hold(gang);
  running_.push_back(std::move(gang));
}

void Cluster::forget_running() {
  running_.clear();
  budgets_.clear();
}

RunningGang Cluster::evict(std::size_t position) {
  GANTREE_CHECK(position < running_.size());
  RunningGang gang = std::move(running_[position]);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
  clear_hosts(gang);
  return gang;
}

RunningGang Cluster::evict_spare(std::size_t position, const std::vector<std::size_t>& which) {
  GANTREE_CHECK(position < running_.size());
  RunningGang gone = only_spare(running_[position], which);
  take_spare_off(running_[position], which);
  if (running_[position].holdings.empty()) {
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
  }
  clear_hosts(gone);
  return gone;
}

void Cluster::clear_hosts(const RunningGang& gang) {
  engine_.evict(gang);
  for (const auto& [budget, pods] : gang.budgets) {
    int& allowed = budgets_[budget.index()].allowed;
    allowed = std::max(0, allowed - pods);
  }
}

}  // namespace gantree
