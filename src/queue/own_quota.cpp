#include "queue/own_quota.h"

#include <algorithm>

namespace gantree {

namespace {

// What a cell has that its parent never gets.
std::int64_t never_lent(const Quota& quota, QuotaId id) {
  const QuotaCell& cell = quota.cell(id);
  return cell.lending_limit ? std::max<std::int64_t>(0, quota.total(id) - *cell.lending_limit) : 0;
}

}  // namespace

std::vector<QuotaId> way_up(const Quota& quota, QuotaId cell, std::optional<QuotaId> end) {
  std::vector<QuotaId> way{cell};
  for (std::optional<QuotaId> at = quota.cell(cell).parent; at && at != end; at = quota.cell(*at).parent) {
    way.push_back(*at);
  }
  return way;
}

bool stays_within(const Quota& quota, const QueueRules& rules, const OwnPart& part, std::int64_t gone) {
  std::int64_t needed = part.amount;
  for (const QuotaId id : way_up(quota, part.cell, part.end)) {
    const std::int64_t in_use = quota.cell(id).used;
    const std::int64_t used = std::max<std::int64_t>(0, in_use - gone);
    const bool fits = needed <= quota.total(id) - used;
    if (fits == rules.takes_back_for_parents) {
      return fits;
    }
    // What it does not lend covers its part; the rest counts at the parent.
    const std::int64_t own = never_lent(quota, id);
    gone = std::min(gone, std::max<std::int64_t>(0, in_use - own));
    needed -= std::min(needed, std::max<std::int64_t>(0, own - used));
    if (needed == 0) {
      return true;
    }
  }
  return !rules.takes_back_for_parents;
}

bool keeps_quota(const QueueRules& rules) {
  return rules.strict && rules.reclaim != ReclaimRule::kAny;
}

QuotaDemand kept_quota(const Quota& quota, const Submission& submission) {
  if (!submission.queue || submission.parts.empty()) {
    return {};
  }
  // What is beyond its quota is never its own, but for one that evicts others to borrow it.
  const bool may_borrow = quota.rules(*submission.queue).evicts_to_borrow;
  const WayDemands demands = least_demands_of(submission);
  Combinations combinations(demands, [&](const QuotaDemand& sum) {
    return quota.could_fit(sum, submission.borrowing) && std::all_of(sum.begin(), sum.end(), [&](const auto& item) {
             return may_borrow || item.second <= quota.total(item.first);
           });
  });
  if (!combinations.next()) {
    return {};
  }
  std::vector<QuotaDemand> chosen;
  for (std::size_t part = 0; part < demands.size(); ++part) {
    chosen.push_back(demands[part][combinations.ways()[part]]);
  }
  QuotaDemand kept;
  for (const auto& [cell, needed] : Quota::sum(chosen, std::vector<int>(chosen.size(), 1))) {
    const std::int64_t left = std::max<std::int64_t>(0, quota.total(cell) - quota.cell(cell).used);
    if (quota.cell(cell).parent && std::min(needed, left) > 0) {
      kept.emplace_back(cell, std::min(needed, left));
    }
  }
  return kept;
}

}  // namespace gantree
