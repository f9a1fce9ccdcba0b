// What is a queue's own, below a parent that it shares with others: taken back from those that borrow it, and kept for
// one that waits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "queue/quota.h"
#include "queue/submission.h"

namespace gantree {

// A part of a demand, of one cell of its queue.
struct OwnPart {
  QuotaId cell;
  std::int64_t amount = 0;
  std::optional<QuotaId> end = {};  // a parent above the cell; none: beyond the root
};

// The cell and those above it, below the end.
[[nodiscard]] std::vector<QuotaId> way_up(const Quota& quota, QuotaId cell, std::optional<QuotaId> end);

// Whether a part stays within what is nominal on its way up: in one cell, or in all of them, as
// QueueRules::takes_back_for_parents has it. `gone`: what leaves its cell meanwhile.
[[nodiscard]] bool stays_within(const Quota& quota, const QueueRules& rules, const OwnPart& part,
                                std::int64_t gone = 0);

// Whether the first of a queue that waits keeps its queue's quota meanwhile, so that nobody else of the cohort borrows
// it: that of a strict queue, unless it may take back its quota from anybody.
[[nodiscard]] bool keeps_quota(const QueueRules& rules);

// What is kept for it: of what the first way asks for that its queue's own quota could hold, as much as is left of
// that. Nothing where there is no such way. What its cohorts have of their own is not kept: others of them may use it
// too.
[[nodiscard]] QuotaDemand kept_quota(const Quota& quota, const Submission& submission);

}  // namespace gantree
