// The last word before an answer leaves the engine: is this placement legal?
//
// Held against the gang and the hosts in the plainest way: how many pods, room, where they may run, required
// domains, slices, domains of their own. It knows nothing of how the answer was found, and is on in every build:
// its cost follows the hosts that are named.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/domain_tree.h"
#include "engine/inventory.h"
#include "model/decision.h"
#include "model/gang.h"

namespace gantree {

struct AnswerContext {
  const Inventory& inventory;
  TreeOf tree;
  // The domains of a level that others of the gang's kind have to themselves; nullptr: none.
  std::function<const std::vector<bool>*(TopologyId, int level)> occupied;
};

// Space that the check uses again from one answer to the next.
struct AnswerScratch {
  // Pods of one set on one host.
  struct Share {
    NodeId node;
    std::uint32_t set = 0;
    int count = 0;
  };
  std::vector<const PodSet*> sets;
  std::vector<TopologyId> topologies;  // by pod set
  std::vector<Share> shares;
};

// What is wrong with an answer, in one sentence; or none. `counts` are the pods placed by pod set.
[[nodiscard]] std::optional<std::string> answer_fault(const AnswerContext& context, const Gang& gang,
                                                      const std::vector<int>& counts, const Placement& placement,
                                                      AnswerScratch& scratch);

}  // namespace gantree
