// What a ClusterQueue says of order, flavors and evictions.
#pragma once

#include "json/decode.h"
#include "queue/queue_rules.h"

namespace gantree::kueue {

struct QueuePolicy {
  QueueRules rules;                      // without the name and the tree
  bool own_quota_first = false;          // flavorFungibility.whenCanBorrow
  bool evicts_before_next = false;       // flavorFungibility.whenCanPreempt
  bool evicts_before_borrowing = false;  // flavorFungibility.preference
};

// Of the spec of a ClusterQueue.
[[nodiscard]] QueuePolicy read_policy(json::Reader& read, json::Value spec);

// `fairSharing.weight` in thousandths.
[[nodiscard]] std::int64_t read_weight(json::Reader& read, json::Value spec);

}  // namespace gantree::kueue
