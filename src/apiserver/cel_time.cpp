// Durations and instants.
#include <array>
#include <chrono>
#include <string>

#include "apiserver/cel_functions.h"
#include "apiserver/cel_special.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

Result<Value> duration(CelArguments arguments, CelCost&) {
  const auto count = count_of(*arguments[0], Special::kDuration);
  return count ? Result<Value>(special(Special::kDuration, *count)) : Result<Value>(invalid("invalid duration"));
}

Result<Value> timestamp(CelArguments arguments, CelCost&) {
  const Value& value = *arguments[0];
  const auto seconds = value.is_int64() ? std::optional(value.get_int64()) : count_of(value, Special::kTimestamp);
  return seconds ? Result<Value>(special(Special::kTimestamp, *seconds)) : Result<Value>(invalid("invalid timestamp"));
}

// The day and the time of day of an instant, in UTC.
struct Moment {
  std::chrono::sys_days day;
  std::chrono::seconds since;
};

std::optional<Moment> moment_of(const Value& value) {
  constexpr std::int64_t kFarthest = 253'402'300'800;  // the year 10000
  const auto seconds = count_of(value, Special::kTimestamp);
  if (!seconds || *seconds > kFarthest || *seconds < -kFarthest) {
    return std::nullopt;
  }
  const std::chrono::sys_seconds time{std::chrono::seconds(*seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return Moment{day, time - day};
}

template <class Count>
Result<Value> of_day(CelArguments arguments, Count count) {
  const auto moment = moment_of(*arguments[0]);
  return moment ? Result<Value>(Value(static_cast<std::int64_t>(count(moment->day)))) : Result<Value>(no_overload());
}

Result<Value> year(CelArguments arguments, CelCost&) {
  return of_day(arguments, [](auto day) { return int(std::chrono::year_month_day(day).year()); });
}
Result<Value> month(CelArguments arguments, CelCost&) {
  return of_day(arguments, [](auto day) { return unsigned(std::chrono::year_month_day(day).month()) - 1; });
}
Result<Value> date(CelArguments arguments, CelCost&) {
  return of_day(arguments, [](auto day) { return unsigned(std::chrono::year_month_day(day).day()); });
}
Result<Value> day_of_month(CelArguments arguments, CelCost&) {
  return of_day(arguments, [](auto day) { return unsigned(std::chrono::year_month_day(day).day()) - 1; });
}
Result<Value> day_of_week(CelArguments arguments, CelCost&) {
  return of_day(arguments, [](auto day) { return std::chrono::weekday(day).c_encoding(); });
}
Result<Value> day_of_year(CelArguments arguments, CelCost&) {
  return of_day(arguments, [](auto day) {
    const auto year = std::chrono::year_month_day(day).year();
    return (day - std::chrono::sys_days(year / std::chrono::January / 1)).count();
  });
}

// Of an instant the hour of its day, and so on; of a duration how many whole ones it has.
template <class UnitOfTime>
Result<Value> units(CelArguments arguments, std::int64_t in_next) {
  if (const auto moment = moment_of(*arguments[0])) {
    return Value(static_cast<std::int64_t>(duration_cast<UnitOfTime>(moment->since).count()) % in_next);
  }
  if (const auto count = count_of(*arguments[0], Special::kDuration)) {
    return Value(static_cast<std::int64_t>(duration_cast<UnitOfTime>(nanoseconds(*count)).count()));
  }
  return no_overload();
}

Result<Value> hours(CelArguments arguments, CelCost&) {
  return units<std::chrono::hours>(arguments, 24);
}
Result<Value> minutes(CelArguments arguments, CelCost&) {
  return units<std::chrono::minutes>(arguments, 60);
}
Result<Value> seconds(CelArguments arguments, CelCost&) {
  return units<std::chrono::seconds>(arguments, 60);
}
Result<Value> milliseconds(CelArguments arguments, CelCost&) {
  return units<std::chrono::milliseconds>(arguments, 1000);
}

constexpr auto kTimeFunctions = std::to_array<CelFunction>({
    {"duration", 1, duration},
    {"timestamp", 1, timestamp},
    {"getFullYear", 1, year},
    {"getMonth", 1, month},
    {"getDate", 1, date},
    {"getDayOfMonth", 1, day_of_month},
    {"getDayOfWeek", 1, day_of_week},
    {"getDayOfYear", 1, day_of_year},
    {"getHours", 1, hours},
    {"getMinutes", 1, minutes},
    {"getSeconds", 1, seconds},
    {"getMilliseconds", 1, milliseconds},
});

}  // namespace

std::span<const CelFunction> cel_time_functions() {
  return kTimeFunctions;
}

}  // namespace gantree::apiserver
