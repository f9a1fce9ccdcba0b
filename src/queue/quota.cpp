#include "queue/quota.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace gantree {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t add_up(std::int64_t sum, std::int64_t amount, std::int64_t count) {
  std::int64_t product = 0;
  std::int64_t total = 0;
  if (__builtin_mul_overflow(amount, count, &product) || __builtin_add_overflow(sum, product, &total)) {
    return kMost;
  }
  return total;
}

Shortage shortage(const QuotaCell& cell, std::int64_t needed) {
  const auto amount = [&](std::int64_t value) { return format_quantity(value, cell.unit); };
  if (needed > cell.nominal) {
    return {.message = fmt::format("{} gives {} {} in flavor \"{}\": {} are needed", cell.queue, amount(cell.nominal),
                                   cell.resource, cell.flavor, amount(needed)),
            .ever = false};
  }
  const std::int64_t left = std::max<std::int64_t>(0, cell.nominal - cell.used);
  return {.message = fmt::format("{} has {} of {} {} left in flavor \"{}\": {} more are needed", cell.queue,
                                 amount(left), amount(cell.nominal), cell.resource, cell.flavor, amount(needed - left)),
          .ever = true};
}

}  // namespace

QuotaId Quota::add(QuotaCell cell) {
  cells_.push_back(std::move(cell));
  return make_id<QuotaTag>(cells_.size() - 1);
}

QuotaDemand Quota::sum(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts) {
  GANTREE_CHECK(demands.size() == counts.size());
  QuotaDemand total;
  for (std::size_t set = 0; set < demands.size(); ++set) {
    for (const auto& [cell, amount] : demands[set]) {
      auto it = std::lower_bound(total.begin(), total.end(), cell,
                                 [](const auto& entry, QuotaId id) { return entry.first < id; });
      if (it == total.end() || it->first != cell) {
        it = total.insert(it, {cell, 0});
      }
      it->second = add_up(it->second, amount, counts[set]);
    }
  }
  return total;
}

std::optional<Shortage> Quota::lacking(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts) const {
  std::optional<Shortage> first;
  for (const auto& [id, needed] : sum(demands, counts)) {
    const QuotaCell& cell = this->cell(id);
    if (needed == 0 || needed <= cell.nominal - cell.used) {
      continue;
    }
    Shortage found = shortage(cell, needed);
    if (!found.ever) {
      return found;
    }
    if (!first) {
      first = std::move(found);
    }
  }
  return first;
}

void Quota::take(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts) {
  for (const auto& [id, needed] : sum(demands, counts)) {
    QuotaCell& cell = cells_[id.index()];
    cell.used = add_up(cell.used, needed, 1);
  }
}

}  // namespace gantree
