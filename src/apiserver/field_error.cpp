#include "apiserver/field_error.h"

#include <fmt/format.h>

namespace gantree::apiserver {

FieldError required(std::string field, std::string_view detail) {
  return {Cause::kRequired, std::move(field),
          detail.empty() ? std::string("Required value") : fmt::format("Required value: {}", detail)};
}

FieldError invalid_value(std::string field, const Value& value, std::string_view detail) {
  return {Cause::kInvalid, std::move(field), fmt::format("Invalid value: {}: {}", to_json(value), detail)};
}

FieldError type_invalid(std::string field, const Value& value, std::string_view detail) {
  return {Cause::kTypeInvalid, std::move(field), fmt::format("Invalid value: {}: {}", to_json(value), detail)};
}

FieldError not_supported(std::string field, const Value& value, const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& choice : supported) {
    list += list.empty() ? "" : ", ";
    append_json_text(list, choice);
  }
  return {Cause::kNotSupported, std::move(field),
          fmt::format("Unsupported value: {}: supported values: {}", to_json(value), list)};
}

FieldError duplicate(std::string field, const Value& value) {
  return {Cause::kDuplicate, std::move(field), fmt::format("Duplicate value: {}", to_json(value))};
}

FieldError forbidden(std::string field, std::string_view detail) {
  return {Cause::kForbidden, std::move(field), fmt::format("Forbidden: {}", detail)};
}

FieldError not_found(std::string field, const Value& value) {
  return {Cause::kNotFound, std::move(field), fmt::format("Not found: {}", to_json(value))};
}

FieldError too_long(std::string field, std::size_t max_bytes) {
  return {Cause::kTooLong, std::move(field),
          fmt::format("Too long: may not be more than {} byte{}", max_bytes, max_bytes == 1 ? "" : "s")};
}

FieldError too_many(std::string field, std::size_t actual, std::size_t max) {
  return {Cause::kTooMany, std::move(field),
          fmt::format("Too many: {}: must have at most {} item{}", actual, max, max == 1 ? "" : "s")};
}

std::string_view reason_of(Cause cause) {
  switch (cause) {
    case Cause::kRequired:
      return "FieldValueRequired";
    case Cause::kInvalid:
      return "FieldValueInvalid";
    case Cause::kNotSupported:
      return "FieldValueNotSupported";
    case Cause::kDuplicate:
      return "FieldValueDuplicate";
    case Cause::kForbidden:
      return "FieldValueForbidden";
    case Cause::kTooLong:
      return "FieldValueTooLong";
    case Cause::kTooMany:
      return "FieldValueTooMany";
    case Cause::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case Cause::kNotFound:
      return "FieldValueNotFound";
  }
  return "FieldValueInvalid";
}

std::string to_text(const FieldError& error) {
  return fmt::format("{}: {}", error.field.empty() ? "<nil>" : error.field, error.message);
}

Object invalid_status(std::string_view group, std::string_view kind, std::string_view name, const FieldErrors& errors) {
  std::string list;
  Array causes;
  for (const FieldError& error : errors) {
    list += list.empty() ? "" : ", ";
    list += to_text(error);
    Object cause;
    cause["reason"] = reason_of(error.cause);
    cause["message"] = error.message;
    cause["field"] = error.field.empty() ? std::string("<nil>") : error.field;
    causes.push_back(std::move(cause));
  }
  if (errors.size() > 1) {
    list = "[" + list + "]";
  }
  Object details;
  if (!name.empty()) {
    details["name"] = name;
  }
  if (!group.empty()) {
    details["group"] = group;
  }
  details["kind"] = kind;
  details["causes"] = std::move(causes);
  Object status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"] = Object();
  status["status"] = "Failure";
  status["message"] = fmt::format("{}{}{} \"{}\" is invalid: {}", kind, group.empty() ? "" : ".", group, name, list);
  status["reason"] = "Invalid";
  status["details"] = std::move(details);
  status["code"] = 422;
  return status;
}

std::string child_path(std::string_view parent, std::string_view field) {
  return parent.empty() ? std::string(field) : fmt::format("{}.{}", parent, field);
}

std::string index_path(std::string_view parent, std::size_t index) {
  return fmt::format("{}[{}]", parent, index);
}

PathStep::PathStep(std::string& path, std::string_view field) : path_(path), length_(path.size()) {
  if (!path.empty()) {
    path += '.';
  }
  path += field;
}

PathStep::PathStep(std::string& path, std::size_t index) : path_(path), length_(path.size()) {
  path += '[';
  path += std::to_string(index);
  path += ']';
}

std::string key_path(std::string_view parent, std::string_view key) {
  return fmt::format("{}[{}]", parent, key);
}

}  // namespace gantree::apiserver
