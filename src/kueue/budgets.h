// PodDisruptionBudgets, as far as they keep Workloads from being evicted for others.
//
// A Workload goes as a whole. It goes only where every budget that covers pods of it lets as many go; where one budget
// covers several Workloads, the one of the lowest priority, and among equals the youngest, comes first.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/core/label_selector.h"
#include "dialects/object.h"
#include "kueue/entry.h"
#include "live/object.h"
#include "model/running.h"

namespace gantree::kueue {

class Budgets {
 public:
  static constexpr std::string_view kKind = "PodDisruptionBudget";

  // What is malformed protects nothing.
  void see(const LiveObject& object, const Object& parsed);
  void lose(std::string_view ns, std::string_view name);

  // Those that may not go are no longer evictable. Each gang with its Workload.
  void shield(std::vector<std::pair<RunningGang, const Entry*>>& running) const;

 private:
  struct Budget {
    LabelSelector selector;
    int allowed = 0;  // pods that may still go
  };
  using Key = std::pair<std::string, std::string>;  // namespace and name

  [[nodiscard]] std::map<Key, int> pods_under(const RunningGang& gang, const Entry& entry) const;

  std::map<Key, Budget> budgets_;
};

}  // namespace gantree::kueue
