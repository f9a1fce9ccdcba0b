#include "kube/retry.h"

#include <algorithm>

namespace gantree::kube {

Milliseconds backoff(Milliseconds first, Milliseconds max, int failures, double random) {
  const int doublings = std::clamp(failures - 1, 0, 20);
  const auto full = std::min<Milliseconds::rep>(first.count() << doublings, max.count());
  return Milliseconds(full - static_cast<Milliseconds::rep>(static_cast<double>(full) * 0.5 * random));
}

RetryDecision decide_retry(const RetryPolicy& policy, const Attempt& attempt, double random) {
  if (attempt.trouble == Trouble::kFinal || attempt.number >= policy.max_attempts) {
    return {};
  }
  if (attempt.trouble == Trouble::kUnauthorized) {
    return {.retry = !attempt.renewed, .renew_credential = !attempt.renewed};
  }
  const Milliseconds own = backoff(policy.first_delay, policy.max_delay, attempt.number, random);
  if (!attempt.retry_after.has_value()) {
    return {.retry = true, .delay = own};
  }
  // Not all at the same instant: whoever was sent away together would come back together.
  const Milliseconds asked = std::min(*attempt.retry_after, policy.max_retry_after);
  return {.retry = true,
          .delay = asked + Milliseconds(static_cast<Milliseconds::rep>(
                               random * static_cast<double>(std::max(own, asked / 10).count())))};
}

}  // namespace gantree::kube
