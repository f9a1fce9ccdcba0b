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

#include <cstdint>
#include <functional>
#include <map>
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
  void upsert_pod(const BoundPod& pod);
  void remove_pod(std::string_view key);
  // Lends out the room of a known pod, as if it had gone, and takes it back. An eviction in a plan lends, too.
  void lend(std::string_view key);
  void take_back(std::string_view key);
  // The node of a pod that is bound or assumed; "" where neither.
  [[nodiscard]] std::string_view node_of(std::string_view key) const;

  // Capacity given away by a decision whose write is not confirmed yet.
  void assume(const Gang& gang, const Placement& placement) { engine_.take(gang, placement); }
  void forget(const Gang& gang, const Placement& placement) { engine_.give(gang, placement); }
  // Puts a name to one pod of what was assumed: what assume() booked for it is from now on its own, until remove_pod().
  void name_assumed(const BoundPod& pod);

  // A gang that runs, whose pods are known already.
  void add_running(RunningGang gang);
  [[nodiscard]] const std::vector<RunningGang>& running() const { return running_; }
  // Forgets all running gangs and budgets, not their pods: whoever looks at the cluster time and again tells anew
  // each time who runs. Requires that none of them has a domain to itself.
  void forget_running();
  // Takes a running gang, by its position, off its hosts; disruption budgets shrink. Its pods stay known, and are
  // not to be removed once more: evictions are for plans. Positions behind it move up.
  RunningGang evict(std::size_t position);
  // The same with some of its spare pods, ascending: it goes on running without them, where any are left.
  RunningGang evict_spare(std::size_t position, const std::vector<std::size_t>& which);

  BudgetId add_budget(DisruptionBudget budget);
  [[nodiscard]] const std::vector<DisruptionBudget>& budgets() const { return budgets_; }

  [[nodiscard]] std::size_t pods() const { return pods_.size(); }

 private:
  Inventory inventory_;
  Engine engine_;
  // Half a million pods have few different requests.
  struct Booked {
    NodeId node;
    std::uint32_t requests = 0;  // index into requests_
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };

  [[nodiscard]] Booked booking(const BoundPod& pod);
  void clear_hosts(const RunningGang& gang);

  std::unordered_map<std::string, Booked, KeyHash, std::equal_to<>> pods_;
  std::map<Amounts, std::uint32_t> request_ids_;
  std::vector<const Amounts*> requests_;  // keys of request_ids_
  std::vector<RunningGang> running_;
  std::vector<DisruptionBudget> budgets_;
};

}  // namespace gantree
