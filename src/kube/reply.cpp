#include "kube/reply.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/decode.h"
#include "json/read.h"

namespace gantree::kube {
namespace {

constexpr std::size_t kLongestMessage = 2'000;
constexpr std::int64_t kLongestRetryAfterSeconds = 24 * 3600;

// Anything may answer in the server's place; what is no Status is quoted as it is.
struct StatusObject {
  std::string reason;
  std::string message;
  std::optional<std::int64_t> retry_after_seconds;
  bool disruption_budget = false;
};

StatusObject read_status(const std::string& body) {
  StatusObject status;
  if (!body.starts_with('{')) {
    status.message = body.substr(0, std::min(body.find('\n'), kLongestMessage));
    return status;
  }
  const Result<std::vector<json::Document>> documents = json::read_documents("reply", body);
  if (!documents.has_value() || documents->empty()) {
    return status;
  }
  const json::Value root = documents->front().root();
  json::Reader read("reply", "Status");
  status.reason = read.text(root, "reason").value_or("");
  status.message = std::string(read.text(root, "message").value_or("")).substr(0, kLongestMessage);
  const json::Value details = read.object(root, "details");
  status.retry_after_seconds = read.integer(details, "retryAfterSeconds", 0, kLongestRetryAfterSeconds);
  if (const json::Value causes = read.array(details, "causes")) {
    for (const json::NodeData& cause : causes.items()) {
      status.disruption_budget |= read.text(json::Value(&cause), "reason") == "DisruptionBudget";
    }
  }
  return status;
}

CallResult result_of(int http_status) {
  switch (http_status) {
    case 404:
      return CallResult::kNotFound;
    case 409:
      return CallResult::kConflict;
    case 410:
      return CallResult::kGone;
    case 429:
      return CallResult::kUnavailable;
    default:
      break;
  }
  if ((http_status >= 200 && http_status < 300) || http_status == 304) {
    return CallResult::kOk;
  }
  return http_status >= 500 ? CallResult::kUnavailable : CallResult::kRefused;
}

}  // namespace

std::string_view to_string(CallResult result) {
  switch (result) {
    case CallResult::kOk:
      return "ok";
    case CallResult::kNotFound:
      return "not found";
    case CallResult::kConflict:
      return "conflict";
    case CallResult::kGone:
      return "gone";
    case CallResult::kBudget:
      return "disruption budget";
    case CallResult::kRefused:
      return "refused";
    case CallResult::kUnavailable:
      return "unavailable";
    case CallResult::kUnknown:
      return "unknown";
  }
  return "unknown";
}

void classify(Reply& reply) {
  reply.result = result_of(reply.http_status);
  if (reply.result == CallResult::kOk) {
    return;
  }
  StatusObject status = read_status(reply.body);
  reply.reason = std::move(status.reason);
  reply.message =
      status.message.empty() ? fmt::format("the API server answered {}", reply.http_status) : std::move(status.message);
  if (!reply.retry_after.has_value() && status.retry_after_seconds.has_value()) {
    reply.retry_after = std::chrono::seconds(*status.retry_after_seconds);
  }
  if (reply.http_status == 429 && status.disruption_budget) {
    reply.result = CallResult::kBudget;
  }
}

}  // namespace gantree::kube
