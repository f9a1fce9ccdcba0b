// PodDisruptionBudgets, as far as they keep gangs from being evicted for others.
//
// A gang is evicted as a whole, and only where every budget that covers pods of it lets as many go. Where one budget
// covers several gangs, the one of the lowest priority, and among equals the youngest, comes first.
//
// One thread owns it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/core/label_selector.h"
#include "dialects/object.h"
#include "live/family.h"
#include "live/object.h"

namespace gantree {

class Budgets {
 public:
  static constexpr std::string_view kKind = "PodDisruptionBudget";

  // What is malformed protects nothing.
  void see(const LiveObject& object, const Object& parsed);
  void lose(std::string_view ns, std::string_view name);

  // Whether there are any in a namespace: only there it matters which labels pods have.
  [[nodiscard]] bool any_in(std::string_view ns) const;
  // Those that may not go are no longer evictable.
  void shield(std::vector<Victim>& victims) const;

 private:
  struct Budget {
    LabelSelector selector;
    int allowed = 0;        // pods that may still go
    std::size_t bytes = 0;  // of its text
  };
  using Key = std::pair<std::string, std::string>;  // namespace and name

  [[nodiscard]] std::map<Key, int> pods_under(const Victim& victim) const;
  [[nodiscard]] bool too_many_in(std::string_view ns) const;

  std::map<Key, Budget> budgets_;
};

}  // namespace gantree
