#include "queue/submission.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gantree {

void sort_queue(std::vector<Submission>& queue) {
  const auto created = [](const Submission& submission) {
    return submission.created_seconds == 0 ? std::numeric_limits<std::int64_t>::max() : submission.created_seconds;
  };
  std::stable_sort(queue.begin(), queue.end(), [&](const Submission& a, const Submission& b) {
    return std::tuple(b.priority, created(a), std::tie(a.key)) < std::tuple(a.priority, created(b), std::tie(b.key));
  });
}

}  // namespace gantree
