// Building output: one tree of values, written as JSON or as YAML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gantree::json {

// A value to write. Objects keep the order in which members were added.
class Out {
 public:
  using Array = std::vector<Out>;
  using Object = std::vector<std::pair<std::string, Out>>;

  Out() = default;  // null
  Out(bool value) : value_(value) {}                        // NOLINT: conversions are the point
  Out(std::int64_t value) : value_(value) {}                // NOLINT
  Out(int value) : value_(std::int64_t{value}) {}           // NOLINT
  Out(std::string value) : value_(std::move(value)) {}      // NOLINT
  Out(std::string_view value) : value_(std::string(value)) {}  // NOLINT
  Out(const char* value) : value_(std::string(value)) {}    // NOLINT
  Out(Array value) : value_(std::move(value)) {}            // NOLINT
  Out(Object value) : value_(std::move(value)) {}           // NOLINT

  [[nodiscard]] static Out object() { return Out(Object{}); }
  [[nodiscard]] static Out array() { return Out(Array{}); }
  Out& add(std::string_view key, Out value);  // requires an object; returns *this
  Out& push(Out value);                       // requires an array; returns *this

  [[nodiscard]] std::string to_json(bool pretty) const;  // no trailing newline
  [[nodiscard]] std::string to_yaml() const;             // ends with a newline

 private:
  std::variant<std::monostate, bool, std::int64_t, std::string, Array, Object> value_;
  friend struct Writer;
};

}  // namespace gantree::json
