#include "cycle/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "cycle/evict.h"
#include "cycle/obstacle.h"
#include "cycle/start.h"
#include "cycle/ways.h"
#include "queue/order.h"
#include "queue/own_quota.h"
#include "queue/victims.h"

namespace gantree {

namespace {

Decision undecided(const Submission& submission) {
  Decision decision;
  decision.key = submission.key;
  decision.dialect = submission.dialect;
  for (const auto& [name, count] : submission.pod_sets) {
    PodSetDecision& set = decision.pod_sets.emplace_back();
    set.name = name;
    set.count = count;
    set.asked = count;
  }
  return decision;
}

// So many ways for which quota is short are looked at where none starts, to tell which reason is nearest to being
// lifted.
constexpr std::size_t kMostExplained = 8;

// The ways in the order in which they are tried, one kind after the other.
std::vector<Reach> reaches_of(const Submission& submission) {
  std::vector<Reach> reaches;
  if (submission.own_quota_first) {
    reaches.push_back(Reach::kOwnQuota);
  }
  if (submission.evicts_before_next) {
    reaches.push_back(Reach::kQuota);  // evictions may give the quota
  }
  reaches.push_back(Reach::kQuotaNow);
  reaches.push_back(Reach::kQuota);
  return reaches;
}

bool is_for_want_of_room(const Obstacle& obstacle) {
  return obstacle.reason == Reason::kTopologyBusy || obstacle.reason == Reason::kTopologyTooLarge;
}

// How many gangs are tried once more after an eviction: bounds the work where very many wait.
constexpr std::size_t kMostRetries = 64;

// Whether more room or quota may let it start.
bool waits_for_room(const Decision& decision) {
  return decision.state == GangState::kWaiting &&
         (decision.reason == Reason::kTopologyBusy || decision.reason == Reason::kQuotaExceeded ||
          decision.reason == Reason::kSearchLimit);
}

class Cycle {
 public:
  Cycle(Cluster& cluster, Quota& quota, const std::vector<Submission>& submissions, CycleObserver* observer)
      : cluster_(cluster),
        quota_(quota),
        submissions_(submissions),
        observer_(observer),
        order_(quota, submissions),
        decided_(submissions.size()) {}

  Plan run() && {
    plan_.decisions.reserve(submissions_.size());
    while (const auto position = order_.next()) {
      const Submission& submission = submissions_[*position];
      if (submission.stands_by) {
        keep(*position);
        continue;
      }
      if (submission.one_by_one && one_started_) {
        continue;
      }
      const std::size_t evictions = plan_.evictions.size();
      const Decision& decision = take(*position, [&] { return decide(submission); });
      // What the queue cannot take at all, as it is set up, holds up nobody.
      if (strict(submission) && decision.state == GangState::kWaiting && !submission.rejection) {
        hold_back(*submission.queue, submission);
      }
      if (!submission.rejection && waits_for_room(decision)) {
        waiting_.push_back(*position);
        const bool comes_first = observer_ != nullptr && submission.queue && observer_->holds_up(submission, decision);
        if (comes_first) {
          static_cast<void>(order_.rest_of(*submission.queue));
        }
        if (comes_first || (submission.queue && keeps_quota(quota_.rules(*submission.queue)))) {
          keep(*position);
        }
      }
      one_started_ = one_started_ || (submission.one_by_one && decision.state == GangState::kPlaced);
      if (plan_.evictions.size() > evictions) {
        retry();
      }
    }
    for (const auto& [position, sum] : kept_) {
      quota_.give(sum);
    }
    return std::move(plan_);
  }

 private:
  template <class Decide>
  const Decision& take(std::size_t position, Decide decide_it) {
    const Submission& submission = submissions_[position];
    if (observer_ != nullptr) {
      observer_->before(submission, cluster_, quota_);
    }
    Decision made = decide_it();
    std::optional<std::size_t>& index = decided_[position];
    if (!index) {
      index = plan_.decisions.size();
      plan_.decisions.emplace_back();
    }
    Decision& decision = plan_.decisions[*index];
    decision = std::move(made);
    if (observer_ != nullptr) {
      observer_->after(submission, decision, cluster_, quota_);
    }
    return decision;
  }

  // Nobody borrows from now on what is left of its quota.
  void keep(std::size_t position) {
    const Submission& submission = submissions_[position];
    QuotaDemand sum = kept_quota(quota_, submission);
    if (!sum.empty()) {
      quota_.take(sum);
      kept_.insert_or_assign(position, std::move(sum));
      order_.changed(*submission.queue);
    }
  }
  // Whether something was kept for it.
  bool give_up_kept(std::size_t position) {
    const auto kept = kept_.find(position);
    if (kept == kept_.end()) {
      return false;
    }
    quota_.give(kept->second);
    order_.changed(*submissions_[position].queue);
    kept_.erase(kept);
    return true;
  }

  [[nodiscard]] bool strict(const Submission& submission) const {
    return submission.queue && quota_.rules(*submission.queue).strict;
  }

  // What evictions have left over goes to those that waited before, in their order. Nobody is evicted for them
  // now: they had their turn for that.
  void retry() {
    std::vector<std::size_t> still;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const std::size_t position = waiting_[i];
      if (i >= kMostRetries || !starts_now(position)) {
        still.push_back(position);
        continue;
      }
      // Those that it held up get their turn.
      const Submission& submission = submissions_[position];
      if (strict(submission)) {
        order_.put_back(*submission.queue, std::exchange(held_back_[*submission.queue], 0));
      }
    }
    waiting_ = std::move(still);
  }

  bool starts_now(std::size_t position) {
    const Submission& submission = submissions_[position];
    const bool keeps = give_up_kept(position);
    const Decision& decision = take(position, [&] {
      Decision made = undecided(submission);
      std::vector<Obstacle> obstacles;
      Ways ways(submission, quota_);
      for (const Reach reach : reaches_of(submission)) {
        ways.begin(reach);
        while (const Alternative* way = reach == Reach::kQuota ? nullptr : ways.next()) {
          if (starts_with(submission, *way, made, obstacles)) {
            return made;
          }
          if (is_for_want_of_room(obstacles.back())) {
            ways.no_room([&](const Alternative& some) { return room_for(cluster_, some); });
          }
        }
      }
      return plan_.decisions[*decided_[position]];
    });
    if (keeps && decision.state != GangState::kPlaced) {
      keep(position);
    }
    return decision.state == GangState::kPlaced;
  }

  bool starts_with(const Submission& submission, const Alternative& way, Decision& decision,
                   std::vector<Obstacle>& obstacles) {
    auto started = try_to_start(cluster_, quota_, submission, way);
    if (started) {
      accept(submission, way, std::move(*started), decision);
      return true;
    }
    obstacles.push_back(std::move(started.error()));
    return false;
  }

  // Behind the head of a strict queue nothing starts before it, save what is turned down anyway.
  void hold_back(QueueId queue, const Submission& head) {
    const std::vector<std::size_t> rest = order_.rest_of(queue);
    held_back_[queue] = rest.size();
    for (const std::size_t position : rest) {
      const Submission& submission = submissions_[position];
      take(position, [&] {
        if (submission.rejection) {
          return decide(submission);
        }
        Decision decision = undecided(submission);
        decision.reason = Reason::kQueueBlocked;
        decision.message = fmt::format("{} starts its jobs strictly in order, and {}/{} before it waits",
                                       quota_.rules(queue).name, head.key.ns, head.key.name);
        return decision;
      });
    }
  }

  Decision decide(const Submission& submission) {
    Decision decision = undecided(submission);
    if (submission.rejection) {
      decision.state = submission.rejection->waits ? GangState::kWaiting : GangState::kRejected;
      decision.reason = submission.rejection->reason;
      decision.message = submission.rejection->message;
      return decision;
    }
    GANTREE_CHECK(!submission.parts.empty());
    Ways ways(submission, quota_);
    std::vector<Obstacle> obstacles;
    std::string why_not;
    if (!starts(submission, ways, decision, obstacles, why_not)) {
      tell_why(submission, ways, std::move(obstacles), why_not, decision);
    }
    return decision;
  }

  // Tries the ways in order of preference, and evictions where they come in it.
  bool starts(const Submission& submission, Ways& ways, Decision& decision, std::vector<Obstacle>& obstacles,
              std::string& why_not) {
    bool evicts = submission.evicts_before_next;
    for (const Reach reach : reaches_of(submission)) {
      ways.begin(reach, reach == Reach::kQuota && !evicts ? kMostExplained : kMostWaysTried);
      while (const Alternative* way = ways.next()) {
        if (starts_with(submission, *way, decision, obstacles)) {
          return true;
        }
        if (evicts && submission.evicts_later && !obstacles.back().is_for_ever()) {
          return false;
        }
        const auto find = [&](const Submission& by) { return find_clearing(cluster_, quota_, by, *way); };
        if (evicts && evict_for(submission, find, decision, why_not)) {
          return true;
        }
        if (is_for_want_of_room(obstacles.back())) {
          ways.no_room([&](const Alternative& some) {
            const Room room = room_for(cluster_, some);
            return evicts && room == Room::kNotNow ? Room::kMaybe : room;
          });
        }
      }
      evicts = evicts && reach != Reach::kQuota;
      if (reach == Reach::kOwnQuota && submission.evicts_before_borrowing) {
        if (submission.evicts_later && could_do_without_borrowing(submission)) {
          return false;
        }
        const auto find = [&](Submission by) {
          by.borrowing = Borrowing::kForbidden;
          return find_cheapest_clearing(cluster_, quota_, by, ways);
        };
        if (evict_for(submission, find, decision, why_not)) {
          return true;
        }
      }
    }
    const auto find = [&](const Submission& by) { return find_cheapest_clearing(cluster_, quota_, by, ways); };
    return !submission.evicts_before_next && evict_for(submission, find, decision, why_not);
  }

  [[nodiscard]] bool could_do_without_borrowing(const Submission& submission) const {
    return some_are_allowed(least_demands_of(submission),
                            [&](const QuotaDemand& least) { return quota_.could_fit(least, Borrowing::kForbidden); });
  }

  void tell_why(const Submission& submission, const Ways& ways, std::vector<Obstacle> obstacles,
                const std::string& why_not, Decision& decision) {
    if (obstacles.empty()) {
      obstacles.push_back(short_of_all_quota(submission));
    }
    decision.reason = nearest(obstacles).reason;
    decision.message = explain(obstacles);
    if (ways.gave_up()) {
      decision.message += "; there are more combinations of flavors than were looked at";
      if (decision.reason != Reason::kTopologyBusy) {
        decision.reason = Reason::kSearchLimit;
      }
    }
    if (!why_not.empty()) {
      decision.message += "; " + why_not;
    }
    if (const Submission* other = decision.reason == Reason::kQuotaExceeded ? in_whose_favour(submission) : nullptr) {
      decision.message += fmt::format("; what is left of the quota of {} is kept for {}/{}, which waits there first",
                                      quota_.rules(*other->queue).name, other->key.ns, other->key.name);
    }
  }

  // One for whom quota is kept, where there would be enough for this one otherwise.
  [[nodiscard]] const Submission* in_whose_favour(const Submission& submission) {
    for (const auto& [position, sum] : kept_) {
      const Submission& other = submissions_[position];
      if (!submission.queue || quota_.rules(*other.queue).tree != quota_.rules(*submission.queue).tree) {
        continue;
      }
      quota_.give(sum);
      const bool enough = some_are_allowed(least_demands_of(submission), [&](const QuotaDemand& least) {
        return quota_.fits(least, submission.borrowing);
      });
      quota_.take(sum);
      if (enough) {
        return &other;
      }
    }
    return nullptr;
  }

  // No way was worth a try: there is no quota for any, or none without borrowing where that is for another time.
  [[nodiscard]] Obstacle short_of_all_quota(const Submission& submission) const {
    std::vector<const Alternative*> first;
    for (const std::vector<Alternative>& ways : submission.parts) {
      first.push_back(&ways.front());
    }
    const Alternative whole = together(first);
    auto shortage = quota_.lacking(least_demand_of(whole), submission.borrowing);
    if (!shortage) {
      shortage = quota_.lacking(least_demand_of(whole), Borrowing::kForbidden);
    }
    return obstacle(shortage.value_or(Shortage{.message = "no combination of flavors was looked at"}), whole);
  }

  // Whether another of its queue, that waits and could evict it, could start in its place once these are gone.
  [[nodiscard]] bool is_won_for_another(const Submission& submission, const Clearing& clearing) {
    const auto by_share = [](const VictimCandidate& one) { return one.reason == EvictionReason::kFairShare; };
    if (std::none_of(clearing.victims.begin(), clearing.victims.end(), by_share)) {
      return false;
    }
    std::vector<WayDemands> others = submission.outranked_by;
    for (const std::size_t position : waiting_) {
      const Submission& other = submissions_[position];
      if (other.queue == submission.queue && outranks(quota_.rules(*submission.queue), other, submission)) {
        others.push_back(least_demands_of(other));
      }
    }
    for (const VictimCandidate& victim : clearing.victims) {
      quota_.give(used_by(cluster_, victim));
    }
    const bool won = std::any_of(others.begin(), others.end(), [&](const WayDemands& least) {
      return some_are_allowed(least, [&](const QuotaDemand& demand) { return quota_.fits(demand); });
    });
    for (const VictimCandidate& victim : clearing.victims) {
      quota_.take(used_by(cluster_, victim));
    }
    return won;
  }

  // Whether the gang starts once others are gone. `find`: looks for them, on behalf of a submission.
  template <class Find>
  bool evict_for(const Submission& submission, Find find, Decision& decision, std::string& why_not) {
    ClearingSearch search = find(submission);
    if (search.found && is_won_for_another(submission, *search.found)) {
      Submission modest = submission;
      modest.may_evict_by_share = false;
      search = find(modest);
    }
    if (!search.found) {
      why_not = std::move(search.why_not);
      return false;
    }
    const Clearing& clearing = *search.found;
    std::vector<QueueId> changed;
    for (const VictimCandidate& victim : clearing.victims) {
      if (const auto queue = cluster_.running()[victim.position].queue) {
        changed.push_back(*queue);
      }
    }
    for (Eviction& eviction : clear(cluster_, quota_, submission, clearing)) {
      plan_.evictions.push_back(std::move(eviction));
    }
    // There may be room for more pods than those that others were evicted for. Where quota was taken back for those,
    // the others could take back what was borrowed for more, and so on: the queue's own quota has to do.
    Submission more = submission;
    const bool by_quota = std::any_of(clearing.victims.begin(), clearing.victims.end(), [](const VictimCandidate& one) {
      return one.reason != EvictionReason::kPreempted;
    });
    more.borrowing = by_quota ? Borrowing::kForbidden : submission.borrowing;
    auto started = try_to_start(cluster_, quota_, more, clearing.alternative);
    accept(
        submission, clearing.alternative,
        started ? std::move(*started) : book(cluster_, quota_, clearing.alternative, clearing.gang, clearing.outcome),
        decision);
    for (const QueueId queue : changed) {
      order_.changed(queue);
    }
    return true;
  }

  void accept(const Submission& submission, const Alternative& alternative, Started&& started, Decision& decision) {
    decision.state = GangState::kPlaced;
    decision.used = started.used;
    decision.pod_sets = placed_sets(submission, alternative, std::move(started));
    if (submission.queue) {
      order_.changed(*submission.queue);
    }
  }

  Cluster& cluster_;
  Quota& quota_;
  const std::vector<Submission>& submissions_;
  CycleObserver* observer_;
  QueueOrder order_;
  std::vector<std::optional<std::size_t>> decided_;  // by submission: the position of its decision
  std::vector<std::size_t> waiting_;                 // submissions that more room or quota may let start, in order
  std::map<QueueId, std::size_t> held_back_;         // behind the first of a strict queue: how many
  std::map<std::size_t, QuotaDemand> kept_;          // by submission that waits: what nobody else borrows meanwhile
  bool one_started_ = false;                         // of those that start one by one
  Plan plan_;
};

}  // namespace

Plan run_cycle(Cluster& cluster, Quota& quota, std::vector<Submission> submissions, CycleObserver* observer) {
  return Cycle(cluster, quota, submissions, observer).run();
}

}  // namespace gantree
