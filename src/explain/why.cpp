#include "explain/why.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "cycle/cycle.h"
#include "cycle/obstacle.h"
#include "cycle/ways.h"
#include "explain/remedy.h"
#include "explain/survey.h"

namespace gantree {

namespace {

constexpr std::size_t kNearest = 3;

RunningGang as_running(const Submission& submission, const Decision& decision) {
  RunningGang gang;
  gang.key = submission.key;
  gang.dialect = submission.dialect;
  gang.priority = submission.priority;
  gang.queue = submission.queue;
  for (const PodSetDecision& set : decision.pod_sets) {
    for (const HostShare& share : set.hosts) {
      gang.holdings.push_back({.node = share.node, .requests = set.requests, .count = share.count});
    }
  }
  return gang;
}

bool has_pods(const Gang& gang) {
  const std::vector<const PodSet*> sets = pod_sets(gang.root);
  return std::any_of(sets.begin(), sets.end(), [](const PodSet* set) { return set->count > 0; });
}

// How much of a cell could be had now.
std::int64_t left_of(const Quota& quota, QuotaId cell, Borrowing borrowing) {
  if (quota.fits({{cell, kUnlimited}}, borrowing)) {
    return kUnlimited;
  }
  std::int64_t low = 0;
  std::int64_t high = kUnlimited;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (quota.fits({{cell, middle}}, borrowing) ? low : high) = middle;
  }
  return low;
}

std::vector<QuotaNeed> quota_needs(const Quota& quota, const Alternative& alternative, Borrowing borrowing) {
  std::vector<QuotaNeed> needs;
  for (const auto& [id, needed] : Quota::sum(alternative.demand, least_counts(alternative.gang))) {
    if (needed <= 0) {
      continue;
    }
    const QuotaCell& cell = quota.cell(id);
    const std::int64_t own = quota.total(id) - std::min(quota.total(id), std::max<std::int64_t>(0, cell.used));
    needs.push_back(
        {.cell = id,
         .queue = cell.queue,
         .flavor = cell.flavor,
         .resource = cell.resource,
         .unit = cell.unit,
         .needed = needed,
         .left = left_of(quota, id, borrowing),
         .borrowed = cell.parent && quota.total(id) != kUnlimited ? std::max<std::int64_t>(0, needed - own) : 0});
  }
  return needs;
}

// Looks on, and writes down what concerns the gangs asked about.
class Inquiry : public CycleObserver {
 public:
  Inquiry(const std::vector<GangKey>& keys, int turns) : keys_(keys), turns_(turns) {}

  void before(const Submission& submission, Cluster& cluster, const Quota& quota) override {
    turn_ = is_in_line(submission)
                ? turn_of_.try_emplace(submission.key, static_cast<int>(turn_of_.size()) + 1).first->second
                : 0;
    running_ = cluster.running().size();
    // Where the first of them lands can be judged only by what it finds.
    if (asked_about(submission.key) && (!found_ || found_->key == submission.key)) {
      look(submission, cluster, quota);
    }
  }

  void after(const Submission& submission, const Decision& decision, Cluster& cluster, const Quota& quota) override {
    if (asked_about(submission.key)) {
      note_state(submission.key, decision.state);
      const bool starts = decision.state == GangState::kPlaced;
      const bool again = found_ && found_->key == submission.key;
      const bool otherwise = again && found_->decision.message != decision.message;
      if (!found_ || otherwise || (found_->decision.state == GangState::kPlaced && !starts)) {
        if (found_ && !again) {
          look(submission, cluster, quota);
        }
        conclude(decision, submission, cluster, quota);
      }
    }
    if (decision.state == GangState::kPlaced) {
      planned_.push_back(as_running(submission, decision));
      planned_.back().used = demand_of(submission, decision);
      settled_ = cluster.running().size() < running_ ? planned_.size() : settled_;
    }
  }

  [[nodiscard]] std::optional<Explanation>& found() { return found_; }
  [[nodiscard]] const std::vector<std::pair<GangKey, GangState>>& states() const { return states_; }

 private:
  [[nodiscard]] bool asked_about(const GangKey& key) const {
    return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
  }

  void note_state(const GangKey& key, GangState state) {
    const auto it = std::find_if(states_.begin(), states_.end(), [&](const auto& entry) { return entry.first == key; });
    if (it != states_.end()) {
      it->second = state;
    } else {
      states_.emplace_back(key, state);
    }
  }

  // The ways with the flavors that were placed.
  static QuotaDemand demand_of(const Submission& submission, const Decision& decision) {
    std::vector<QuotaDemand> demands;
    for (const std::vector<Alternative>& ways : submission.parts) {
      for (const Alternative& way : ways) {
        if (auto demand = demand_of(way, decision)) {
          demands.push_back(std::move(*demand));
          break;
        }
      }
    }
    return Quota::sum(demands, std::vector<int>(demands.size(), 1));
  }

  // Nothing where other flavors were placed.
  static std::optional<QuotaDemand> demand_of(const Alternative& way, const Decision& decision) {
    const std::vector<const PodSet*> sets = pod_sets(way.gang.root);
    std::vector<int> counts(sets.size(), 0);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      for (const PodSetDecision& set : decision.pod_sets) {
        if (set.name == sets[i]->name && set.flavor != way.flavors[i]) {
          return std::nullopt;
        }
        counts[i] = set.name == sets[i]->name ? set.count : counts[i];
      }
    }
    return Quota::sum(way.demand, counts);
  }

  // The cluster as the gang finds it; where it waits, it is as before afterwards too.
  void look(const Submission& submission, Cluster& cluster, const Quota& quota) {
    view_ = {};
    survey_.reset();
    view_.key = submission.key;
    view_.dialect = submission.dialect;
    view_.priority = submission.priority;
    view_.turn = turn_;
    view_.turns = turn_ == 0 ? 0 : turns_;
    view_.ways = ways_to_start(submission);
    if (submission.queue) {
      view_.queue = quota.rules(*submission.queue).name;
    }
    starts_ = false;
    alternative_ = nullptr;
    std::vector<int> counts = choose(submission, cluster, quota);
    if (alternative_ == nullptr) {
      return;
    }
    view_.asked = *alternative_;
    view_.quota = quota_needs(quota, *alternative_, submission.borrowing);
    if (!has_pods(alternative_->gang)) {
      return;
    }
    survey_.emplace(cluster, alternative_->gang, counts);
    view_.measure = survey_->measure();
    view_.levels = survey_->levels();
    view_.hosts = survey_->hosts();
    view_.outside = survey_->outside();
  }

  // The first way that starts, or else the one nearest to it; with so many pods by pod set.
  std::vector<int> choose(const Submission& submission, Cluster& cluster, const Quota& quota) {
    std::vector<int> least;
    std::optional<Obstacle> nearest;
    if (submission.parts.empty()) {
      return least;
    }
    ways_.emplace(submission, quota);
    for (const Reach reach : {Reach::kQuotaNow, Reach::kQuota}) {
      ways_->begin(reach);
      while (const Alternative* way = ways_->next()) {
        const Outcome outcome = has_pods(way->gang) ? cluster.engine().place(way->gang) : Outcome{};
        const auto shortage = quota.lacking(way->demand, least_counts(way->gang), submission.borrowing);
        if ((outcome.placement || !has_pods(way->gang)) && !shortage) {
          starts_ = true;
          alternative_ = way;
          return outcome.counts;
        }
        Obstacle met = shortage ? obstacle(*shortage, *way) : obstacle(outcome, *way);
        if (!shortage) {
          ways_->no_room([&](const Alternative& some) { return room_for(cluster, some); });
        }
        if (!nearest || met.rank < nearest->rank) {
          nearest = std::move(met);
          alternative_ = way;
          least = least_counts(way->gang);
        }
      }
    }
    return least;
  }

  void conclude(const Decision& decision, const Submission& submission, Cluster& cluster, const Quota& quota) {
    view_.decision = decision;
    if (decision.state == GangState::kPlaced && survey_) {
      view_.landing = survey_->landing(decision.pod_sets);
    }
    if (decision.state == GangState::kWaiting && survey_ && alternative_ != nullptr) {
      view_.held_back = starts_;
      const Fill fill = decision.reason == Reason::kTopologyTooLarge ? Fill::kEmpty : Fill::kNow;
      for (const Domain domain : survey_->nearest(fill, kNearest)) {
        view_.nearest.push_back(survey_->describe(domain, planned_));
      }
      if (!starts_) {
        view_.tried = true;
        view_.remedies = find_remedies({.cluster = cluster,
                                        .quota = quota,
                                        .submission = submission,
                                        .alternative = *alternative_,
                                        .planned = planned_,
                                        .settled = settled_,
                                        .needs = view_.quota},
                                       *survey_);
      }
    }
    survey_.reset();
    found_ = std::move(view_);
  }

  const std::vector<GangKey>& keys_;
  const int turns_;
  int turn_ = 0;
  std::map<GangKey, int> turn_of_;  // a gang that waits may be taken up again
  std::size_t running_ = 0;         // gangs at the last turn
  std::vector<Planned> planned_;
  std::size_t settled_ = 0;  // of them, up to the last that had others evicted
  Explanation view_;
  std::optional<Ways> ways_;
  const Alternative* alternative_ = nullptr;  // of those
  bool starts_ = false;
  std::optional<Survey> survey_;
  std::optional<Explanation> found_;
  std::vector<std::pair<GangKey, GangState>> states_;
};

Explanation explain_running(const RunningGang& gang) {
  Explanation running;
  running.key = gang.key;
  running.dialect = gang.dialect;
  running.priority = gang.priority;
  running.running = true;
  running.holdings = gang.holdings;
  return running;
}

}  // namespace

Explanation explain_gang(Cluster& cluster, Quota& quota, std::vector<Submission> submissions,
                         const std::vector<GangKey>& keys) {
  std::vector<RunningGang> running;
  for (const RunningGang& gang : cluster.running()) {
    if (std::find(keys.begin(), keys.end(), gang.key) != keys.end()) {
      running.push_back(gang);
    }
  }
  Inquiry inquiry(keys, static_cast<int>(std::count_if(submissions.begin(), submissions.end(), is_in_line)));
  const Plan plan = run_cycle(cluster, quota, std::move(submissions), &inquiry);
  GANTREE_CHECK(inquiry.found() || !running.empty());
  Explanation explanation = inquiry.found() ? std::move(*inquiry.found()) : explain_running(running.front());
  for (const Eviction& eviction : plan.evictions) {
    if ((explanation.running ? eviction.key : eviction.by) == explanation.key) {
      explanation.evictions.push_back(eviction);
    }
  }
  for (const auto& [key, state] : inquiry.states()) {
    if (key != explanation.key) {
      explanation.siblings.push_back({.key = key, .state = state});
    }
  }
  for (const RunningGang& gang : running) {
    if (gang.key != explanation.key) {
      explanation.siblings.push_back({.key = gang.key, .running = true});
    }
  }
  return explanation;
}

}  // namespace gantree
