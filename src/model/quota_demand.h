// What is asked of quotas, by cell. The cells themselves are the queue's business.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/id.h"

namespace gantree {

using QueueId = Id<struct QueueTag>;
using QuotaId = Id<struct QuotaTag>;

// Amounts by cell; of one pod, or of many together.
using QuotaDemand = std::vector<std::pair<QuotaId, std::int64_t>>;

}  // namespace gantree
