#include "queue/victims.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

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
    for (const auto& [cell, amount] : demand_) {
      if (amount > 0 && !quota_.fits({{cell, amount}}, submission_.borrowing)) {
        short_.insert(cell);
      }
    }
  }

  VictimOffer find(Offer offer, Ending ending, ShareStrategy strategy) && {
    ending_ = ending;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (may_go(running_[i]) && !is_of_the_tree(running_[i])) {
        consider_near(i);
      }
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (may_go(running_[i]) && is_of_the_tree(running_[i])) {
        consider_far(i);
      }
    }
    if (ending == Ending::kWithinQuota && ends_.empty()) {
      return {};
    }
    if (offer == Offer::kAll) {
      for (const std::size_t position : reclaimable_) {
        found_.push_back(reclaimed(position));
      }
    } else {
      take_back_lowest();
    }
    offer_by_share(offer, strategy);
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.position < b.position; });
    VictimOffer made{.candidates = std::move(found_), .within = {}};
    for (const auto& [cell, amount] : demand_) {
      if (const auto end = ends_.find(cell); end != ends_.end()) {
        made.within.push_back({.cell = cell, .amount = amount, .end = end->second});
      }
    }
    return made;
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
    bool to_own_quota = true;                        // the submission would get back what is its queue's
    bool without_own = true;                         // the same once all of its own queue that may go are gone
    std::map<QuotaId, std::optional<QuotaId>> ends;  // of what is short: the lowest parent that both queues share
    std::map<QuotaId, std::vector<QuotaId>> ways;    // its cells that borrow, each with those above that do too
  };

  // Nobody makes room for more pods of a gang by evicting others of it.
  [[nodiscard]] bool may_go(const RunningGang& gang) const {
    return gang.evictable && (gang.key != submission_.key || gang.dialect != submission_.dialect) &&
           (submission_.now_seconds == 0 || kept_until(quota_, submission_, gang) <= submission_.now_seconds);
  }

  [[nodiscard]] bool lower(const RunningGang& gang) const { return gang.priority < submission_.priority; }

  [[nodiscard]] bool is_of_the_tree(const RunningGang& gang) const {
    return rules_ != nullptr && gang.queue && gang.queue != submission_.queue &&
           quota_.rules(*gang.queue).tree == rules_->tree;
  }

  // Nothing short: it is for room on hosts.
  [[nodiscard]] bool is_short(QuotaId cell) const { return short_.empty() || short_.contains(cell); }

  [[nodiscard]] VictimCandidate reclaimed(std::size_t position) const {
    return {.position = position,
            .reason = EvictionReason::kReclaimed,
            .to_borrow = !lent_.at(*running_[position].queue).to_own_quota && may_go_to_borrow(running_[position])};
  }

  // Of its own queue, or of none that lends to it.
  void consider_near(std::size_t position) {
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
        for (const auto& [cell, amount] : gang.used) {
          own_gone_[cell] += amount;
        }
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

  // Of another queue of the tree.
  void consider_far(std::size_t position) {
    const RunningGang& gang = running_[position];
    const Lent& lent = lent_to(*gang.queue);
    if (lent.ways.empty()) {
      return;
    }
    if (!lent.to_own_quota && !by_share_ && may_go_to_borrow(gang)) {
      reclaimable_.push_back(position);
      return;
    }
    if (rules_->reclaim == ReclaimRule::kNever || (rules_->reclaim == ReclaimRule::kLowerPriority && !lower(gang))) {
      return;
    }
    if (lent.to_own_quota) {
      reclaimable_.push_back(position);
    } else if (by_share_) {
      shared_.push_back(position);
    } else if (lent.without_own && ending_ == Ending::kWithinQuota) {
      reclaimable_.push_back(position);
      bind(lent);
    }
  }

  [[nodiscard]] bool may_go_to_borrow(const RunningGang& gang) const {
    return rules_->evicts_to_borrow && lower(gang) &&
           gang.priority <= rules_->evicts_to_borrow_up_to.value_or(gang.priority);
  }

  // What is short has to end within quota below the parent that is shared with all of whom this is asked: the lowest.
  void bind(const Lent& lent) {
    for (const auto& [cell, end] : lent.ends) {
      const auto [it, is_new] = ends_.try_emplace(cell, end);
      if (!is_new && way_up(quota_, cell, end).size() < way_up(quota_, cell, it->second).size()) {
        it->second = end;
      }
    }
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
      const bool own = is_own(ours, amount, shared, 0);
      if (is_short(ours)) {
        lent.ends.emplace(ours, shared);
        lent.to_own_quota = lent.to_own_quota && own;
        const auto gone = own_gone_.find(ours);
        lent.without_own =
            lent.without_own && (own || (gone != own_gone_.end() && is_own(ours, amount, shared, gone->second)));
      }
      // What is there and would be borrowed is taken from nobody.
      if (!theirs || (!own && !is_short(ours))) {
        continue;
      }
      std::vector<QuotaId> way = way_up(quota_, *theirs, shared);
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
    const std::vector<QuotaId> above = way_up(quota_, ours, {});
    for (std::optional<QuotaId> at = theirs; at; at = quota_.cell(*at).parent) {
      if (std::find(above.begin(), above.end(), *at) != above.end()) {
        return at;
      }
    }
    return std::nullopt;
  }

  // Whether the demand stays within what is nominal below a parent. Where shares count, what is a parent's own is a
  // matter of its share.
  [[nodiscard]] bool is_own(QuotaId cell, std::int64_t amount, std::optional<QuotaId> end, std::int64_t gone) const {
    if (by_share_ && rules_->takes_back_for_parents) {
      return amount <= quota_.total(cell) - std::max<std::int64_t>(0, quota_.cell(cell).used - gone);
    }
    return stays_within(quota_, *rules_, {.cell = cell, .amount = amount, .end = end}, gone);
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
        found_.push_back(reclaimed(position));
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
  const QueueRules* rules_ = nullptr;  // of the submission's queue
  bool by_share_ = false;              // it evicts by share where it would borrow
  Ending ending_ = Ending::kAnyhow;
  std::set<QuotaId> short_;                         // cells of the demand for which quota is short
  std::map<QuotaId, std::int64_t> own_gone_;        // what those of its own queue use that may go, by cell
  std::map<QuotaId, std::optional<QuotaId>> ends_;  // of what has to end within quota
  std::map<QueueId, Lent> lent_;                    // by other queue of the tree
  std::map<QuotaId, std::int64_t> over_;  // what is used beyond quota and not yet offered, by cell of the ways
  std::vector<std::size_t> reclaimable_;  // gangs of other queues of the tree
  std::vector<std::size_t> shared_;       // the same, where shares decide
  std::vector<VictimCandidate> found_;
};

}  // namespace

std::int64_t kept_until(const Quota& quota, const Submission& submission, const RunningGang& gang) {
  if (!gang.queue || !submission.queue || gang.since_seconds == 0) {
    return 0;
  }
  const bool within = gang.queue == submission.queue;
  const std::vector<LeastRun>& own = quota.rules(*submission.queue).least_runs;
  for (const LeastRun& one : quota.rules(*gang.queue).least_runs) {
    const bool shared =
        std::any_of(own.begin(), own.end(), [&](const LeastRun& other) { return other.queue == one.queue; });
    if (!within && shared) {
      return 0;
    }
    if (const auto& seconds = within ? one.within_seconds : one.reclaim_seconds) {
      return gang.since_seconds + *seconds;
    }
  }
  return 0;
}

VictimOffer victim_offer(const Quota& quota, const Submission& submission, const QuotaDemand& demand,
                         std::span<const RunningGang> running, Offer offer, Ending ending, ShareStrategy strategy) {
  // Only where others of its own queue may go is there another ending than the one that is.
  const bool pointless = ending == Ending::kWithinQuota &&
                         (!submission.queue || quota.rules(*submission.queue).within == WithinRule::kNever ||
                          quota.rules(*submission.queue).reclaim == ReclaimRule::kNever);
  if (!submission.may_evict || pointless) {
    return {};
  }
  return Search(quota, submission, demand, running).find(offer, ending, strategy);
}

std::vector<VictimCandidate> victim_candidates(const Quota& quota, const Submission& submission,
                                               const QuotaDemand& demand, std::span<const RunningGang> running,
                                               Offer offer, ShareStrategy strategy) {
  for (const Ending ending : {Ending::kWithinQuota, Ending::kAnyhow}) {
    VictimOffer made = victim_offer(quota, submission, demand, running, offer, ending, strategy);
    if (!made.candidates.empty()) {
      return std::move(made.candidates);
    }
  }
  return {};
}

bool stay_within(const Quota& quota, const Submission& submission, std::span<const OwnPart> parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const OwnPart& part) { return stays_within(quota, quota.rules(*submission.queue), part, 0); });
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
