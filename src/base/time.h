// Wall-clock time as values: passed in, never asked for here.
#pragma once

#include <chrono>
#include <string>

namespace gantree {

using Time = std::chrono::sys_time<std::chrono::milliseconds>;

// "2026-01-31T12:00:00Z", as metav1.Time; and with microseconds, as metav1.MicroTime.
[[nodiscard]] std::string rfc3339(Time time);
[[nodiscard]] std::string rfc3339_micro(Time time);

}  // namespace gantree
