#include "base/timestamp.h"

#include <fmt/format.h>

namespace gantree {
namespace {

// Takes exactly `digits` digits from the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) {
    return std::nullopt;
  }
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

// "Z" or "+hh:mm": seconds to subtract.
std::optional<std::int64_t> take_offset(std::string_view& text) {
  if (take_char(text, "Zz")) {
    return 0;
  }
  const bool west = !text.empty() && text.front() == '-';
  if (!take_char(text, "+-")) {
    return std::nullopt;
  }
  const auto hours = take_number(text, 2);
  const bool colon = take_char(text, ":");
  const auto minutes = take_number(text, 2);
  if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) {
    return std::nullopt;
  }
  const std::int64_t seconds = std::int64_t{*hours} * 3600 + std::int64_t{*minutes} * 60;
  return west ? -seconds : seconds;
}

// "12:30:05.25": seconds of the day.
std::optional<std::int64_t> take_clock(std::string_view& text) {
  const auto hour = take_number(text, 2);
  const bool first = take_char(text, ":");
  const auto minute = take_number(text, 2);
  const bool second_colon = take_char(text, ":");
  const auto second = take_number(text, 2);
  if (!hour || !first || !minute || !second_colon || !second || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  if (take_char(text, ".")) {
    if (!take_char(text, "0123456789")) {
      return std::nullopt;
    }
    while (take_char(text, "0123456789")) {
    }
  }
  return std::int64_t{*hour} * 3600 + std::int64_t{*minute} * 60 + *second;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto year = take_number(text, 4);
  const bool first = take_char(text, "-");
  const auto month = take_number(text, 2);
  const bool second = take_char(text, "-");
  const auto day = take_number(text, 2);
  if (!year || !first || !month || !second || !day || !take_char(text, "Tt")) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  const auto clock = take_clock(text);
  const auto offset = take_offset(text);
  if (!date.ok() || !clock || !offset || !text.empty()) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86'400 + *clock - *offset;
}

std::string to_micro_time(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::microseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace gantree
