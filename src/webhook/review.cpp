#include "webhook/review.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/error.h"
#include "json/decode.h"
#include "json/read.h"

namespace gantree::webhook {

namespace {

constexpr std::string_view kAdmissionVersion = "admission.k8s.io/v1";
constexpr std::string_view kAdmissionReview = "AdmissionReview";
constexpr std::size_t kLongestUid = 128;

std::string_view reason_of(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 403:
      return "Forbidden";
    case 413:
      return "RequestEntityTooLarge";
    case 422:
      return "Invalid";
    case 503:
      return "ServiceUnavailable";
    default:
      return "InternalError";
  }
}

std::string write(std::string_view uid, const Answer& answer) {
  json::Out response = json::Out::object();
  response.add("uid", uid).add("allowed", answer.allowed);
  if (!answer.allowed) {
    json::Out status = json::Out::object();
    status.add("code", answer.code).add("reason", reason_of(answer.code)).add("message", answer.message);
    response.add("status", std::move(status));
  }
  if (answer.allowed && !answer.patch.empty()) {
    response.add("patchType", "JSONPatch").add("patch", to_base64(json::Out(answer.patch).to_json(false)));
  }
  if (!answer.warnings.empty()) {
    json::Out warnings = json::Out::array();
    for (const std::string& warning : answer.warnings) {
      warnings.push(warning);
    }
    response.add("warnings", std::move(warnings));
  }
  json::Out review = json::Out::object();
  review.add("apiVersion", kAdmissionVersion).add("kind", kAdmissionReview).add("response", std::move(response));
  return review.to_json(false);
}

// The uid in text that may be cut or malformed: that of the request comes before any other.
std::string_view find_uid(std::string_view text) {
  const std::size_t request = text.find("\"request\"");
  constexpr std::string_view kKey = "\"uid\"";
  const std::size_t key = request == std::string_view::npos ? request : text.find(kKey, request);
  if (key == std::string_view::npos) {
    return {};
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n:", key + kKey.size());
  if (begin == std::string_view::npos || text[begin] != '"') {
    return {};
  }
  const std::string_view rest = text.substr(begin + 1, kLongestUid + 1);
  const std::string_view uid = rest.substr(0, rest.find('"'));
  const bool plain = std::all_of(uid.begin(), uid.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
  return plain && uid.size() < rest.size() ? uid : std::string_view{};
}

Result<Operation> read_operation(std::string_view text) {
  constexpr std::pair<std::string_view, Operation> kOperations[] = {{"CREATE", Operation::kCreate},
                                                                    {"UPDATE", Operation::kUpdate},
                                                                    {"DELETE", Operation::kDelete},
                                                                    {"CONNECT", Operation::kConnect}};
  for (const auto& [name, operation] : kOperations) {
    if (name == text) {
      return operation;
    }
  }
  return invalid(fmt::format("AdmissionReview: request.operation \"{}\" is not known", text));
}

Result<Review> read_review(json::Value root) {
  json::Reader read(kAdmissionReview, root, std::string(kAdmissionReview));
  if (root.kind() != json::Kind::kObject) {
    return invalid(fmt::format("{} must be an object, not {}", kAdmissionReview, json::to_string(root.kind())));
  }
  if (read.text(root, "kind") != kAdmissionReview || read.text(root, "apiVersion") != kAdmissionVersion) {
    return invalid(fmt::format("this is not an {} of {}", kAdmissionReview, kAdmissionVersion));
  }
  const json::Value request = read.require_object(root, "request");
  const json::Value kind = read.require_object(request, "kind");
  Review review;
  review.uid = read.require_text(request, "uid");
  review.group = read.text(kind, "group").value_or("");
  review.version = read.require_text(kind, "version");
  review.kind = read.require_text(kind, "kind");
  review.ns = read.text(request, "namespace").value_or("");
  review.name = read.text(request, "name").value_or("");
  review.subresource = read.text(request, "subResource").value_or("");
  review.user_info = read.object(request, "userInfo");
  review.user = review.user_info ? read.text(review.user_info, "username").value_or("") : std::string_view{};
  review.object = read.object(request, "object");
  review.old_object = read.object(request, "oldObject");
  const std::string_view operation = read.require_text(request, "operation");
  if (!read.ok()) {
    return read.error();
  }
  const auto known = read_operation(operation);
  if (!known) {
    return tl::unexpected(known.error());
  }
  review.operation = *known;
  const bool brings = review.operation == Operation::kCreate || review.operation == Operation::kUpdate;
  if (brings && !review.object) {
    return invalid(fmt::format("{}: request.object is missing", kAdmissionReview));
  }
  return review;
}

}  // namespace

Answer refusal(int code, std::string message) {
  return {.allowed = false, .code = code, .message = std::move(message)};
}

std::string refuse_review(std::string_view beginning, int code, std::string_view message) {
  return write(find_uid(beginning), refusal(code, std::string(message)));
}

std::string answer_review(std::string_view body, const Judge& judge) {
  const auto documents = json::read_documents(std::string(kAdmissionReview), std::string(body));
  if (!documents) {
    return refuse_review(body, 400, documents.error().message);
  }
  if (documents->size() != 1) {
    return refuse_review(body, 400,
                         fmt::format("the body must be one {}, not {}", kAdmissionReview, documents->size()));
  }
  const auto review = read_review(documents->front().root());
  if (!review) {
    return refuse_review(body, 400, review.error().message);
  }
  return write(review->uid, judge(*review));
}

}  // namespace gantree::webhook
