// What `gantree doctor` found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/write.h"
#include "view/terminal_text.h"

namespace gantree {

enum class Health : std::uint8_t { kOk, kWarning, kError };
[[nodiscard]] std::string_view to_string(Health health);  // "ok", "warning", "error"

struct Finding {
  Health health = Health::kOk;
  std::string_view check;   // "nodes"
  std::string sentence;     // what is so
  std::string advice = {};  // what to do; "" where nothing is to be done
};
using Findings = std::vector<Finding>;

// kOk where there is none.
[[nodiscard]] Health worst(const Findings& findings);

// {"health": "warning", "findings": [{"check", "health", "message", "advice"}]}
[[nodiscard]] json::Out findings_to_json(const Findings& findings);
[[nodiscard]] std::string findings_to_text(const Findings& findings, const view::TextOptions& options);

// "a, b, c and 7 others"
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);

}  // namespace gantree
