// Why a gang does not fit, in one sentence a person can act on.
#pragma once

#include <string>
#include <vector>

#include "engine/admissible.h"
#include "engine/search.h"
#include "model/decision.h"

namespace gantree {

// Names the group, and the part of it, that fits nowhere by itself, or else the whole gang, with the
// nearest domains and what each lacks: "no rack can hold all 8 pods of pod set
// \"main\"; nearest: b1/r3 offers 6 of 8 (2 hosts short of nvidia.com/gpu, 1 tainted)".
// `counts` are the pods to start by pod set.
[[nodiscard]] std::string explain_refusal(const SearchContext& context, const Gang& gang, const Counts& counts,
                                          const std::vector<Topology>& topologies, Refusal refusal);

}  // namespace gantree
