// Which group of a gang keeps it from starting: one that does not fit even where none of the others is there.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/admissible.h"
#include "engine/gang_plan.h"
#include "engine/search.h"
#include "model/gang.h"

namespace gantree {

struct Culprit {
  const Group* group = nullptr;
  GangPlan plan;  // of its pods alone, below all that is asked for around it
};

// The innermost nested group of which that is certain, of several the first. `counts` are the pods to start by pod set.
// Bounded: of very many kinds of groups only the first are tried.
[[nodiscard]] std::optional<Culprit> find_culprit(const SearchContext& context, const Gang& gang, const Counts& counts,
                                                  Fill fill);

// So many groups that are alike, of which fewer fit even where only these are there.
struct TooManyAlike {
  const Part* part = nullptr;  // of the plan: pods of one of them
  int groups = 0;
  int fit = 0;
  int level = 0;       // each of them in one domain of it
  bool alone = false;  // and alone there
};
// For groups of one pod set each. The plan must outlive what is found.
[[nodiscard]] std::optional<TooManyAlike> too_many_alike(const SearchContext& context, const GangPlan& plan, Fill fill);

}  // namespace gantree
