#include "cycle/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cycle/evict.h"
#include "cycle/obstacle.h"
#include "cycle/start.h"
#include "queue/order.h"

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

// The alternatives in the order in which they are tried.
std::vector<const Alternative*> in_order(const Submission& submission, const Quota& quota) {
  std::vector<const Alternative*> alternatives;
  for (const Alternative& alternative : submission.alternatives) {
    alternatives.push_back(&alternative);
  }
  if (submission.own_quota_first) {
    std::stable_partition(alternatives.begin(), alternatives.end(),
                          [&](const Alternative* alternative) { return !quota.would_borrow(demand_of(*alternative)); });
  }
  return alternatives;
}

class Cycle {
 public:
  Cycle(Cluster& cluster, Quota& quota, const std::vector<Submission>& submissions, CycleObserver* observer)
      : cluster_(cluster), quota_(quota), submissions_(submissions), observer_(observer), order_(quota, submissions) {}

  Plan run() && {
    plan_.decisions.reserve(submissions_.size());
    while (const auto position = order_.next()) {
      const Submission& submission = submissions_[*position];
      const Decision& decision = take(submission, [&] { return decide(submission); });
      if (submission.queue && quota_.rules(*submission.queue).strict && decision.state == GangState::kWaiting) {
        hold_back(*submission.queue, submission);
      }
    }
    return std::move(plan_);
  }

 private:
  template <class Decide>
  const Decision& take(const Submission& submission, Decide decide_it) {
    if (observer_ != nullptr) {
      observer_->before(submission, cluster_, quota_);
    }
    plan_.decisions.push_back(decide_it());
    if (observer_ != nullptr) {
      observer_->after(submission, plan_.decisions.back(), cluster_, quota_);
    }
    return plan_.decisions.back();
  }

  // Behind the head of a strict queue nothing starts before it, save what is turned down anyway.
  void hold_back(QueueId queue, const Submission& head) {
    for (const std::size_t position : order_.rest_of(queue)) {
      const Submission& submission = submissions_[position];
      take(submission, [&] {
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
    GANTREE_CHECK(!submission.alternatives.empty());
    const std::vector<const Alternative*> alternatives = in_order(submission, quota_);
    std::vector<Obstacle> obstacles;
    std::string why_not;
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
      if (auto started = try_to_start(cluster_, quota_, submission, *alternatives[i])) {
        accept(submission, *alternatives[i], std::move(*started), decision);
        return decision;
      } else {
        obstacles.push_back(std::move(started.error()));
      }
      const bool last = i + 1 == alternatives.size();
      if (!submission.evicts_before_next && !last) {
        continue;
      }
      const auto span = std::span(alternatives).subspan(submission.evicts_before_next ? i : 0);
      if (evict_for(submission, submission.evicts_before_next ? span.first(1) : span, decision, why_not)) {
        return decision;
      }
    }
    decision.reason = nearest(obstacles).reason;
    decision.message = explain(obstacles);
    if (!why_not.empty()) {
      decision.message += "; " + why_not;
    }
    return decision;
  }

  // Whether the gang starts with one of the alternatives once others are gone.
  bool evict_for(const Submission& submission, std::span<const Alternative* const> alternatives, Decision& decision,
                 std::string& why_not) {
    ClearingSearch search = find_clearing(cluster_, quota_, submission, alternatives);
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
    // There may be room for more pods than those that others were evicted for.
    auto started = try_to_start(cluster_, quota_, submission, *clearing.alternative);
    accept(
        submission, *clearing.alternative,
        started ? std::move(*started) : book(cluster_, quota_, *clearing.alternative, clearing.gang, clearing.outcome),
        decision);
    for (const QueueId queue : changed) {
      order_.changed(queue);
    }
    return true;
  }

  void accept(const Submission& submission, const Alternative& alternative, Started&& started, Decision& decision) {
    decision.state = GangState::kPlaced;
    decision.pod_sets = placed_sets(submission, alternative, std::move(started));
    if (submission.queue) {
      order_.changed(*submission.queue);
    }
  }

  Cluster& cluster_;
  Quota& quota_;
  const std::vector<Submission>& submissions_;
  CycleObserver* observer_;
  Order order_;
  Plan plan_;
};

}  // namespace

Plan run_cycle(Cluster& cluster, Quota& quota, std::vector<Submission> submissions, CycleObserver* observer) {
  return Cycle(cluster, quota, submissions, observer).run();
}

}  // namespace gantree
