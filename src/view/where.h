// Where a gang is, in a few words.
#pragma once

#include <span>
#include <string>

#include "engine/domain_tree.h"
#include "model/decision.h"

namespace gantree::view {

// The domains of some hosts: "b1/r3: 4 hosts", "b1: r1–r4 (8 hosts each)",
// "b1: r1 (8), r2 (3 hosts)". Where that is longer than `width` columns, how many
// domains of each level: "b1: 9 racks, 72 hosts".
[[nodiscard]] std::string where_text(const Topology& topology, const DomainTree& tree,
                                     std::span<const HostShare> shares, int width, bool unicode);

// "b1/r3": the names from the top, printable; of an added host level also the host.
[[nodiscard]] std::string path_text(const DomainTree& tree, Domain domain, bool unicode);

}  // namespace gantree::view
