// Choosing how many pods of each set start where not all of them fit.
//
// Whether counts fit is asked of the search, an attempt at a time; attempts are bounded. Fewer pods
// always fit where more do, so what failed rules out all that is larger. The choice is exact where the
// attempts suffice: for up to about six groups that may be left out and some hundred counts.
#pragma once

#include <functional>
#include <optional>

#include "engine/admissible.h"
#include "engine/search.h"

namespace gantree {

// Whether exactly these pods can be placed. They are at least one.
using Fits = std::function<SearchVerdict(const Counts&)>;

struct CountChoice {
  std::optional<Counts> counts;  // admissible, and known to fit
  bool proven = false;           // without counts: it is certain that nothing admissible fits
};

// The most pods that fit. Equal numbers: the same part of every set that can spare some.
[[nodiscard]] CountChoice most_that_fit(const Group& root, const Fits& fits);

// Some admissible counts that fit, among the smallest.
[[nodiscard]] CountChoice least_that_fit(const Group& root, const Fits& fits);

// The fewest pods with which a gang may start, for people to read; of a wholly elastic gang one pod a set.
struct Smallest {
  Counts counts;
  const Group* short_of_pods = nullptr;  // a group that can never reach its minimum
};
[[nodiscard]] Smallest smallest_start(const Group& root);

}  // namespace gantree
