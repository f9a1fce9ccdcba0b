#include "queue/submission.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "queue/order.h"

namespace gantree {

bool is_in_line(const Submission& submission) {
  if (!submission.rejection) {
    return true;
  }
  const Reason reason = submission.rejection->reason;
  return reason != Reason::kDeactivated && reason != Reason::kSuspended && reason != Reason::kGated &&
         reason != Reason::kEvicted && reason != Reason::kExcessPods;
}

namespace {

template <class Count>
QuotaDemand demand_of_counts(const Alternative& alternative, Count count_of) {
  std::vector<int> counts;
  for (const PodSet* set : pod_sets(alternative.gang.root)) {
    counts.push_back(count_of(*set));
  }
  return Quota::sum(alternative.demand, counts);
}

WayDemands of_every_way(const Submission& submission, QuotaDemand (*demand)(const Alternative&)) {
  WayDemands demands;
  for (const std::vector<Alternative>& ways : submission.parts) {
    std::vector<QuotaDemand>& part = demands.emplace_back();
    for (const Alternative& way : ways) {
      part.push_back(demand(way));
    }
  }
  return demands;
}

}  // namespace

QuotaDemand demand_of(const Alternative& alternative) {
  return demand_of_counts(alternative, [](const PodSet& set) { return set.count; });
}

QuotaDemand least_demand_of(const Alternative& alternative) {
  return demand_of_counts(alternative, [](const PodSet& set) { return std::min(set.count, set.min_count); });
}

WayDemands demands_of(const Submission& submission) {
  return of_every_way(submission, demand_of);
}

WayDemands least_demands_of(const Submission& submission) {
  return of_every_way(submission, least_demand_of);
}

std::size_t ways_to_start(const Submission& submission) {
  std::size_t ways = submission.parts.empty() ? 0 : 1;
  for (const std::vector<Alternative>& part : submission.parts) {
    ways = std::min(ways * part.size(), kMostCounted);
  }
  return ways;
}

Alternative together(std::span<const Alternative* const> ways) {
  Alternative whole = *ways.front();
  whole.gang.root.pod_sets.clear();
  whole.gang.root.groups.clear();
  whole.demand.clear();
  whole.flavors.clear();
  whole.elsewhere.clear();
  const bool some_elsewhere =
      std::any_of(ways.begin(), ways.end(), [](const Alternative* way) { return !way->elsewhere.empty(); });
  const auto add_lists = [&](const Alternative& way, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      whole.demand.push_back(way.demand[i]);
      whole.flavors.push_back(way.flavors[i]);
      if (some_elsewhere) {
        whole.elsewhere.push_back(!way.elsewhere.empty() && way.elsewhere[i]);
      }
    }
  };
  for (const Alternative* way : ways) {
    const std::vector<PodSet>& sets = way->gang.root.pod_sets;
    whole.gang.root.pod_sets.insert(whole.gang.root.pod_sets.end(), sets.begin(), sets.end());
    add_lists(*way, 0, sets.size());
  }
  for (const Alternative* way : ways) {
    const std::vector<Group>& groups = way->gang.root.groups;
    whole.gang.root.groups.insert(whole.gang.root.groups.end(), groups.begin(), groups.end());
    add_lists(*way, way->gang.root.pod_sets.size(), way->demand.size());
  }
  return whole;
}

bool goes_before(const Submission& a, const Submission& b) {
  const auto created = [](const Submission& submission) {
    return submission.created_seconds == 0 ? std::numeric_limits<std::int64_t>::max() : submission.created_seconds;
  };
  if (const auto of_a = std::tuple(a.begun, b.priority, created(a)), of_b = std::tuple(b.begun, a.priority, created(b));
      of_a != of_b) {
    return of_a < of_b;
  }
  return named_before(a, b);
}

}  // namespace gantree
