#include "cycle/start.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace gantree {

namespace {

std::vector<int> counts_of(const Gang& gang) {
  std::vector<int> counts;
  for (const PodSet* set : pod_sets(gang.root)) {
    counts.push_back(set->count);
  }
  return counts;
}

void collect(Group& group, std::vector<PodSet*>& sets) {
  for (PodSet& set : group.pod_sets) {
    sets.push_back(&set);
  }
  for (Group& nested : group.groups) {
    collect(nested, sets);
  }
}

// Takes the pod sets out that are marked, by their position in depth-first order, and groups that have none left.
void drop(Group& group, const std::vector<bool>& marked, std::size_t& next) {
  std::vector<PodSet> kept;
  for (PodSet& set : group.pod_sets) {
    if (!marked[next++]) {
      kept.push_back(std::move(set));
    }
  }
  group.pod_sets = std::move(kept);
  for (Group& nested : group.groups) {
    drop(nested, marked, next);
  }
  std::erase_if(group.groups, [](const Group& nested) { return nested.pod_sets.empty() && nested.groups.empty(); });
}

// The topology of every pod set: its own, or the one it inherits.
void collect_topologies(const Group& group, TopologyId inherited, std::vector<TopologyId>& topologies) {
  const TopologyId own = group.constraint.topology.value_or(inherited);
  for (const PodSet& set : group.pod_sets) {
    topologies.push_back(set.constraint.topology.value_or(own));
  }
  for (const Group& nested : group.groups) {
    collect_topologies(nested, own, topologies);
  }
}

// The largest counts that the quota holds, every pod set shrunk by the same part of what it can
// spare. Nothing where the minimum is too much already.
std::optional<std::vector<int>> counts_within_quota(const Quota& quota, const Alternative& alternative,
                                                    Borrowing borrowing) {
  const std::vector<const PodSet*> sets = pod_sets(alternative.gang.root);
  const auto spare = [](const PodSet* set) { return std::int64_t{set->count} - std::min(set->min_count, set->count); };
  std::int64_t steps = 0;
  for (const PodSet* set : sets) {
    steps = std::max(steps, spare(set));
  }
  const auto after = [&](std::int64_t step) {
    std::vector<int> counts;
    for (const PodSet* set : sets) {
      counts.push_back(set->count - static_cast<int>(steps == 0 ? 0 : spare(set) * step / steps));
    }
    return counts;
  };
  if (!quota.fits(Quota::sum(alternative.demand, after(steps)), borrowing)) {
    return std::nullopt;
  }
  std::int64_t low = 0;
  std::int64_t high = steps;
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (!quota.fits(Quota::sum(alternative.demand, after(middle)), borrowing)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return after(low);
}

// The fewest pods with which it may start are what counts. Quota that is in use comes back some day; what no domain
// could ever hold waits for nothing, whatever the quota.
Obstacle short_of_quota(Cluster& cluster, const Quota& quota, const Submission& submission,
                        const Alternative& alternative) {
  Shortage shortage = *quota.lacking(least_demand_of(alternative), submission.borrowing);
  const Gang placed = to_place(alternative, alternative.gang);
  if (shortage.ever && !pod_sets(placed.root).empty()) {
    const Outcome outcome = cluster.engine().place(placed);
    if (!outcome.placement && outcome.refusal == Refusal::kTooLarge) {
      return obstacle(outcome, alternative);
    }
  }
  return obstacle(std::move(shortage), alternative);
}

}  // namespace

Gang to_place(const Alternative& alternative, const Gang& gang) {
  Gang placed = gang;
  if (!alternative.elsewhere.empty()) {
    std::size_t next = 0;
    drop(placed.root, alternative.elsewhere, next);
  }
  return placed;
}

Started book(Cluster& cluster, Quota& quota, const Alternative& alternative, const Gang& gang, Outcome outcome) {
  const Gang placed = to_place(alternative, gang);
  if (outcome.placement) {
    cluster.assume(placed, *outcome.placement);
  }
  Started started{.counts = counts_of(gang), .placement = {}};
  started.placement.pod_sets.resize(started.counts.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < started.counts.size(); ++i) {
    if (alternative.elsewhere.empty() || !alternative.elsewhere[i]) {
      started.counts[i] = outcome.counts[next];
      started.placement.pod_sets[i] = std::move(outcome.placement->pod_sets[next++]);
    }
  }
  started.used = Quota::sum(alternative.demand, started.counts);
  quota.take(started.used);
  return started;
}

tl::expected<Started, Obstacle> try_to_start(Cluster& cluster, Quota& quota, const Submission& submission,
                                             const Alternative& alternative) {
  const std::vector<int> whole = counts_of(alternative.gang);
  const bool enough = quota.fits(Quota::sum(alternative.demand, whole), submission.borrowing);
  const auto counts = enough ? std::nullopt : counts_within_quota(quota, alternative, submission.borrowing);
  if (!enough && !counts) {
    return tl::unexpected(short_of_quota(cluster, quota, submission, alternative));
  }
  Gang gang = alternative.gang;
  if (counts) {
    std::vector<PodSet*> sets;
    collect(gang.root, sets);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      sets[i]->count = (*counts)[i];
    }
  }
  const Gang placed = to_place(alternative, gang);
  if (pod_sets(placed.root).empty()) {
    return book(cluster, quota, alternative, gang, {});  // nothing that needs a place
  }
  Outcome outcome = cluster.engine().place(placed);
  if (!outcome.placement) {
    return tl::unexpected(obstacle(outcome, alternative));
  }
  return book(cluster, quota, alternative, gang, std::move(outcome));
}

std::vector<PodSetDecision> placed_sets(const Submission& submission, const Alternative& alternative,
                                        Started&& started) {
  const std::vector<const PodSet*> sets = pod_sets(alternative.gang.root);
  std::vector<TopologyId> topologies;
  collect_topologies(alternative.gang.root, alternative.gang.topology, topologies);
  std::vector<PodSetDecision> placed;
  for (const auto& [name, count] : submission.pod_sets) {
    PodSetDecision& decision = placed.emplace_back();
    decision.name = name;
    decision.asked = count;
    decision.topology = alternative.gang.topology;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i]->name == name) {
        decision.count = started.counts[i];
        decision.flavor = alternative.flavors[i];
        decision.topology = topologies[i];
        decision.hosts = std::move(started.placement.pod_sets[i]);
        decision.pods = sets[i]->pods;
        decision.pods.resize(std::min(decision.pods.size(), static_cast<std::size_t>(std::max(0, decision.count))));
        decision.requests = sets[i]->shape.requests;
      }
    }
  }
  return placed;
}

}  // namespace gantree
