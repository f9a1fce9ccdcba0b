// The live cluster as the scheduler knows it: nodes, bound pods, what is assumed.
//
//   pod life:   (unknown) --assume--> assumed --confirm--> bound --remove--> (unknown)
//                                        |                   ^
//                                        +------forget-----> | (unknown)
//               (unknown) -----------------add---------------+
//
// Running gangs are known beside their pods: as wholes that may be evicted.
//
// One thread owns it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/engine.h"
#include "engine/inventory.h"
#include "model/running.h"

namespace gantree {

// A pod that occupies (or is about to occupy) a node.
struct BoundPod {
  std::string key;   // namespace/name
  std::string node;  // by name; the node may be unknown as yet
  Amounts requests;
};

class Cluster {
 public:
  Cluster() : engine_(inventory_) {}

  Inventory& inventory() { return inventory_; }
  [[nodiscard]] const Inventory& inventory() const { return inventory_; }
  Engine& engine() { return engine_; }

  void upsert_node(Node node);
  void remove_node(std::string_view name);

  // A non-terminated pod on a node, from an event. Replaces what was known or
  // assumed of that pod. Pods may come before their node.
  void upsert_pod(BoundPod pod);
  void remove_pod(std::string_view key);

  // Capacity given away by a decision whose write is not confirmed yet.
  void assume(const Gang& gang, const Placement& placement) { engine_.take(gang, placement); }
  void forget(const Gang& gang, const Placement& placement) { engine_.give(gang, placement); }

  // A gang that runs, whose pods are known already.
  void add_running(RunningGang gang);
  [[nodiscard]] const std::vector<RunningGang>& running() const { return running_; }
  // Takes a running gang, by its position, off its hosts; disruption budgets shrink. Its pods stay known, and are
  // not to be removed once more: evictions are for plans. Positions behind it move up.
  RunningGang evict(std::size_t position);

  BudgetId add_budget(DisruptionBudget budget);
  [[nodiscard]] const std::vector<DisruptionBudget>& budgets() const { return budgets_; }

  [[nodiscard]] std::size_t pods() const { return pods_.size(); }

 private:
  Inventory inventory_;
  Engine engine_;
  std::unordered_map<std::string, BoundPod> pods_;
  std::vector<RunningGang> running_;
  std::vector<DisruptionBudget> budgets_;
};

}  // namespace gantree
