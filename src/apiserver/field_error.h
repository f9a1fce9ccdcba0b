// What is wrong with a field of an object, in the words of Kubernetes: the causes of a Status of reason Invalid.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"

namespace gantree::apiserver {

enum class Cause : std::uint8_t {
  kRequired,
  kInvalid,
  kNotSupported,
  kDuplicate,
  kForbidden,
  kTooLong,
  kTooMany,
  kTypeInvalid,
  kNotFound
};

struct FieldError {
  Cause cause = Cause::kInvalid;
  std::string field;    // "spec.containers[0].name"
  std::string message;  // "Invalid value: \"A\": must be lower case"
};

using FieldErrors = std::vector<FieldError>;

[[nodiscard]] FieldError required(std::string field, std::string_view detail = {});
[[nodiscard]] FieldError invalid_value(std::string field, const Value& value, std::string_view detail);
[[nodiscard]] FieldError type_invalid(std::string field, const Value& value, std::string_view detail);
[[nodiscard]] FieldError not_supported(std::string field, const Value& value,
                                       const std::vector<std::string>& supported);
[[nodiscard]] FieldError duplicate(std::string field, const Value& value);
[[nodiscard]] FieldError forbidden(std::string field, std::string_view detail);
[[nodiscard]] FieldError not_found(std::string field, const Value& value);
[[nodiscard]] FieldError too_long(std::string field, std::size_t max_bytes);
[[nodiscard]] FieldError too_many(std::string field, std::size_t actual, std::size_t max);

// "FieldValueRequired" and the like, for details.causes[].reason.
[[nodiscard]] std::string_view reason_of(Cause cause);

// `field: message`, as the server prints it.
[[nodiscard]] std::string to_text(const FieldError& error);

// The Status (code 422, reason Invalid) for an object: `Job.batch "a" is invalid: spec.template: Required value`.
[[nodiscard]] Object invalid_status(std::string_view group, std::string_view kind, std::string_view name,
                                    const FieldErrors& errors);

// "spec" + "containers" is "spec.containers"; the root's path is "".
[[nodiscard]] std::string child_path(std::string_view parent, std::string_view field);
[[nodiscard]] std::string index_path(std::string_view parent, std::size_t index);
// Members of maps: "metadata.labels" + "a/b" is "metadata.labels[a/b]" in Kubernetes' hand-written rules.
[[nodiscard]] std::string key_path(std::string_view parent, std::string_view key);

// A path that is a step longer for as long as this lives: for walks that hardly ever need it.
class PathStep {
 public:
  PathStep(std::string& path, std::string_view field);
  PathStep(std::string& path, std::size_t index);
  ~PathStep() { path_.resize(length_); }
  PathStep(const PathStep&) = delete;
  PathStep& operator=(const PathStep&) = delete;

 private:
  std::string& path_;
  std::size_t length_;
};

}  // namespace gantree::apiserver
