// Remedies at the cost of other gangs: those that run, and those that went before in the same plan.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>

#include "engine/preempt.h"
#include "explain/remedy.h"
#include "queue/victims.h"

namespace gantree {

namespace {

constexpr std::size_t kMostPruned = 64;

// Some gangs taken off cluster and quota, for as long as it lives.
class Without {
 public:
  Without(const Plight& plight, std::vector<const RunningGang*> gone)
      : plight_(plight), gone_(std::move(gone)), quota_(plight.quota) {
    for (const RunningGang* gang : gone_) {
      plight_.cluster.engine().evict(*gang);
      quota_.give(gang->used);
    }
  }
  ~Without() {
    for (const RunningGang* gang : std::ranges::reverse_view(gone_)) {
      plight_.cluster.engine().restore(*gang);
    }
  }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

  [[nodiscard]] bool starts() const {
    const Plight changed{.cluster = plight_.cluster,
                         .quota = quota_,
                         .submission = plight_.submission,
                         .alternative = plight_.alternative,
                         .planned = plight_.planned,
                         .settled = plight_.settled,
                         .needs = plight_.needs};
    const auto trial = try_gang(changed, plight_.alternative.gang);
    return trial && trial->quota;
  }

 private:
  const Plight& plight_;
  std::vector<const RunningGang*> gone_;
  Quota quota_;
};

bool starts_without(const Plight& plight, std::vector<const RunningGang*> gone) {
  return Without(plight, std::move(gone)).starts();
}

// The turn just before the last gangs of the plan, as few of them as will do; named are those that matter.
std::optional<Remedy> go_first(const Plight& plight) {
  std::vector<const RunningGang*> latest;
  for (std::size_t i = plight.planned.size(); i > plight.settled; --i) {
    latest.push_back(&plight.planned[i - 1]);
  }
  const auto first = [&](std::size_t count) {
    return std::vector<const RunningGang*>(latest.begin(), latest.begin() + static_cast<std::ptrdiff_t>(count));
  };
  if (latest.empty() || !starts_without(plight, latest)) {
    return std::nullopt;
  }
  std::size_t low = 0;
  std::size_t high = latest.size();
  while (high - low > 1) {
    const std::size_t middle = std::midpoint(low, high);
    (starts_without(plight, first(middle)) ? high : low) = middle;
  }
  std::vector<const RunningGang*> gone = first(high);
  // The earliest of them has to go; of the others only some are in the way.
  for (std::size_t i = 0; i + 1 < gone.size() && gone.size() <= kMostPruned;) {
    std::vector<const RunningGang*> fewer = gone;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (starts_without(plight, fewer)) {
      gone = std::move(fewer);
    } else {
      ++i;
    }
  }
  Remedy remedy{.kind = RemedyKind::kGoFirst};
  for (const RunningGang* gang : std::ranges::reverse_view(gone)) {
    remedy.victims.push_back({.key = gang->key, .priority = gang->priority, .pods = gang->pods()});
  }
  return remedy;
}

std::string why_forbidden(const Plight& plight, const RunningGang& gang) {
  if (!plight.submission.may_evict) {
    return "this gang may not evict others";
  }
  const std::optional<QueueId> queue = plight.submission.queue;
  if (queue && !plight.quota.rules(*queue).evicts()) {
    return fmt::format("{} has nobody evicted for its jobs", plight.quota.rules(*queue).name);
  }
  if (queue && gang.queue == queue && plight.quota.rules(*queue).within == WithinRule::kNever) {
    return fmt::format("{} has none of its own jobs evicted for others", plight.quota.rules(*queue).name);
  }
  if (gang.priority >= plight.submission.priority) {
    return fmt::format("its priority {} is not below {}", gang.priority, plight.submission.priority);
  }
  return plight.submission.queue ? "the queue's rules protect it" : "it may not be evicted";
}

}  // namespace

std::optional<Remedy> remedy_by_eviction(const Plight& plight) {
  std::vector<std::size_t> positions;
  std::vector<const RunningGang*> candidates;
  const std::vector<RunningGang>& running = plight.cluster.running();
  for (std::size_t i = 0; i < running.size(); ++i) {
    // Its own pods that run already are no help.
    if (running[i].evictable && running[i].key != plight.submission.key) {
      positions.push_back(i);
      candidates.push_back(&running[i]);
    }
  }
  if (candidates.empty()) {
    return std::nullopt;
  }
  const QuotaDemand demand = Quota::sum(plight.alternative.demand, least_counts(plight.alternative.gang));
  Quota quota = plight.quota;
  const auto admits = [&](std::span<const std::size_t> gone) {
    for (const std::size_t i : gone) {
      quota.give(candidates[i]->used);
    }
    const bool enough = quota.fits(demand, plight.submission.borrowing);
    for (const std::size_t i : gone) {
      quota.take(candidates[i]->used);
    }
    return enough;
  };
  const PreemptionAnswer answer = find_victims(plight.cluster.engine(), {.gang = plight.alternative.gang,
                                                                         .candidates = candidates,
                                                                         .budgets = plight.cluster.budgets(),
                                                                         .admits = admits});
  if (answer.verdict != PreemptionVerdict::kFound || answer.victims.empty()) {
    return std::nullopt;
  }
  const std::vector<VictimCandidate> allowed = victim_candidates(plight.quota, plight.submission, demand, running);
  Remedy remedy{.kind = RemedyKind::kEvict};
  for (const std::size_t i : answer.victims) {
    const RunningGang& gang = *candidates[i];
    const bool may = std::any_of(allowed.begin(), allowed.end(),
                                 [&](const VictimCandidate& candidate) { return candidate.position == positions[i]; });
    remedy.victims.push_back({.key = gang.key,
                              .priority = gang.priority,
                              .pods = gang.pods(),
                              .forbidden = may ? "" : why_forbidden(plight, gang)});
  }
  for (const std::vector<HostShare>& hosts : answer.outcome.placement->pod_sets) {
    remedy.place.insert(remedy.place.end(), hosts.begin(), hosts.end());
  }
  return remedy;
}

std::vector<Remedy> remedies_of_others(const Plight& plight) {
  std::vector<Remedy> found;
  for (auto&& remedy : {go_first(plight), remedy_by_eviction(plight)}) {
    if (remedy) {
      found.push_back(*remedy);
    }
  }
  return found;
}

}  // namespace gantree
