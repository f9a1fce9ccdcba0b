// Cron schedules: five fields (minute, hour, day of month, month, day of week) or @hourly and the like.
#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "controllers/time_zone.h"

namespace gantree::controllers {

class CronSchedule {
 public:
  [[nodiscard]] static Result<CronSchedule> parse(std::string_view text);
  // The first moment after that one, in Unix seconds; nothing where there is none within five years. By the clock of
  // the zone; nullptr: UTC.
  [[nodiscard]] std::optional<std::int64_t> next(std::int64_t after, const TimeZone* zone = nullptr) const;

 private:
  [[nodiscard]] bool on_day(std::chrono::sys_days day) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool any_day_ = true;  // the day of the month is "*": then only the day of the week counts, and the other way round
  bool any_weekday_ = true;
};

}  // namespace gantree::controllers
