// Random gangs that run, with budgets and quotas: the victims of preemption tests.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/preempt.h"
#include "support/random_instance.h"
#include "support/world.h"

namespace gantree::test {

struct RunningWork {
  std::vector<RunningGang> gangs;
  std::vector<DisruptionBudget> budgets;
  // Quota in two cells: what evicting each gang frees, and what must be free. All zero: no quota.
  std::vector<std::vector<int>> frees;
  std::vector<int> wanted;

  [[nodiscard]] std::vector<const RunningGang*> candidates() const;
  [[nodiscard]] bool admits(std::span<const std::size_t> gone) const;
};

// Places random gangs of any family until some do not fit, at most so many.
[[nodiscard]] RunningWork run_random_gangs(World& world, Choices& choices, const Instance& cluster, const Scale& scale,
                                           int most);

// A gang as it runs once placed and booked by the engine.
[[nodiscard]] RunningGang start(World& world, const Gang& gang, const Placement& placement);

// All that an eviction changes, to compare before with after.
struct Books {
  std::vector<std::int64_t> free;
  std::map<ExclusiveHold, int> holds;
  friend bool operator==(const Books&, const Books&) = default;
};
[[nodiscard]] Books books(World& world);

[[nodiscard]] std::string to_text(const RunningWork& work);

}  // namespace gantree::test
