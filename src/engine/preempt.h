// Job-level preemption: the cheapest set of whole gangs whose eviction lets another gang start.
//
// What is cheap: docs/decisions/0006-what-an-eviction-costs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/running.h"

namespace gantree {

inline constexpr std::int64_t kNoVictim = std::numeric_limits<std::int64_t>::min();

// Compared in the order of the members; less is cheaper.
struct EvictionCost {
  std::int64_t over_budget = 0;       // pods evicted beyond what disruption budgets allow
  std::int64_t priority = kNoVictim;  // of the highest victim
  std::int64_t gangs = 0;
  std::int64_t pods = 0;
  // Negated start times, summed: of as many victims, those that started last have the least to lose.
  std::int64_t age = 0;
  friend auto operator<=>(const EvictionCost&, const EvictionCost&) = default;
};

struct PreemptionRequest {
  const Gang& gang;                                // the one that wants to start
  std::span<const RunningGang* const> candidates;  // those that may be evicted for it
  std::span<const DisruptionBudget> budgets;       // by BudgetId
  // Whether all else (quota) allows the gang to start once these candidates, by ascending position,
  // are gone. Monotone: what a set allows, every larger set allows too. Empty: always.
  std::function<bool(std::span<const std::size_t>)> admits;
  std::optional<std::int64_t> work = {};  // that choosing may take, where it is not the usual limit (search.h)
};

enum class PreemptionVerdict : std::uint8_t {
  kFound,
  kNone,    // proven: evicting every candidate would not help
  kGaveUp,  // neither found nor ruled out within the limit of work; nobody is to be evicted
};

struct PreemptionAnswer {
  PreemptionVerdict verdict = PreemptionVerdict::kNone;
  std::vector<std::size_t> victims;  // positions in the candidates, ascending
  EvictionCost cost;
  Outcome outcome;        // where the gang goes once they are gone
  bool exact = false;     // the cost is proven to be the least
  int domains = 0;        // candidate domains looked at
  std::int64_t work = 0;  // that choosing took (search.h)
};

// Evicts nothing: engine and inventory are as before when it returns. A set that is found has been
// checked by really placing the gang, and none of it can be spared (of very many parts: as far as steps reach).
// All that is tried shares one limit of work. Where that is exhausted, a set that is not proven to be the cheapest and
// has more than half of very many candidates is not used.
[[nodiscard]] PreemptionAnswer find_victims(Engine& engine, const PreemptionRequest& request);

}  // namespace gantree
