#include "controllers/cron_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace gantree::controllers {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

// Five years, in seconds.
constexpr std::int64_t kSearched = std::int64_t{5} * 366 * 86'400;

struct Field {
  int first;
  int last;
  const std::string_view* names;  // of first and the following; nullptr: numbers only
  std::size_t named;
};

std::optional<int> number(std::string_view text, const Field& field) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (std::size_t i = 0; i < field.named; ++i) {
    if (field.names[i] == lower) {
      return field.first + static_cast<int>(i);
    }
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                   : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

// "*", "5", "1-5", "*/15", "10-50/20", and lists of these.
template <std::size_t N>
bool read_field(std::string_view text, const Field& field, std::bitset<N>& out) {
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> step = split(part, '/');
    const std::vector<std::string_view> range = split(step[0], '-');
    const bool any = step[0] == "*" || step[0] == "?";
    const auto first = any ? std::optional(field.first) : number(range[0], field);
    auto last = any ? std::optional(field.last) : number(range.back(), field);
    const auto every = step.size() == 2 ? number(step[1], Field{0, 0, nullptr, 0}) : std::optional(1);
    if (step.size() == 2 && range.size() == 1 && !any) {
      last = field.last;
    }
    if (step.size() > 2 || range.size() > 2 || !first || !last || !every || *every < 1 || *first < field.first ||
        *last > field.last || *first > *last) {
      return false;
    }
    for (int i = *first; i <= *last; i += *every) {
      out.set(static_cast<std::size_t>(i) % N);
    }
  }
  return out.any();
}

std::string_view long_form(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
      {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"}};
  for (const auto& [name, meaning] : kShort) {
    if (name == text) {
      return meaning;
    }
  }
  return text;
}

}  // namespace

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  std::vector<std::string_view> fields;
  for (const std::string_view part : split(long_form(text), ' ')) {
    if (!part.empty()) {
      fields.push_back(part);
    }
  }
  CronSchedule schedule;
  std::bitset<8> weekdays;  // 7 is Sunday too
  const bool good = fields.size() == 5 && read_field(fields[0], {0, 59, nullptr, 0}, schedule.minutes_) &&
                    read_field(fields[1], {0, 23, nullptr, 0}, schedule.hours_) &&
                    read_field(fields[2], {1, 31, nullptr, 0}, schedule.days_) &&
                    read_field(fields[3], {1, 12, kMonths.data(), kMonths.size()}, schedule.months_) &&
                    read_field(fields[4], {0, 7, kWeekdays.data(), kWeekdays.size()}, weekdays);
  if (!good) {
    return invalid(fmt::format("\"{}\" is no cron schedule", text));
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (weekdays.test(i)) {
      schedule.weekdays_.set(i % 7);
    }
  }
  schedule.any_day_ = fields[2].starts_with('*') || fields[2] == "?";
  schedule.any_weekday_ = fields[4].starts_with('*') || fields[4] == "?";
  return schedule;
}

bool CronSchedule::on_day(std::chrono::sys_days day) const {
  const std::chrono::year_month_day date(day);
  const bool on_day = days_.test(static_cast<unsigned>(date.day()));
  const bool on_weekday = weekdays_.test(std::chrono::weekday(day).c_encoding());
  return months_.test(static_cast<unsigned>(date.month())) &&
         (any_day_ || any_weekday_ ? on_day && on_weekday : on_day || on_weekday);
}

std::optional<std::int64_t> CronSchedule::next(std::int64_t after, const TimeZone* zone) const {
  using namespace std::chrono;
  const std::int64_t start = floor<minutes>(sys_seconds(seconds(after))).time_since_epoch().count() * 60 + 60;
  // Step by step through real time, with the local clock in view: an hour that is skipped in spring has no moments, one
  // that comes twice in autumn has them twice.
  for (std::int64_t moment = start; moment < start + kSearched;) {
    const sys_seconds local(seconds(moment + (zone == nullptr ? 0 : zone->offset(moment))));
    const auto day = floor<days>(local);
    const auto minute = static_cast<std::size_t>(duration_cast<minutes>(local - day).count());
    if (!on_day(day) || !hours_.test(minute / 60)) {
      moment += static_cast<std::int64_t>(60 - minute % 60) * 60;
    } else if (!minutes_.test(minute % 60)) {
      moment += 60;
    } else {
      return moment;
    }
  }
  return std::nullopt;
}

}  // namespace gantree::controllers
