// Whether and when a call is sent again: the one place that says so.
//
// Pure. Every write of ours carries a precondition (uid, resourceVersion, or a name that exists once), so a call whose
// outcome is unknown may be sent again: if it was executed, the second one is refused with 409.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace gantree::kube {

using Milliseconds = std::chrono::milliseconds;

enum class Trouble : std::uint8_t {
  kNotSent,       // the server has not seen it
  kUnknown,       // it may have been executed
  kTooMany,       // 429
  kServerError,   // 500, 502, 503, 504
  kUnauthorized,  // 401
  kFinal,         // anything else: for the caller to handle
};

struct RetryPolicy {
  int max_attempts = 6;
  Milliseconds first_delay{100};
  Milliseconds max_delay{5'000};
  Milliseconds max_retry_after{30'000};  // what a server may ask us to wait
};

struct Attempt {
  int number = 1;  // of the one that just failed
  Trouble trouble = Trouble::kFinal;
  std::optional<Milliseconds> retry_after;
  bool renewed = false;  // the credential was already renewed for this call
};

struct RetryDecision {
  bool retry = false;
  bool renew_credential = false;
  Milliseconds delay{0};
};

// `random` is in [0, 1).
[[nodiscard]] RetryDecision decide_retry(const RetryPolicy& policy, const Attempt& attempt, double random);

// Doubles from `first` up to `max`, of which a random half is taken off. `failures` counts from 1.
[[nodiscard]] Milliseconds backoff(Milliseconds first, Milliseconds max, int failures, double random);

}  // namespace gantree::kube
