// Time zones, read from the system's files (TZif, RFC 8536): how far local time is from UTC at a moment.
//
// The standard library of our compiler has no zones yet. Where the system has no such files, only UTC is known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gantree::controllers {

// When in a year a zone's time changes.
struct ZoneChange {
  enum class Type : std::uint8_t { kJulian, kDayOfYear, kWeekday };
  Type type = Type::kWeekday;
  int month = 0;
  int week = 0;
  int day = 0;
  std::int64_t time = 7200;  // after local midnight
};

// What a zone does beyond the transitions that its file lists, as in "CET-1CEST,M3.5.0,M10.5.0/3".
class ZoneRule {
 public:
  [[nodiscard]] static std::optional<ZoneRule> parse(std::string_view text);
  // Seconds east of UTC.
  [[nodiscard]] std::int64_t offset(std::int64_t unix_seconds) const;

 private:
  [[nodiscard]] static bool read_change(std::string_view& text, ZoneChange& change);
  // In local time, as seconds since the epoch.
  [[nodiscard]] static std::int64_t moment(const ZoneChange& change, int year);

  std::int64_t standard_ = 0;
  std::int64_t summer_ = 0;
  std::optional<std::pair<ZoneChange, ZoneChange>> changes_;  // to summer time, and back
};

class TimeZone {
 public:
  [[nodiscard]] static Result<TimeZone> parse(std::string_view file);
  // Seconds east of UTC.
  [[nodiscard]] std::int64_t offset(std::int64_t unix_seconds) const;

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> transitions_;  // moment, offset from then on
  std::int64_t before_ = 0;                                         // before the first of them
  std::optional<ZoneRule> after_;                                   // after the last of them
};

// Zones by name, as "Europe/Berlin"; each is read once. One thread owns it.
class TimeZones {
 public:
  explicit TimeZones(std::string folder = "/usr/share/zoneinfo") : folder_(std::move(folder)) {}
  // nullptr where there is none of that name.
  [[nodiscard]] const TimeZone* find(const std::string& name);

 private:
  std::string folder_;
  std::map<std::string, std::unique_ptr<TimeZone>> known_;
};

}  // namespace gantree::controllers
