// Building output: one tree of values, written as JSON or as YAML.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace gantree::json {

// Appends text as a JSON string, in quotes.
void append_string(std::string& out, std::string_view text);

// A value to write. Objects keep the order in which members were added; keys
// are the caller's to keep unique. Text that is not UTF-8 is written with
// replacement characters, so what is written can always be read.
class Out {
 public:
  using Array = std::vector<Out>;
  using Object = std::vector<std::pair<std::string, Out>>;
  using Content = std::variant<std::monostate, bool, std::int64_t, std::string, Array, Object>;

  Out() = default;                 // null
  template <std::same_as<bool> T>  // no pointer becomes a boolean
  Out(T value) : value_(value) {}  // NOLINT: conversions are the point
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Out(T value) : value_(static_cast<std::int64_t>(value)) {  // NOLINT
    GANTREE_CHECK(std::in_range<std::int64_t>(value));
  }
  Out(std::string value) : value_(std::move(value)) {}         // NOLINT
  Out(std::string_view value) : value_(std::string(value)) {}  // NOLINT
  Out(const char* value) : value_(std::string(value)) {}       // NOLINT
  Out(Array value) : value_(std::move(value)) {}               // NOLINT
  Out(Object value) : value_(std::move(value)) {}              // NOLINT

  [[nodiscard]] static Out object() { return Out(Object{}); }
  [[nodiscard]] static Out array() { return Out(Array{}); }
  Out& add(std::string_view key, Out value);  // requires an object; returns *this
  Out& push(Out value);                       // requires an array; returns *this

  [[nodiscard]] std::string to_json(bool pretty) const;  // no trailing newline
  // Block style with the habits of kubectl: lists are not indented under their
  // key, text of several lines is a literal block. Ends with a newline.
  [[nodiscard]] std::string to_yaml() const;

  [[nodiscard]] const Content& content() const { return value_; }

 private:
  Content value_;
};

}  // namespace gantree::json
