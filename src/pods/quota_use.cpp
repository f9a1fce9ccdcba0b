#include "pods/quota_use.h"

#include <utility>

namespace gantree {

void QuotaUse::set_up(const Quota& queues) {
  first_queue_ = account_.quota.queues();
  first_cell_ = account_.quota.size();
  queues_ = queues.queues();
  cells_ = queues.size();
  used_.clear();
  account_.quota.append(queues);
  version_ = account_.quota_version;
}

QuotaDemand QuotaUse::on_account(QuotaDemand demand) const {
  for (auto& [cell, amount] : demand) {
    cell = make_id<QuotaTag>(first_cell_ + cell.index());
  }
  return demand;
}

std::optional<QueueId> QuotaUse::on_account(std::optional<QueueId> queue) const {
  return queue ? std::optional(make_id<QueueTag>(first_queue_ + queue->index())) : std::nullopt;
}

void QuotaUse::translate(Submission& submission) const {
  submission.queue = on_account(submission.queue);
  for (std::vector<Alternative>& ways : submission.parts) {
    for (Alternative& way : ways) {
      for (QuotaDemand& demand : way.demand) {
        demand = on_account(std::move(demand));
      }
    }
  }
}

void QuotaUse::translate(RunningGang& gang) const {
  gang.queue = on_account(gang.queue);
  gang.used = on_account(std::move(gang.used));
  for (SparePods& spare : gang.spare) {
    spare.used = on_account(std::move(spare.used));
  }
}

void QuotaUse::grant(const std::string& gang, const QuotaDemand& demand) {
  if (!demand.empty()) {
    QuotaDemand& used = used_[gang].used;
    used = Quota::sum({used, demand}, {1, 1});
  }
}

void QuotaUse::measure(const std::string& gang, const RunningGang& running) {
  drop(gang);
  if (!running.queue || running.used.empty()) {
    return;
  }
  account_.quota.take(running.used);
  RunningGang& known = used_[gang];
  known.key = running.key;
  known.dialect = running.dialect;
  known.priority = running.priority;
  known.created_seconds = running.created_seconds;
  known.started_seconds = running.started_seconds;
  known.evictable = running.evictable;
  known.queue = running.queue;
  known.used = running.used;
}

void QuotaUse::drop(const std::string& gang) {
  const auto known = used_.find(gang);
  if (known == used_.end()) {
    return;
  }
  account_.quota.give(known->second.used);
  for (const auto& [cell, amount] : known->second.used) {
    account_.freed_quota.insert(account_.root_of(cell));
  }
  used_.erase(known);
}

std::vector<CellFigures> QuotaUse::figures() const {
  std::vector<CellFigures> figures;
  for (std::size_t i = 0; i < cells_; ++i) {
    CellFigures& one =
        figures.emplace_back(CellFigures{.cell = account_.quota.cell(make_id<QuotaTag>(first_cell_ + i))});
    one.requested = one.cell.used;
    if (one.cell.parent) {
      one.cell.parent = make_id<QuotaTag>(one.cell.parent->index() - first_cell_);
    }
  }
  return figures;
}

void QuotaUse::ask(const QuotaDemand& demand, std::vector<CellFigures>& figures) const {
  for (const auto& [cell, amount] : demand) {
    std::optional<QuotaId> at = make_id<QuotaTag>(cell.index() - first_cell_);
    for (; at; at = figures[at->index()].cell.parent) {
      std::int64_t& requested = figures[at->index()].requested;
      requested = __builtin_add_overflow(requested, amount, &requested) ? kUnlimited : requested;
    }
  }
}

QuotaDemand QuotaUse::of(const std::string& gang) const {
  const auto known = used_.find(gang);
  return known == used_.end() ? QuotaDemand() : known->second.used;
}

}  // namespace gantree
