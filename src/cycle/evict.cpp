#include "cycle/evict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "cycle/pieces.h"
#include "cycle/start.h"

namespace gantree {

namespace {

// Each way costs a search: among so many the cheapest is looked for. Only where none of them helps more are tried.
constexpr int kMostCompared = 8;
constexpr int kMostSearched = 64;
constexpr std::size_t kMostLookedAt = 512;  // for most of which quota alone tells

// The fewest pods with which the gang may start: nobody is evicted for more. Where minima are those of groups
// the engine has to choose, so the sets stay as they are.
void shrink(Group& group) {
  if (!group.min_pods && !group.min_groups) {
    for (PodSet& set : group.pod_sets) {
      set.count = set.min_count > 0 ? std::min(set.count, set.min_count) : set.count;
    }
  }
  for (Group& nested : group.groups) {
    shrink(nested);
  }
}

// The quota of some candidates given back, for as long as it lives.
class WithoutThem {
 public:
  WithoutThem(Quota& quota, std::span<const RunningGang* const> candidates, std::span<const std::size_t> gone)
      : quota_(quota), candidates_(candidates), gone_(gone) {
    for (const std::size_t i : gone_) {
      quota_.give(candidates_[i]->used);
    }
  }
  ~WithoutThem() {
    for (const std::size_t i : gone_) {
      quota_.take(candidates_[i]->used);
    }
  }
  WithoutThem(const WithoutThem&) = delete;
  WithoutThem& operator=(const WithoutThem&) = delete;

 private:
  Quota& quota_;
  std::span<const RunningGang* const> candidates_;
  std::span<const std::size_t> gone_;
};

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string why_not(const PreemptionAnswer& answer, std::size_t candidates) {
  if (answer.verdict == PreemptionVerdict::kGaveUp) {
    return fmt::format("among {} that may be evicted no sufficient choice was found within the search limit",
                       counted(candidates, "running gang"));
  }
  return candidates == 1 ? std::string("evicting the only running gang that may be evicted would not help")
                         : fmt::format("evicting all {} running gangs that may be evicted would not help", candidates);
}

// The budgets that the victims together break, with the number of pods over each.
std::map<BudgetId, std::int64_t> broken_budgets(const Cluster& cluster, std::span<const VictimCandidate> victims) {
  std::map<BudgetId, std::int64_t> over;
  for (const VictimCandidate& victim : victims) {
    const RunningGang& gang = cluster.running()[victim.position];
    for (const auto& [budget, pods] : victim.spare.empty() ? gang.budgets : only_spare(gang, victim.spare).budgets) {
      over[budget] += pods;
    }
  }
  for (auto& [budget, pods] : over) {
    pods -= std::max(0, cluster.budgets()[budget.index()].allowed);
  }
  std::erase_if(over, [](const auto& entry) { return entry.second <= 0; });
  return over;
}

std::string names_broken(const RunningGang& gang, const std::map<BudgetId, std::int64_t>& broken,
                         const Cluster& cluster) {
  std::string text;
  for (const auto& [budget, pods] : gang.budgets) {
    if (const auto it = broken.find(budget); it != broken.end() && pods > 0) {
      text += fmt::format("; breaks PodDisruptionBudget \"{}\": {} more than it allows",
                          cluster.budgets()[budget.index()].name, counted(static_cast<std::size_t>(it->second), "pod"));
    }
  }
  return text;
}

std::string what_happens(EvictionReason reason, const RunningGang& gang, const Submission& submission,
                         const Quota& quota) {
  if (reason == EvictionReason::kPreempted || !gang.queue || !submission.queue) {
    return fmt::format("makes room for {}/{} of priority {}", submission.key.ns, submission.key.name,
                       submission.priority);
  }
  return fmt::format("{} {} {} for {}/{}", quota.rules(*submission.queue).name,
                     reason == EvictionReason::kReclaimed ? "takes back from" : "has a smaller share than",
                     quota.rules(*gang.queue).name, submission.key.ns, submission.key.name);
}

// What is looked for: a place for `least`, the alternative with the fewest pods that it may start with.
struct Asked {
  Cluster& cluster;
  Quota& quota;
  const Submission& submission;
  const Alternative& alternative;
  const Alternative& least;
};

struct Choice {
  ClearingSearch search;
  std::vector<Piece> chosen;
};

// The cheapest of these; `gangs`: of how many running gangs they are.
Choice choose_among(const Asked& asked, std::span<const Piece> pieces, std::span<const OwnPart> within,
                    std::size_t gangs_offered) {
  const QuotaDemand demand = demand_of(asked.least);
  std::vector<const RunningGang*> gangs;
  for (const Piece& piece : pieces) {
    gangs.push_back(piece.gang);
  }
  const auto admits = [&](std::span<const std::size_t> gone) {
    const WithoutThem without(asked.quota, gangs, gone);
    return asked.quota.fits(demand, asked.submission.borrowing) && stay_within(asked.quota, asked.submission, within);
  };
  std::vector<std::size_t> all(gangs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (!admits(all)) {
    return {.search = {.found = {}, .why_not = why_not({}, gangs_offered), .searched = 0, .hopeless = true},
            .chosen = {}};
  }
  const Gang placed = to_place(asked.least, asked.least.gang);
  PreemptionAnswer answer =
      find_victims(asked.cluster.engine(),
                   {.gang = placed, .candidates = gangs, .budgets = asked.cluster.budgets(), .admits = admits});
  if (answer.verdict != PreemptionVerdict::kFound) {
    return {.search = {.found = {},
                       .why_not = why_not(answer, gangs_offered),
                       .searched = 1,
                       .hopeless = answer.verdict == PreemptionVerdict::kNone},
            .chosen = {}};
  }
  Choice choice{.search = {.found = Clearing(), .why_not = {}, .searched = 1}, .chosen = {}};
  for (const std::size_t i : answer.victims) {
    choice.chosen.push_back(pieces[i]);
  }
  Clearing& found = *choice.search.found;
  found.alternative = asked.alternative;
  found.victims = victims_of(choice.chosen);
  found.cost = answer.cost;
  found.cost.gangs = std::count_if(found.victims.begin(), found.victims.end(),
                                   [](const VictimCandidate& victim) { return victim.spare.empty(); });
  found.gang = asked.least.gang;
  found.outcome = std::move(answer.outcome);
  found.considered =
      fmt::format("{} of {} that may be evicted, the cheapest choice{}; {} looked at", found.victims.size(),
                  counted(gangs_offered, "running gang"), answer.exact ? "" : " found",
                  counted(static_cast<std::size_t>(std::max(0, answer.domains)), "domain"));
  return choice;
}

// Pods above a minimum count as no gang, so that they go before gangs whose priority is as high.
ClearingSearch clearing_among(const VictimOffer& offer, const Asked& asked) {
  const std::size_t gangs = offer.candidates.size();
  const Pieces pieces(asked.cluster.running(), offer.candidates);
  Choice any = choose_among(asked, pieces.all(), offer.within, gangs);
  if (pieces.spare().empty() || !any.search.found) {
    return std::move(any.search);
  }
  if (pieces.is_torn(any.chosen)) {
    const int searched = any.search.searched;
    any = choose_among(asked, pieces.whole_or_spare(any.chosen), offer.within, gangs);
    any.search.searched += searched;
  }
  Choice spare = choose_among(asked, pieces.spare(), offer.within, gangs);
  ClearingSearch& better =
      spare.search.found && (!any.search.found || spare.search.found->cost < any.search.found->cost) ? spare.search
                                                                                                     : any.search;
  better.searched = any.search.searched + spare.search.searched;
  return std::move(better);
}

// How often one is left out of the offer because the cheapest choice would take too much by share: each costs a search.
constexpr int kMostLeftOut = 8;

// As one_too_many() has it, of gangs of which only some pods may go.
std::optional<std::size_t> excess_of(const Cluster& cluster, const Quota& quota, const Submission& submission,
                                     const QuotaDemand& demand, std::span<const VictimCandidate> victims,
                                     ShareStrategy strategy) {
  std::vector<RunningGang> gone;
  std::vector<VictimCandidate> chosen(victims.begin(), victims.end());
  for (VictimCandidate& victim : chosen) {
    const RunningGang& gang = cluster.running()[victim.position];
    victim.position = gone.size();
    gone.push_back(victim.spare.empty() ? gang : only_spare(gang, victim.spare));
  }
  const auto one = one_too_many(quota, submission, demand, gone, chosen, strategy);
  return one ? std::optional(victims[*one].position) : std::nullopt;
}

// Where gangs are taken back all are looked at first, as only some may run where room is needed. If the cheapest
// of them together are more than their queues borrow, those remain of which any may go. By share, one after the other
// is left out of whom too much would be taken.
ClearingSearch clearing_with(Ending ending, std::optional<ShareStrategy> shares, Cluster& cluster, Quota& quota,
                             const Submission& submission, const Alternative& alternative, const Alternative& least) {
  const Asked asked{cluster, quota, submission, alternative, least};
  const QuotaDemand demand = demand_of(least);
  const ShareStrategy strategy = shares.value_or(ShareStrategy::kInitialShare);
  const auto candidates = [&](Offer offer) {
    return victim_offer(quota, submission, demand, cluster.running(), offer, ending, strategy);
  };
  const auto excess = [&](const ClearingSearch& search) {
    return excess_of(cluster, quota, submission, demand, search.found->victims, strategy);
  };
  VictimOffer offered = candidates(Offer::kAll);
  if (offered.candidates.empty()) {
    return {};
  }
  const std::size_t all = offered.candidates.size();
  ClearingSearch search;
  for (int left_out = 0; left_out <= (shares ? kMostLeftOut : 0); ++left_out) {
    search = clearing_among(offered, asked);
    if (!search.found) {
      break;
    }
    const auto one = excess(search);
    if (!one) {
      return search;
    }
    std::erase_if(offered.candidates, [&](const VictimCandidate& candidate) { return candidate.position == *one; });
  }
  const VictimOffer lowest = candidates(Offer::kLowestFirst);
  const bool hopeless = !shares && search.hopeless;
  if (!shares && lowest.candidates.size() == all) {
    return search;
  }
  search = clearing_among(lowest, asked);
  search.hopeless = hopeless;
  if (shares && search.found && excess(search)) {
    return {.found = {}, .why_not = "evicting others would take more from their queues than their shares allow"};
  }
  return search;
}

// The cheaper of what does whether the queue borrows then or not, and of what does only where it does not.
ClearingSearch clearing_by(std::optional<ShareStrategy> shares, Cluster& cluster, Quota& quota,
                           const Submission& submission, const Alternative& alternative, const Alternative& least) {
  ClearingSearch anyhow = clearing_with(Ending::kAnyhow, shares, cluster, quota, submission, alternative, least);
  ClearingSearch within = clearing_with(Ending::kWithinQuota, shares, cluster, quota, submission, alternative, least);
  const bool was_looked_for = within.found || !within.why_not.empty();
  if (!was_looked_for || (anyhow.found && (!within.found || anyhow.found->cost <= within.found->cost))) {
    anyhow.searched += within.searched;
    return anyhow;
  }
  within.searched += anyhow.searched;
  return within;
}

ClearingSearch clearing_for(Cluster& cluster, Quota& quota, const Submission& submission,
                            const Alternative& alternative) {
  Alternative least = alternative;
  shrink(least.gang.root);
  std::vector<ShareStrategy> strategies;
  if (submission.queue) {
    strategies = quota.share_strategies(*submission.queue);
  }
  if (strategies.empty()) {
    return clearing_by(std::nullopt, cluster, quota, submission, alternative, least);
  }
  ClearingSearch search;
  for (const ShareStrategy strategy : strategies) {
    search = clearing_by(strategy, cluster, quota, submission, alternative, least);
    if (search.found) {
      break;
    }
  }
  return search;
}

}  // namespace

QuotaDemand used_by(const Cluster& cluster, const VictimCandidate& victim) {
  const RunningGang& gang = cluster.running()[victim.position];
  return victim.spare.empty() ? gang.used : only_spare(gang, victim.spare).used;
}

ClearingSearch find_clearing(Cluster& cluster, Quota& quota, const Submission& submission,
                             const Alternative& alternative) {
  return submission.may_evict && !cluster.running().empty() ? clearing_for(cluster, quota, submission, alternative)
                                                            : ClearingSearch();
}

ClearingSearch find_cheapest_clearing(Cluster& cluster, Quota& quota, const Submission& submission, const Ways& tried) {
  ClearingSearch search;
  if (!submission.may_evict || cluster.running().empty()) {
    return search;
  }
  Ways ways(submission, quota, tried.never());
  ways.begin(Reach::kQuota, kMostLookedAt);
  const auto enough = [&] { return search.searched >= (search.found ? kMostCompared : kMostSearched); };
  const Alternative* way = ways.next();
  for (; way != nullptr && !enough(); way = ways.next()) {
    ClearingSearch one = clearing_for(cluster, quota, submission, *way);
    search.searched += one.searched;
    if (one.found && (!search.found || one.found->cost < search.found->cost)) {
      search.found = std::move(one.found);
    }
    if (search.why_not.empty()) {
      search.why_not = std::move(one.why_not);
    }
    if (one.hopeless) {
      ways.no_room([&](const Alternative& some) {
        return clearing_for(cluster, quota, submission, some).hopeless ? Room::kNotNow : Room::kMaybe;
      });
    }
  }
  if (!search.found && !search.why_not.empty() && (way != nullptr || ways.is_cut_short())) {
    search.why_not += "; there are more combinations of flavors than were looked at for that";
  }
  return search;
}

std::vector<Eviction> clear(Cluster& cluster, Quota& quota, const Submission& submission, const Clearing& clearing) {
  std::vector<Eviction> evictions;
  const std::map<BudgetId, std::int64_t> broken = broken_budgets(cluster, clearing.victims);
  // From the last to the first, so that positions stay true.
  for (std::size_t i = clearing.victims.size(); i-- > 0;) {
    const VictimCandidate& victim = clearing.victims[i];
    Eviction& eviction = evictions.emplace_back();
    for (const std::size_t part : victim.spare) {
      const std::vector<std::string>& pods = cluster.running()[victim.position].spare[part].pods;
      eviction.spare.insert(eviction.spare.end(), pods.begin(), pods.end());
    }
    const RunningGang gang =
        victim.spare.empty() ? cluster.evict(victim.position) : cluster.evict_spare(victim.position, victim.spare);
    quota.give(gang.used);
    eviction.key = gang.key;
    eviction.dialect = gang.dialect;
    eviction.by = submission.key;
    eviction.reason = victim.reason;
    eviction.priority = gang.priority;
    eviction.pods = gang.pods();
    eviction.to_borrow = victim.to_borrow;
    const std::string what = what_happens(victim.reason, gang, submission, quota);
    const std::string some =
        victim.spare.empty() ? "" : fmt::format("; only {} above its minimum", counted(eviction.spare.size(), "pod"));
    eviction.message = fmt::format("{} ({}){}{}", what, clearing.considered, some, names_broken(gang, broken, cluster));
  }
  std::reverse(evictions.begin(), evictions.end());
  return evictions;
}

}  // namespace gantree
