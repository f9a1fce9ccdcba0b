#include "queue/victims.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace gantree {

namespace {

class Search {
 public:
  Search(const Quota& quota, const Submission& submission, const QuotaDemand& demand,
         std::span<const RunningGang> running)
      : quota_(quota), submission_(submission), demand_(demand), running_(running) {}

  std::vector<VictimCandidate> find() && {
    if (submission_.queue) {
      rules_ = &quota_.rules(*submission_.queue);
      reclaims_ = may_reclaim();
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (running_[i].evictable) {
        consider(i);
      }
    }
    for (auto& [queue, positions] : lenders_) {
      take_back(queue, std::move(positions));
    }
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.position < b.position; });
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool lower(const RunningGang& gang) const { return gang.priority < submission_.priority; }

  // Whether some gangs of other queues of the tree may go at all.
  [[nodiscard]] bool may_reclaim() {
    borrows_ = quota_.would_borrow(demand_).has_value();
    return borrows_ ? rules_->evicts_to_borrow : rules_->reclaim != ReclaimRule::kNever;
  }

  void consider(std::size_t position) {
    const RunningGang& gang = running_[position];
    if (rules_ == nullptr) {
      if (lower(gang)) {
        found_.push_back({.position = position, .reason = EvictionReason::kPreempted});
      }
      return;
    }
    if (gang.queue == submission_.queue) {
      if (may_go_within(gang)) {
        found_.push_back({.position = position, .reason = EvictionReason::kPreempted});
      }
      return;
    }
    if (gang.queue && quota_.rules(*gang.queue).tree == rules_->tree) {
      if (reclaims_ && may_be_reclaimed(gang)) {
        lenders_[*gang.queue].push_back(position);
      }
      return;
    }
    // Another tree of the same family is another's property. All else meets only in priority.
    const bool stranger = !gang.queue || gang.dialect != submission_.dialect;
    if (stranger && rules_->within != WithinRule::kNever && lower(gang)) {
      found_.push_back({.position = position, .reason = EvictionReason::kPreempted});
    }
  }

  [[nodiscard]] bool may_go_within(const RunningGang& gang) const {
    switch (rules_->within) {
      case WithinRule::kNever:
        return false;
      case WithinRule::kLowerPriority:
        return lower(gang);
      case WithinRule::kLowerOrNewerEqualPriority:
        // What is not created yet is the newest of all.
        return lower(gang) || (gang.priority == submission_.priority && submission_.created_seconds != 0 &&
                               gang.created_seconds > submission_.created_seconds);
    }
    return false;
  }

  [[nodiscard]] bool may_be_reclaimed(const RunningGang& gang) const {
    if (borrows_) {
      return lower(gang) && gang.priority <= rules_->evicts_to_borrow_up_to.value_or(gang.priority);
    }
    return rules_->reclaim == ReclaimRule::kAny || lower(gang);
  }

  // Cells of another queue that hold what is needed: of the same flavor and resource.
  [[nodiscard]] std::vector<QuotaId> needed_cells(QueueId queue) const {
    std::vector<QuotaId> cells;
    for (const QuotaId theirs : quota_.cells_of(queue)) {
      const bool needed = std::any_of(demand_.begin(), demand_.end(), [&](const auto& entry) {
        const QuotaCell& ours = quota_.cell(entry.first);
        return entry.second > 0 && ours.flavor == quota_.cell(theirs).flavor &&
               ours.resource == quota_.cell(theirs).resource;
      });
      if (needed) {
        cells.push_back(theirs);
      }
    }
    return cells;
  }

  // Of a queue that borrows, the lowest and youngest gangs until it borrows no more.
  void take_back(QueueId queue, std::vector<std::size_t> positions) {
    std::map<QuotaId, std::int64_t> over;
    for (const QuotaId cell : needed_cells(queue)) {
      if (quota_.borrows(cell)) {
        over[cell] = quota_.cell(cell).used - quota_.total(cell);
      }
    }
    std::sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(running_[a].priority, -running_[a].started_seconds, std::tie(running_[b].key)) <
             std::tuple(running_[b].priority, -running_[b].started_seconds, std::tie(running_[a].key));
    });
    for (const std::size_t position : positions) {
      bool helps = false;
      for (const auto& [cell, amount] : running_[position].used) {
        const auto it = over.find(cell);
        if (it != over.end() && it->second > 0 && amount > 0) {
          it->second -= std::min(it->second, amount);
          helps = true;
        }
      }
      if (helps) {
        found_.push_back({.position = position, .reason = EvictionReason::kReclaimed});
      }
    }
  }

  const Quota& quota_;
  const Submission& submission_;
  const QuotaDemand& demand_;
  std::span<const RunningGang> running_;
  const QueueRules* rules_ = nullptr;  // of the submission's queue
  bool borrows_ = false;
  bool reclaims_ = false;
  std::map<QueueId, std::vector<std::size_t>> lenders_;  // gangs of other queues of the tree
  std::vector<VictimCandidate> found_;
};

}  // namespace

std::vector<VictimCandidate> victim_candidates(const Quota& quota, const Submission& submission,
                                               const QuotaDemand& demand, std::span<const RunningGang> running) {
  if (!submission.may_evict) {
    return {};
  }
  return Search(quota, submission, demand, running).find();
}

}  // namespace gantree
