#include "cycle/cycle.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "cycle/obstacle.h"

namespace gantree {

namespace {

// What an alternative got. Lists are by pod set of its gang.
struct Started {
  std::vector<int> counts;
  Placement placement;
};

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
std::optional<std::vector<int>> counts_within_quota(const Quota& quota, const Alternative& alternative) {
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
  if (quota.lacking(alternative.demand, after(steps))) {
    return std::nullopt;
  }
  std::int64_t low = 0;
  std::int64_t high = steps;
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (quota.lacking(alternative.demand, after(middle))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return after(low);
}

tl::expected<Started, Obstacle> try_to_start(Cluster& cluster, Quota& quota, const Alternative& alternative) {
  Gang gang = alternative.gang;
  if (auto shortage = quota.lacking(alternative.demand, counts_of(gang))) {
    const auto counts = counts_within_quota(quota, alternative);
    if (!counts) {
      return tl::unexpected(obstacle(std::move(*shortage), alternative));
    }
    std::vector<PodSet*> sets;
    collect(gang.root, sets);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      sets[i]->count = (*counts)[i];
    }
  }
  if (pod_sets(gang.root).empty()) {
    return Started{};  // a gang of no pods needs no place
  }
  Outcome outcome = cluster.engine().place(gang);
  if (!outcome.placement) {
    return tl::unexpected(obstacle(outcome, alternative));
  }
  cluster.assume(gang, *outcome.placement);
  quota.take(alternative.demand, outcome.counts);
  return Started{.counts = std::move(outcome.counts), .placement = std::move(*outcome.placement)};
}

// The pod sets as submitted, with what the alternative's gang got. A set of no pods is not in the gang.
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
        decision.requests = sets[i]->shape.requests;
      }
    }
  }
  return placed;
}

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

Decision decide(Cluster& cluster, Quota& quota, Submission& submission) {
  Decision decision = undecided(submission);
  if (submission.rejection) {
    decision.state = submission.rejection->waits ? GangState::kWaiting : GangState::kRejected;
    decision.reason = submission.rejection->reason;
    decision.message = std::move(submission.rejection->message);
    return decision;
  }
  GANTREE_CHECK(!submission.alternatives.empty());
  std::vector<Obstacle> obstacles;
  for (const Alternative& alternative : submission.alternatives) {
    auto started = try_to_start(cluster, quota, alternative);
    if (started) {
      decision.state = GangState::kPlaced;
      decision.pod_sets = placed_sets(submission, alternative, std::move(*started));
      return decision;
    }
    obstacles.push_back(std::move(started.error()));
  }
  decision.reason = nearest(obstacles).reason;
  decision.message = explain(obstacles);
  return decision;
}

}  // namespace

std::vector<Decision> run_cycle(Cluster& cluster, Quota& quota, std::vector<Submission> queue) {
  sort_queue(queue);
  std::vector<Decision> decisions;
  decisions.reserve(queue.size());
  for (Submission& submission : queue) {
    decisions.push_back(decide(cluster, quota, submission));
  }
  return decisions;
}

}  // namespace gantree
