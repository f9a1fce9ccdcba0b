// Typed reading of values, with errors that name the place.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/quantity.h"
#include "json/value.h"

namespace gantree::json {

// Where an object came from, for messages.
struct Place {
  std::string_view file;
  int line = 0;
};
[[nodiscard]] std::string to_string(const Place& place);  // "file:line"

// Reads fields of one API object: keeps the first error, so that a decoder
// reads straight on and asks once at the end.
//
//   Reader read(file, root, "Node \"a\"");
//   const Value status = read.object(root, "status");
//   auto phase = read.text(status, "phase");
//   if (!read.ok()) return read.error();
//
// A message names the field by its path from the root where the reader was
// given one: `nodes.yaml:12: Node "a": status.phase must be a string, not a
// list`. null is the same as missing. A parent that is absent has no fields;
// one that is no object is an error.
class Reader {
 public:
  Reader(std::string_view file, std::string subject) : file_(file), subject_(std::move(subject)) {}
  Reader(std::string_view file, Value root, std::string subject)
      : file_(file), root_(root), subject_(std::move(subject)) {}

  // The member of any kind; absent (no error) where missing or null.
  Value any(Value parent, std::string_view key);
  // The member as an object or array; absent (no error) where missing or null.
  Value object(Value parent, std::string_view key);
  Value array(Value parent, std::string_view key);
  // An object whose values are all strings (labels, nodeSelector). Absent after
  // an error, so that whoever goes on may call text() on each value.
  Value texts(Value parent, std::string_view key);
  // The same, but missing is an error.
  Value require_object(Value parent, std::string_view key);
  Value require_array(Value parent, std::string_view key);

  std::optional<std::string_view> text(Value parent, std::string_view key);
  std::string_view require_text(Value parent, std::string_view key);  // neither missing nor empty
  std::optional<bool> boolean(Value parent, std::string_view key);
  // An integer within [min, max]. As in Kubernetes 1e3 and 8.0 are integers too.
  std::optional<std::int64_t> integer(Value parent, std::string_view key, std::int64_t min, std::int64_t max);
  // A quantity of at least min, written as a string or as a number.
  std::optional<std::int64_t> quantity(Value parent, std::string_view key, Unit unit, Round round,
                                       std::int64_t min = std::numeric_limits<std::int64_t>::min());

  // A value itself that must be of that kind; `what` names it where the path is
  // not known. After an error: "", nothing, or absent.
  std::string_view as_text(Value value, std::string_view what);
  std::optional<std::int64_t> as_integer(Value value, std::string_view what, std::int64_t min, std::int64_t max);
  std::optional<std::int64_t> as_quantity(Value value, std::string_view what, Unit unit, Round round,
                                          std::int64_t min = std::numeric_limits<std::int64_t>::min());
  Value as_object(Value value, std::string_view what);

  // Records "file:line: subject: message" if no error is recorded yet.
  void complain(Value at, std::string_view message);
  // "spec.containers[0].name": the way from the root, empty where not known.
  [[nodiscard]] std::string path(Value value) const;

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  // Requires !ok().
  [[nodiscard]] tl::unexpected<Error> error() const { return tl::unexpected<Error>(*error_); }

  void rename(std::string subject) { subject_ = std::move(subject); }

 private:
  [[nodiscard]] std::string name(Value value, std::string_view what) const;
  Value member(Value parent, std::string_view key, Kind kind);
  Value require(Value parent, std::string_view key, Value found);
  bool expect(Value value, std::string_view what, Kind kind);
  void missing(Value parent, std::string_view key);

  std::string_view file_;
  Value root_;
  std::string subject_;
  std::optional<Error> error_;
};

}  // namespace gantree::json
