// The search for a gang's placement: every part at once where that is small
// enough to be exact, otherwise part by part with backtracking.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/budget.h"
#include "engine/gang_plan.h"
#include "engine/joint.h"
#include "engine/pack.h"

namespace gantree {

// Counts of a part's shape on its tree, up to date; stays valid during the search.
using CountsOf = std::function<SlotCounts&(const Part&, Fill)>;
// Domains of a level that gangs of the same kind have to themselves.
using OccupiedOf = std::function<const std::vector<bool>*(TopologyId, int level)>;

struct SearchContext {
  Inventory& inventory;
  CountsOf counts;
  OccupiedOf occupied;
  // What all searches of one decision may take together, whatever the gang: hosts and domains looked at, and steps of
  // tables. Where it is exhausted they give up.
  Budget* work;
};

// That work on so many hosts: some tenths of a second for each decision on a large cluster. On few hosts, where
// more is decided exactly, it may be more.
struct WorkLimit {
  std::int64_t placing = 0;  // to find a placement
  std::int64_t reason = 0;   // to find out why there is none: twice
  std::int64_t victims = 0;  // to choose whom to evict
};
[[nodiscard]] inline WorkLimit work_limit(std::size_t hosts) {
  constexpr std::size_t kFewHosts = 256;
  return hosts <= kFewHosts ? WorkLimit{.placing = 24'000'000, .reason = 12'000'000, .victims = 24'000'000}
                            : WorkLimit{.placing = 16'000'000, .reason = 2'000'000, .victims = 8'000'000};
}

enum class SearchVerdict : std::uint8_t { kFound, kNone, kGaveUp };

struct SearchAnswer {
  SearchVerdict verdict = SearchVerdict::kNone;
  std::vector<Shares> shares;  // by part, where found
  bool rough = false;          // found without a look at how many domains it takes
};

// Leaves the inventory as it was. With Fill::kEmpty it tells whether the gang
// would fit if nothing else ran.
[[nodiscard]] SearchAnswer search(const SearchContext& context, const GangPlan& plan, Fill fill);
// Whether there is a placement now. Gives up where search() may still find one: what takes long is not tried.
[[nodiscard]] SearchVerdict search_any(const SearchContext& context, const GangPlan& plan);

}  // namespace gantree
