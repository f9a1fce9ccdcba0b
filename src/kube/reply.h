// What a call to the API server came to.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gantree::kube {

enum class CallResult : std::uint8_t {
  kOk,           // 2xx, or 304 to a question whether something changed
  kNotFound,     // 404: no such object, or no such resource
  kConflict,     // 409: another was faster, the precondition does not hold, or the name is taken
  kGone,         // 410: too old to go on from
  kBudget,       // an eviction that a disruption budget forbids for now
  kRefused,      // any other 4xx: tell the user
  kUnavailable,  // tried as often as the policy allows; certainly not executed
  kUnknown,      // the same, but an attempt may have been executed: look at the object
};
[[nodiscard]] std::string_view to_string(CallResult result);

struct Reply {
  CallResult result = CallResult::kUnknown;
  int http_status = 0;  // 0 where no answer came
  std::string reason;   // of the Status: "AlreadyExists", "Conflict", ...; may be empty
  std::string message;  // one sentence, also where no answer came; empty if kOk
  std::optional<std::chrono::milliseconds> retry_after;
  std::string body;  // as the server sent it
  std::string etag;  // of the body, if the server gave one
  int attempts = 0;
  // An attempt before the answer may have been executed. With kConflict: perhaps by ourselves; the watch will tell.
  bool uncertain = false;

  [[nodiscard]] bool ok() const { return result == CallResult::kOk; }
};

// Fills in result, reason, message and retry_after from status and body. Understands Status objects and plain text.
void classify(Reply& reply);

}  // namespace gantree::kube
