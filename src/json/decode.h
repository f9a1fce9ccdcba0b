// Typed reading of values, with errors that name the place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/value.h"

namespace gantree::json {

// Where an object came from, for messages.
struct Place {
  std::string_view file;
  int line = 0;
};
[[nodiscard]] std::string to_string(const Place& place);  // "file:line"

// Reads fields of one object: keeps the first error, so that a decoder reads
// straight on and asks once at the end.
//
//   Reader read(file, value, "Node \"a\"");
//   auto cpu = read.text(status, "cpu");
//   if (!read.ok()) return read.error();
class Reader {
 public:
  Reader(std::string_view file, std::string subject) : file_(file), subject_(std::move(subject)) {}

  // The member as an object or array; absent (no error) where missing or null.
  Value object(Value parent, std::string_view key);
  Value array(Value parent, std::string_view key);
  // The same, but missing is an error.
  Value require_object(Value parent, std::string_view key);

  std::optional<std::string_view> text(Value parent, std::string_view key);
  std::string_view require_text(Value parent, std::string_view key);
  std::optional<bool> boolean(Value parent, std::string_view key);
  // An integer within [min, max].
  std::optional<std::int64_t> integer(Value parent, std::string_view key, std::int64_t min, std::int64_t max);
  // A value itself that must be a string.
  std::string_view as_text(Value value, std::string_view what);

  // Records "file:line: subject: message" if no error is recorded yet.
  void complain(Value at, std::string message);

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] tl::unexpected<Error> error() const { return tl::unexpected<Error>(*error_); }

  void rename(std::string subject) { subject_ = std::move(subject); }

 private:
  std::string_view file_;
  std::string subject_;
  std::optional<Error> error_;
};

}  // namespace gantree::json
