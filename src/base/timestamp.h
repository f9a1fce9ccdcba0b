// Instants as Kubernetes writes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gantree {

using WallTime = std::chrono::system_clock::time_point;

// "2026-01-31T12:00:00Z" (RFC 3339, any offset, fractions dropped) as Unix seconds.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);

// "2026-01-31T12:00:00.000000Z", as in leases and events.
[[nodiscard]] std::string to_micro_time(WallTime time);

}  // namespace gantree
