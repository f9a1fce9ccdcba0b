// Durations as Go writes them, and so Kubernetes: "90s", "1h30m", "1.5h", "250ms", "0".
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace gantree {

// Nothing where the text is no duration, or too long for 64 bits of nanoseconds.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace gantree
