#include "base/time.h"

#include <fmt/format.h>

namespace gantree {

namespace {

// The system's clock counts nanoseconds, which end in the year 2262: dates that people write do not.
std::string to_text(Time time, bool micro) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const std::string whole = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                        clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  return micro ? fmt::format("{}.{:03}000Z", whole, clock.subseconds().count()) : whole + "Z";
}

}  // namespace

std::string rfc3339(Time time) {
  return to_text(time, false);
}

std::string rfc3339_micro(Time time) {
  return to_text(time, true);
}

}  // namespace gantree
