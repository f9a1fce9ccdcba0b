// Hosts by what assignments call them. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dialects/kueue/assignment.h"
#include "engine/inventory.h"
#include "kueue/ledger.h"

namespace gantree::kueue {

// The domain of a node, by the levels of an assignment; empty where it is in none.
[[nodiscard]] std::vector<std::string> domain_of(const Inventory& inventory, const std::string& node,
                                                 const TopologyAssignment& assignment);

// The domain that a pod without a node was sent to; empty where it was sent to none.
[[nodiscard]] std::vector<std::string> domain_selected(const StartedPod& pod, const TopologyAssignment& assignment);
// Pods of a pod set by domain that were sent there, and have no node yet.
[[nodiscard]] std::map<std::vector<std::string>, int> pods_on_their_way(const Ledger& ledger, const Entry& entry,
                                                                        const SetAssignment& set);

// Whether the domains of an assignment are hosts.
[[nodiscard]] bool is_by_host(const SetAssignment& set);
[[nodiscard]] bool is_there(const Ledger& ledger, const std::string& node);
// Whether a host is there and takes further pods of a pod set, as far as it is not full.
[[nodiscard]] bool takes_pods(const Ledger& ledger, const Entry& entry, const SetAssignment& set,
                              const std::string& node);
// How many pods of a pod set run on a host and may run on there, whether it takes others or not: none where it is gone.
[[nodiscard]] int run_on(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node);
// How many pods of a pod set its job wants at once: fewer than it was given where its user has made it smaller since it
// runs, else very many.
[[nodiscard]] int pods_wanted(const Ledger& ledger, const Entry& entry, const SetAssignment& set);
// How many of the pods that were given back are over, and will not be replaced: the others are not wanted any more.
[[nodiscard]] int over_for_good(const Ledger& ledger, const Entry& entry, const SetAssignment& set);
// How many of those are over on a host.
[[nodiscard]] int over_on(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node);

}  // namespace gantree::kueue
