#include "queue/quota.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/check.h"
#include "base/saturating.h"

namespace gantree {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

QueueId Quota::add_queue(QueueRules rules) {
  queues_.push_back({.rules = std::move(rules), .cells = {}});
  return make_id<QueueTag>(queues_.size() - 1);
}

// What stays with the cell whatever its parent needs.
std::int64_t Quota::own(const Cell& cell) {
  return cell.cell.lending_limit ? std::max<std::int64_t>(0, cell.total - *cell.cell.lending_limit) : 0;
}

// What it may use at most; a root has nobody to borrow from.
std::int64_t Quota::bound(const Cell& cell, Borrowing borrowing) {
  if (!cell.cell.parent || borrowing == Borrowing::kForbidden) {
    return cell.total;
  }
  return cell.cell.borrowing_limit ? saturated_sum(cell.total, *cell.cell.borrowing_limit) : kMost;
}

// Passes on to the parents what a cell lends more than before.
void Quota::grow(QuotaId id, std::int64_t lent_before) {
  const Cell& cell = cells_[id.index()];
  if (!cell.cell.parent) {
    return;
  }
  const std::int64_t lent = cell.total - own(cell);
  Cell& parent = cells_[cell.cell.parent->index()];
  const std::int64_t parent_lent = parent.total - own(parent);
  if (!parent.cell.whole) {
    parent.total = saturated_sum(parent.total, lent - lent_before);
  }
  grow(*cell.cell.parent, parent_lent);
}

QuotaId Quota::add(QuotaCell cell) {
  const QuotaId id = make_id<QuotaTag>(cells_.size());
  GANTREE_CHECK(!cell.parent || cell.parent->index() < cells_.size());
  if (cell.owner) {
    queues_[cell.owner->index()].cells.push_back(id);
  }
  const std::int64_t nominal = cell.nominal;
  cells_.push_back({.cell = std::move(cell), .total = nominal, .below = 0});
  grow(id, 0);
  if (nominal != kUnlimited) {
    for (std::optional<QuotaId> at = id; at; at = cells_[at->index()].cell.parent) {
      cells_[at->index()].below = saturated_sum(cells_[at->index()].below, nominal);
    }
  }
  return id;
}

void Quota::append(const Quota& other) {
  const std::size_t first_queue = queues_.size();
  const std::size_t first_cell = cells_.size();
  for (const Queue& queue : other.queues_) {
    add_queue(queue.rules);
  }
  for (const Cell& one : other.cells_) {
    QuotaCell cell = one.cell;
    cell.used = 0;
    if (cell.parent) {
      cell.parent = make_id<QuotaTag>(first_cell + cell.parent->index());
    }
    if (cell.owner) {
      cell.owner = make_id<QueueTag>(first_queue + cell.owner->index());
    }
    add(std::move(cell));
  }
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
      it->second = saturated_sum(it->second, saturated_product(amount, counts[set]));
    }
  }
  return total;
}

std::optional<Quota::Obstacle> Quota::obstacle(QuotaId id, std::int64_t needed, Borrowing borrowing,
                                               bool when_empty) const {
  while (needed > 0) {
    const Cell& cell = cells_[id.index()];
    const std::int64_t used = when_empty ? 0 : cell.cell.used;
    if (saturated_sum(used, needed) > bound(cell, borrowing)) {
      return Obstacle{.at = id, .needed = needed};
    }
    if (!cell.cell.parent) {
      return std::nullopt;
    }
    needed -= std::min(needed, std::max<std::int64_t>(0, own(cell) - used));
    id = *cell.cell.parent;
  }
  return std::nullopt;
}

bool Quota::fits(const QuotaDemand& sum, Borrowing borrowing) const {
  return std::none_of(sum.begin(), sum.end(), [&](const auto& entry) {
    return obstacle(entry.first, entry.second, borrowing, false).has_value();
  });
}

bool Quota::could_fit(const QuotaDemand& sum, Borrowing borrowing) const {
  return std::none_of(sum.begin(), sum.end(), [&](const auto& entry) {
    return obstacle(entry.first, entry.second, borrowing, true).has_value();
  });
}

Shortage Quota::shortage(QuotaId id, const Obstacle& obstacle, Borrowing borrowing, bool ever) const {
  const Cell& at = cells_[obstacle.at.index()];
  const auto amount = [&](std::int64_t value) { return format_quantity(value, at.cell.unit); };
  const std::string whose = id == obstacle.at ? "" : fmt::format(" for {}", cell(id).queue);
  const std::int64_t most = bound(at, borrowing);
  std::string borrowed;
  if (borrowing == Borrowing::kForbidden) {
    borrowed = " without borrowing";
  } else if (at.cell.parent && *at.cell.borrowing_limit > 0) {
    borrowed = fmt::format(" ({} and {} to borrow)", amount(at.total), amount(*at.cell.borrowing_limit));
  }
  const std::string in_flavor = at.cell.flavor.empty() ? "" : fmt::format(" in flavor \"{}\"", at.cell.flavor);
  if (!ever) {
    return {.message = fmt::format("{} gives {} {}{}{}{}: {} are needed", at.cell.queue, amount(most), at.cell.resource,
                                   in_flavor, borrowed, whose, amount(obstacle.needed)),
            .ever = false};
  }
  const std::int64_t left = std::max<std::int64_t>(0, most - at.cell.used);
  return {.message =
              fmt::format("{} has {} of {} {} left{}{}{}: {} more are needed", at.cell.queue, amount(left),
                          amount(most), at.cell.resource, in_flavor, borrowed, whose, amount(obstacle.needed - left)),
          .ever = true};
}

std::optional<Shortage> Quota::lacking(const QuotaDemand& sum, Borrowing borrowing) const {
  std::optional<Shortage> first;
  for (const auto& [id, needed] : sum) {
    const auto now = obstacle(id, needed, borrowing, false);
    if (!now) {
      continue;
    }
    if (const auto always = obstacle(id, needed, borrowing, true)) {
      return shortage(id, *always, borrowing, false);
    }
    if (!first) {
      first = shortage(id, *now, borrowing, true);
    }
  }
  return first;
}

void Quota::take(const QuotaDemand& sum) {
  for (const auto& [leaf, amount] : sum) {
    std::int64_t rest = amount;
    for (std::optional<QuotaId> id = leaf; id && rest > 0;) {
      Cell& cell = cells_[id->index()];
      const std::int64_t room = std::max<std::int64_t>(0, own(cell) - cell.cell.used);
      cell.cell.used = saturated_sum(cell.cell.used, rest);
      rest -= std::min(rest, room);
      id = cell.cell.parent;
    }
  }
}

void Quota::give(const QuotaDemand& sum) {
  for (const auto& [leaf, amount] : sum) {
    std::int64_t rest = amount;
    for (std::optional<QuotaId> id = leaf; id && rest > 0;) {
      Cell& cell = cells_[id->index()];
      const std::int64_t at_parent = std::max<std::int64_t>(0, cell.cell.used - own(cell));
      cell.cell.used = std::max<std::int64_t>(0, cell.cell.used - rest);
      rest = std::min(rest, at_parent);
      id = cell.cell.parent;
    }
  }
}

bool Quota::borrows(QueueId id) const {
  const auto& cells = cells_of(id);
  return std::any_of(cells.begin(), cells.end(), [&](QuotaId cell) { return borrows(cell); });
}

std::optional<QuotaId> Quota::would_borrow(const QuotaDemand& sum) const {
  for (const auto& [id, needed] : sum) {
    if (needed > 0 && saturated_sum(cell(id).used, needed) > total(id)) {
      return id;
    }
  }
  return std::nullopt;
}

// The bounded quota of the whole tree.
std::int64_t Quota::measure(QuotaId id) const {
  while (cell(id).parent) {
    id = *cell(id).parent;
  }
  return cells_[id.index()].below;
}

std::int64_t Quota::share(QueueId id) const {
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> over_and_all;  // by resource
  for (const QuotaId of : cells_of(id)) {
    auto& [over, all] = over_and_all[cell(of).resource];
    over = saturated_sum(over, std::max<std::int64_t>(0, cell(of).used - total(of)));
    all = saturated_sum(all, measure(of));
  }
  // Doubles of integers, in a fixed order of operations: the same everywhere.
  double most = 0;
  for (const auto& [resource, amounts] : over_and_all) {
    most = std::max(
        most, static_cast<double>(amounts.first) / static_cast<double>(std::max<std::int64_t>(1, amounts.second)));
  }
  if (most == 0) {
    return 0;
  }
  const double weighed = most * 1e9 / static_cast<double>(std::max<std::int64_t>(0, rules(id).weight));
  return weighed < 1e18 ? static_cast<std::int64_t>(weighed) : kMost;
}

}  // namespace gantree
