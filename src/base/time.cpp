#include "base/time.h"

#include <fmt/format.h>

namespace gantree {

namespace {

std::string seconds_of(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

}  // namespace

std::string rfc3339(Time time) {
  return seconds_of(time) + "Z";
}

std::string rfc3339_micro(Time time) {
  const auto rest = time - std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{}.{:06}Z", seconds_of(time), std::chrono::microseconds(rest).count());
}

}  // namespace gantree
