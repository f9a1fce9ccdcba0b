#include "apiserver/status.h"

#include <fmt/format.h>

namespace gantree::apiserver {

namespace {

Object status_object(std::string_view outcome) {
  Object status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"].emplace_object();
  status["status"] = outcome;
  return status;
}

void describe(Object& details, const GroupResource& what, std::string_view name) {
  if (!name.empty()) {
    details["name"] = name;
  }
  if (!what.group.empty()) {
    details["group"] = what.group;
  }
  if (!what.resource.empty()) {
    details["kind"] = what.resource;
  }
}

}  // namespace

std::string GroupResource::text() const {
  return group.empty() ? resource : fmt::format("{}.{}", resource, group);
}

Failure failure(int code, std::string_view reason, std::string_view message) {
  Failure failure{code, status_object("Failure")};
  failure.status["message"] = message;
  if (!reason.empty()) {
    failure.status["reason"] = reason;
  }
  failure.status["code"] = code;
  return failure;
}

Failure failure(int code, std::string_view reason, std::string_view message, const GroupResource& what,
                std::string_view name) {
  Failure failure{code, status_object("Failure")};
  failure.status["message"] = message;
  failure.status["reason"] = reason;
  describe(object_in(failure.status, "details"), what, name);
  failure.status["code"] = code;
  return failure;
}

void add_cause(Failure& failure, std::string_view reason, std::string_view message, std::string_view field) {
  Value& causes = object_in(failure.status, "details")["causes"];
  if (!causes.is_array()) {
    causes.emplace_array();
  }
  Object cause;
  cause["reason"] = reason;
  cause["message"] = message;
  if (!field.empty()) {
    cause["field"] = field;
  }
  causes.get_array().push_back(std::move(cause));
}

Failure bad_request(std::string_view message) {
  return failure(400, "BadRequest", message);
}

Failure not_found(const GroupResource& what, std::string_view name) {
  return failure(404, "NotFound", fmt::format("{} \"{}\" not found", what.text(), name), what, name);
}

Failure no_such_path() {
  return failure(404, "NotFound", "the server could not find the requested resource", {}, "");
}

Failure already_exists(const GroupResource& what, std::string_view name) {
  return failure(409, "AlreadyExists", fmt::format("{} \"{}\" already exists", what.text(), name), what, name);
}

Failure conflict(const GroupResource& what, std::string_view name, std::string_view why) {
  return failure(409, "Conflict", fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", what.text(), name, why),
                 what, name);
}

Failure modified(const GroupResource& what, std::string_view name) {
  return conflict(what, name, "it was changed meanwhile: read it again, and make the change on what is there now");
}

Failure forbidden_request(const GroupResource& what, std::string_view name, std::string_view why) {
  return failure(403, "Forbidden",
                 name.empty() ? fmt::format("{} is forbidden: {}", what.text(), why)
                              : fmt::format("{} \"{}\" is forbidden: {}", what.text(), name, why),
                 what, name);
}

Failure method_not_supported(const GroupResource& what, std::string_view verb) {
  return failure(405, "MethodNotAllowed",
                 fmt::format("{} is not supported on resources of kind \"{}\"", verb, what.text()), what, "");
}

Failure method_not_allowed_here() {
  return failure(405, "MethodNotAllowed", "nobody here answers to this method", {}, "");
}

Failure expired(std::string_view message) {
  return failure(410, "Expired", message);
}

Failure unsupported_media_type(std::string_view accepted) {
  return failure(415, "UnsupportedMediaType",
                 fmt::format("the body is in a form that is not read here; these are: {}", accepted));
}

Failure internal_error(std::string_view what) {
  Failure result = failure(500, "InternalError", fmt::format("Internal error occurred: {}", what));
  Object& details = object_in(result.status, "details");
  Object cause;
  cause["message"] = what;
  details["causes"] = Array{Value(std::move(cause))};
  return result;
}

Failure too_large() {
  return failure(500, "", "etcdserver: request is too large");
}

Failure unauthorized() {
  return failure(401, "Unauthorized", "Unauthorized");
}

Failure too_many_requests(std::string_view message, std::chrono::seconds retry_after) {
  Failure result = failure(429, "TooManyRequests", message);
  Object& details = object_in(result.status, "details");
  if (retry_after.count() > 0) {
    details["retryAfterSeconds"] = retry_after.count();
  }
  return result;
}

Object success() {
  return status_object("Success");
}

Object created() {
  Object status = success();
  status["code"] = 201;
  return status;
}

Object success(const GroupResource& what, std::string_view name, std::string_view uid) {
  Object status = success();
  Object& details = object_in(status, "details");
  describe(details, what, name);
  if (!uid.empty()) {
    details["uid"] = uid;
  }
  return status;
}

}  // namespace gantree::apiserver
