// The other ways to place identical pods: into the tightest holes, evenly, in
// equal shares, or as near as possible to where most of them fit.
#pragma once

#include <optional>

#include "engine/pack.h"

namespace gantree {

// The smallest holes first, so that whole domains stay free: hosts with the
// fewest slots, and among those the fullest domains, and among those what the
// pods prefer. Exact: fails only where
// the scope cannot hold the pods. Scopes without `required` and slices only.
[[nodiscard]] std::optional<Shares> fill_tightest(const SlotCounts& counts, const Scope& scope, int pods);

// As even as possible over the children of every domain, from the top down;
// inside one domain of the required level, the one with the most room.
[[nodiscard]] std::optional<Shares> fill_evenly(const SlotCounts& counts, const Scope& scope, int pods);

// Equal shares (they differ by one piece at most where room allows) over the
// fewest domains of `level`, inside one domain of the required level.
[[nodiscard]] std::optional<Shares> fill_balanced(const SlotCounts& counts, const Scope& scope, int level, int pods,
                                                  Budget& budget);

// Packed where one domain of `level` holds all. Otherwise inside the lowest
// domain above that does: the domain of `level` with the most room takes all it
// can, its siblings what they hold of the rest, and so on up the tree, so that
// the pods' distance to it (edges of the tree) is the least. Exact: fails only
// where the scope cannot hold the pods.
[[nodiscard]] std::optional<Shares> fill_nearest(const SlotCounts& counts, const Scope& scope, int level, int pods,
                                                 Budget& budget);

}  // namespace gantree
