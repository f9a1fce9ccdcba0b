// Hosts by what assignments call them. Pure.
#pragma once

#include <string>
#include <vector>

#include "engine/inventory.h"
#include "kueue/assignment.h"
#include "kueue/ledger.h"

namespace gantree::kueue {

// The node that carries a hostname; its own name in nearly all clusters, and where there is none.
[[nodiscard]] std::string node_named(const Inventory& inventory, const std::string& hostname);
// The hostname that a node carries; its name where it carries none.
[[nodiscard]] std::string hostname_of(const Inventory& inventory, NodeId node);
// The domain of a node, by the levels of an assignment; empty where it is in none.
[[nodiscard]] std::vector<std::string> domain_of(const Inventory& inventory, const std::string& node,
                                                 const TopologyAssignment& assignment);

// Whether the domains of an assignment are hosts.
[[nodiscard]] bool is_by_host(const SetAssignment& set);
// Whether a host is there and takes further pods of a pod set, as far as it is not full.
[[nodiscard]] bool takes_pods(const Ledger& ledger, const Entry& entry, const SetAssignment& set,
                              const std::string& node);
// Whether a host is of no use any more to the pods of a pod set that were assigned to it: it is gone, or takes them no
// longer and none of them runs there.
[[nodiscard]] bool is_lost(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node);

}  // namespace gantree::kueue
