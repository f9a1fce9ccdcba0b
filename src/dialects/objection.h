// What is wrong with a request inside otherwise good input: it rejects one gang,
// not the file.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/decode.h"

namespace gantree {

// Keeps the first objection, as "file:line: message".
class Objection {
 public:
  explicit Objection(std::string_view file) : file_(file) {}
  Objection(std::string_view file, std::optional<std::string> first) : file_(file), first_(std::move(first)) {}

  void raise(json::Value at, std::string_view message) {
    if (!first_) {
      first_ = fmt::format("{}: {}", json::to_string({file_, at.line()}), message);
    }
  }
  [[nodiscard]] const std::optional<std::string>& first() const { return first_; }

 private:
  std::string_view file_;
  std::optional<std::string> first_;
};

// A message without the "file:line: " in front: an object on its way into the API has neither.
[[nodiscard]] inline std::string without_place(std::string_view file, std::string message) {
  const std::string prefix = fmt::format("{}:", file);
  const std::size_t end = message.starts_with(prefix) ? message.find(": ", prefix.size()) : std::string::npos;
  return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace gantree
