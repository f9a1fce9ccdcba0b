#include "queue/victims.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "queue/fair_shares.h"

namespace gantree {

namespace {

class Search {
 public:
  Search(const Quota& quota, const Submission& submission, const QuotaDemand& demand,
         std::span<const RunningGang> running)
      : quota_(quota), submission_(submission), demand_(demand), running_(running) {
    if (submission_.queue) {
      rules_ = &quota_.rules(*submission_.queue);
      by_share_ = !quota_.share_strategies(*submission_.queue).empty();
    }
  }

  std::vector<VictimCandidate> find(Offer offer, ShareStrategy strategy) && {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (running_[i].evictable) {
        consider(i);
      }
    }
    if (offer == Offer::kAll) {
      for (const std::size_t position : reclaimable_) {
        found_.push_back({.position = position, .reason = EvictionReason::kReclaimed});
      }
    } else {
      take_back_lowest();
    }
    offer_by_share(offer, strategy);
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.position < b.position; });
    return std::move(found_);
  }

  // The one that is taken from a queue that does not borrow without the others; or, by share, has less than it must
  // keep. The largest go last: they may take more than is left to take.
  std::optional<std::size_t> unfair(std::span<const VictimCandidate> chosen, ShareStrategy strategy) && {
    for (const VictimCandidate& victim : chosen) {
      if (victim.reason == EvictionReason::kReclaimed) {
        lent_to(*running_[victim.position].queue);
        reclaimable_.push_back(victim.position);
      }
    }
    std::stable_sort(reclaimable_.begin(), reclaimable_.end(),
                     [&](std::size_t a, std::size_t b) { return largest_part(a) < largest_part(b); });
    const auto excess =
        std::find_if(reclaimable_.begin(), reclaimable_.end(), [&](std::size_t position) { return !take(position); });
    if (excess != reclaimable_.end()) {
      return *excess;
    }
    std::vector<const RunningGang*> shared;
    std::vector<const RunningGang*> others;
    for (const VictimCandidate& victim : chosen) {
      (victim.reason == EvictionReason::kFairShare ? shared : others).push_back(&running_[victim.position]);
    }
    if (shared.empty()) {
      return std::nullopt;
    }
    const RunningGang* gang = ShareContest(quota_, *submission_.queue, demand_).too_much(shared, others, strategy);
    return gang == nullptr ? std::nullopt : std::optional(position_of(gang));
  }

 private:
  // What another queue of the tree uses that is not its own.
  struct Lent {
    bool to_own_quota = true;                      // the submission would get back what is its queue's
    std::map<QuotaId, std::vector<QuotaId>> ways;  // its cells that borrow, each with those above that do too
  };

  [[nodiscard]] bool lower(const RunningGang& gang) const { return gang.priority < submission_.priority; }

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
      if (may_be_reclaimed(gang)) {
        (lent_to(*gang.queue).to_own_quota || !by_share_ ? reclaimable_ : shared_).push_back(position);
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

  [[nodiscard]] bool may_be_reclaimed(const RunningGang& gang) {
    const Lent& lent = lent_to(*gang.queue);
    if (lent.ways.empty()) {
      return false;
    }
    if (!lent.to_own_quota && !by_share_) {
      return rules_->evicts_to_borrow && lower(gang) &&
             gang.priority <= rules_->evicts_to_borrow_up_to.value_or(gang.priority);
    }
    return rules_->reclaim == ReclaimRule::kAny || (rules_->reclaim == ReclaimRule::kLowerPriority && lower(gang));
  }

  // Two queues settle below the lowest parent that they share: what is above is the business of both.
  const Lent& lent_to(QueueId queue) {
    const auto [it, is_new] = lent_.try_emplace(queue);
    Lent& lent = it->second;
    if (!is_new) {
      return lent;
    }
    for (const auto& [ours, amount] : demand_) {
      if (amount <= 0) {
        continue;
      }
      const std::optional<QuotaId> theirs = cell_like(ours, queue);
      const std::optional<QuotaId> shared = theirs ? shared_parent(ours, *theirs) : quota_.cell(ours).parent;
      lent.to_own_quota = lent.to_own_quota && stays_within(ours, amount, shared);
      if (!theirs) {
        continue;
      }
      std::vector<QuotaId> way = way_up(*theirs, shared);
      if (std::all_of(way.begin(), way.end(), [&](QuotaId cell) { return quota_.borrows(cell); })) {
        for (const QuotaId cell : way) {
          over_.try_emplace(cell, quota_.cell(cell).used - quota_.total(cell));
        }
        lent.ways.emplace(*theirs, std::move(way));
      }
    }
    return lent;
  }

  // The cell of another queue that holds what is needed: of the same flavor and resource.
  [[nodiscard]] std::optional<QuotaId> cell_like(QuotaId ours, QueueId queue) const {
    for (const QuotaId theirs : quota_.cells_of(queue)) {
      if (quota_.cell(theirs).flavor == quota_.cell(ours).flavor &&
          quota_.cell(theirs).resource == quota_.cell(ours).resource) {
        return theirs;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<QuotaId> shared_parent(QuotaId ours, QuotaId theirs) const {
    const std::vector<QuotaId> above = way_up(ours, {});
    for (std::optional<QuotaId> at = theirs; at; at = quota_.cell(*at).parent) {
      if (std::find(above.begin(), above.end(), *at) != above.end()) {
        return at;
      }
    }
    return std::nullopt;
  }

  // A cell and those above it, below `end`.
  [[nodiscard]] std::vector<QuotaId> way_up(QuotaId from, std::optional<QuotaId> end) const {
    std::vector<QuotaId> way{from};
    for (std::optional<QuotaId> at = quota_.cell(from).parent; at && at != end; at = quota_.cell(*at).parent) {
      way.push_back(*at);
    }
    return way;
  }

  // Whether the demand stays within what is nominal in a cell and those above it, below `end`.
  [[nodiscard]] bool stays_within(QuotaId from, std::int64_t needed, std::optional<QuotaId> end) const {
    for (const QuotaId id : way_up(from, end)) {
      const QuotaCell& cell = quota_.cell(id);
      const std::int64_t total = quota_.total(id);
      if (needed > total - cell.used) {
        return false;
      }
      // What it does not lend covers its part; the rest counts at the parent.
      const std::int64_t own = cell.lending_limit ? total - *cell.lending_limit : 0;
      needed -= std::min(needed, std::max<std::int64_t>(0, own - cell.used));
      if (needed == 0) {
        break;
      }
    }
    return true;
  }

  // What a gang uses most of what is lent.
  [[nodiscard]] std::int64_t largest_part(std::size_t position) const {
    std::int64_t most = 0;
    for (const auto& [cell, amount] : running_[position].used) {
      most = lent_.at(*running_[position].queue).ways.contains(cell) ? std::max(most, amount) : most;
    }
    return most;
  }

  [[nodiscard]] std::size_t position_of(const RunningGang* gang) const {
    return static_cast<std::size_t>(gang - running_.data());
  }

  void sort_lowest_first(std::vector<std::size_t>& positions) const {
    std::sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(running_[a].priority, -running_[a].started_seconds, std::tie(running_[b].key)) <
             std::tuple(running_[b].priority, -running_[b].started_seconds, std::tie(running_[a].key));
    });
  }

  // Of queues that borrow, where the submission's would borrow too: those of which the shares allow it.
  void offer_by_share(Offer offer, ShareStrategy strategy) {
    if (shared_.empty() || !submission_.may_evict_by_share) {
      return;
    }
    ShareContest contest(quota_, *submission_.queue, demand_);
    std::vector<const RunningGang*> own;
    for (const VictimCandidate& candidate : found_) {
      const RunningGang& gang = running_[candidate.position];
      if (gang.queue == submission_.queue) {
        own.push_back(&gang);
      }
    }
    std::map<QueueId, bool> may;
    std::erase_if(shared_, [&](std::size_t position) {
      const QueueId queue = *running_[position].queue;
      const auto known = may.find(queue);
      return known != may.end() ? !known->second : !may.emplace(queue, contest.may_lose(queue, own)).first->second;
    });
    std::vector<const RunningGang*> gangs;
    sort_lowest_first(shared_);
    for (const std::size_t position : shared_) {
      gangs.push_back(&running_[position]);
    }
    for (const RunningGang* gang : offer == Offer::kAll ? gangs : contest.in_turn(gangs, strategy)) {
      found_.push_back({.position = position_of(gang), .reason = EvictionReason::kFairShare});
    }
  }

  // Of the queues that borrow, the lowest and youngest gangs until nobody there borrows any more.
  void take_back_lowest() {
    sort_lowest_first(reclaimable_);
    for (const std::size_t position : reclaimable_) {
      if (take(position)) {
        found_.push_back({.position = position, .reason = EvictionReason::kReclaimed});
      }
    }
  }

  // Whether there is still something to take back with that gang; then it is gone.
  bool take(std::size_t position) {
    const Lent& lent = lent_.at(*running_[position].queue);
    bool helps = false;
    for (const auto& [cell, amount] : running_[position].used) {
      const auto way = lent.ways.find(cell);
      if (amount <= 0 || way == lent.ways.end() ||
          std::any_of(way->second.begin(), way->second.end(), [&](QuotaId id) { return over_.at(id) <= 0; })) {
        continue;
      }
      for (const QuotaId id : way->second) {
        over_.at(id) -= std::min(over_.at(id), amount);
      }
      helps = true;
    }
    return helps;
  }

  const Quota& quota_;
  const Submission& submission_;
  const QuotaDemand& demand_;
  std::span<const RunningGang> running_;
  const QueueRules* rules_ = nullptr;     // of the submission's queue
  bool by_share_ = false;                 // it evicts by share where it would borrow
  std::map<QueueId, Lent> lent_;          // by other queue of the tree
  std::map<QuotaId, std::int64_t> over_;  // what is used beyond quota and not yet offered, by cell of the ways
  std::vector<std::size_t> reclaimable_;  // gangs of other queues of the tree
  std::vector<std::size_t> shared_;       // the same, where shares decide
  std::vector<VictimCandidate> found_;
};

}  // namespace

std::vector<VictimCandidate> victim_candidates(const Quota& quota, const Submission& submission,
                                               const QuotaDemand& demand, std::span<const RunningGang> running,
                                               Offer offer, ShareStrategy strategy) {
  if (!submission.may_evict) {
    return {};
  }
  return Search(quota, submission, demand, running).find(offer, strategy);
}

bool outranks(const QueueRules& rules, const Submission& waits, const Submission& starts) {
  switch (rules.within) {
    case WithinRule::kNever:
      return false;
    case WithinRule::kLowerPriority:
      return starts.priority < waits.priority;
    case WithinRule::kLowerOrNewerEqualPriority:
      return starts.priority < waits.priority || (starts.priority == waits.priority && waits.created_seconds != 0 &&
                                                  starts.created_seconds > waits.created_seconds);
  }
  return false;
}

std::optional<std::size_t> one_too_many(const Quota& quota, const Submission& submission, const QuotaDemand& demand,
                                        std::span<const RunningGang> running, std::span<const VictimCandidate> chosen,
                                        ShareStrategy strategy) {
  return Search(quota, submission, demand, running).unfair(chosen, strategy);
}

}  // namespace gantree
