#include "kube/call.h"

#include <utility>

#include "base/whole_number.h"

namespace gantree::kube {
namespace {

bool is_write(Verb verb) {
  return verb != Verb::kGet && verb != Verb::kList && verb != Verb::kWatch;
}

Trouble trouble_of(const Reply& reply) {
  if (reply.result == CallResult::kBudget) {
    return Trouble::kFinal;
  }
  switch (reply.http_status) {
    case 401:
      return Trouble::kUnauthorized;
    case 429:
      return Trouble::kTooMany;
    case 500:
    case 502:
    case 503:
    case 504:
      return Trouble::kServerError;
    default:
      return Trouble::kFinal;
  }
}

}  // namespace

std::optional<Milliseconds> retry_after_of(const http::Headers& headers) {
  constexpr int kLongestSeconds = 24 * 3600;
  const std::optional<int> seconds = whole_number<int>(http::find_header(headers, "retry-after"), 0);
  if (!seconds.has_value() || *seconds > kLongestSeconds) {
    return std::nullopt;
  }
  return std::chrono::seconds(*seconds);
}

Judged judge(Call& call, http::Outcome outcome) {
  Judged judged;
  Reply& reply = judged.reply;
  switch (outcome.kind) {
    case http::Outcome::Kind::kNotSent:
      judged.trouble = Trouble::kNotSent;
      reply.result = CallResult::kUnavailable;
      reply.message = std::move(outcome.error);
      break;
    case http::Outcome::Kind::kUnknown:
      judged.trouble = Trouble::kUnknown;
      call.uncertain |= is_write(call.verb);
      reply.result = CallResult::kUnavailable;
      reply.message = std::move(outcome.error);
      break;
    case http::Outcome::Kind::kReply:
      reply.http_status = outcome.status;
      reply.body = std::move(outcome.body);
      reply.etag = http::find_header(outcome.headers, "etag");
      reply.retry_after = retry_after_of(outcome.headers);
      classify(reply);
      judged.trouble = trouble_of(reply);
      // A server that failed, or something before it, may have done the work.
      call.uncertain |= judged.trouble == Trouble::kServerError && is_write(call.verb);
      break;
  }
  if (reply.result == CallResult::kUnavailable && call.uncertain) {
    reply.result = CallResult::kUnknown;
  }
  reply.uncertain = call.uncertain;
  reply.attempts = call.attempts;
  return judged;
}

}  // namespace gantree::kube
