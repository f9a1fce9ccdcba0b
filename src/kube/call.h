// One call on its way: what is sent, how often it was tried, and what an attempt's outcome means for it.
#pragma once

#include <functional>

#include "http/transport.h"
#include "kube/counters.h"
#include "kube/reply.h"
#include "kube/retry.h"

namespace gantree::kube {

struct Call {
  Verb verb = Verb::kGet;
  http::Request request;
  std::function<void(Reply)> done;
  bool fenced = false;     // a write that only the leader may do
  std::uint64_t term = 0;  // of leading in which it was decided on
  bool urgent = false;     // the lease: does not wait in line and is tried once
  int attempts = 0;
  bool renewed = false;    // the credential, because of this call
  bool uncertain = false;  // an attempt may have been executed
};

struct Judged {
  Reply reply;
  Trouble trouble = Trouble::kFinal;
};

// What an attempt's outcome says. Sets call.uncertain.
[[nodiscard]] Judged judge(Call& call, http::Outcome outcome);

// The length of time in a Retry-After header: seconds. Dates are not understood: nothing.
[[nodiscard]] std::optional<Milliseconds> retry_after_of(const http::Headers& headers);

}  // namespace gantree::kube
