#include "queue/submission.h"

#include <limits>
#include <tuple>

namespace gantree {

QuotaDemand demand_of(const Alternative& alternative) {
  std::vector<int> counts;
  for (const PodSet* set : pod_sets(alternative.gang.root)) {
    counts.push_back(set->count);
  }
  return Quota::sum(alternative.demand, counts);
}

bool goes_before(const Submission& a, const Submission& b) {
  const auto created = [](const Submission& submission) {
    return submission.created_seconds == 0 ? std::numeric_limits<std::int64_t>::max() : submission.created_seconds;
  };
  return std::tuple(b.priority, created(a), std::tie(a.key)) < std::tuple(a.priority, created(b), std::tie(b.key));
}

}  // namespace gantree
