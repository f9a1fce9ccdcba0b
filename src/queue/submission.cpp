#include "queue/submission.h"

#include <limits>
#include <tuple>

#include "queue/order.h"

namespace gantree {

bool is_in_line(const Submission& submission) {
  if (!submission.rejection) {
    return true;
  }
  const Reason reason = submission.rejection->reason;
  return reason != Reason::kDeactivated && reason != Reason::kSuspended && reason != Reason::kEvicted &&
         reason != Reason::kExcessPods;
}

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
  if (const auto of_a = std::tuple(b.priority, created(a)), of_b = std::tuple(a.priority, created(b)); of_a != of_b) {
    return of_a < of_b;
  }
  return named_before(a.key, b.key);
}

}  // namespace gantree
