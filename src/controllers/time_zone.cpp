#include "controllers/time_zone.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

namespace gantree::controllers {

namespace {

// No zone's file is nearly as large.
constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::size_t kHeader = 44;
constexpr std::int64_t kDay = 86'400;

std::int64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) {
    value = value << 8 | static_cast<unsigned char>(c);
  }
  // Of fewer than eight bytes the first bit is the sign as well.
  const std::size_t bits = bytes.size() * 8;
  if (bits < 64 && (value >> (bits - 1)) != 0) {
    value |= ~std::uint64_t{0} << bits;
  }
  return static_cast<std::int64_t>(value);
}

struct Header {
  char version = 0;
  std::size_t utc_flags = 0;
  std::size_t standard_flags = 0;
  std::size_t leaps = 0;
  std::size_t times = 0;
  std::size_t types = 0;
  std::size_t letters = 0;

  [[nodiscard]] std::size_t size(std::size_t width) const {
    return times * width + times + types * 6 + letters + leaps * (width + 4) + standard_flags + utc_flags;
  }
};

std::optional<Header> read_header(std::string_view file) {
  if (file.size() < kHeader || !file.starts_with("TZif")) {
    return std::nullopt;
  }
  const auto count = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<std::uint32_t>(big_endian(file.substr(20 + at * 4, 4))));
  };
  const Header header{file[4], count(0), count(1), count(2), count(3), count(4), count(5)};
  const bool sensible = std::max({header.utc_flags, header.standard_flags, header.leaps, header.times, header.types,
                                  header.letters}) < kLargestFile;
  return sensible ? std::optional(header) : std::nullopt;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 4 && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + (text[digits++] - '0');
  }
  text.remove_prefix(digits);
  return digits == 0 ? std::nullopt : std::optional(number);
}

// "2", "-1", "02:30:00" in seconds.
std::optional<std::int64_t> take_time(std::string_view& text) {
  const bool negative = take(text, '-');
  if (!negative) {
    take(text, '+');
  }
  std::int64_t seconds = 0;
  std::int64_t unit = 3600;
  do {
    const auto number = take_number(text);
    if (!number) {
      return std::nullopt;
    }
    seconds += *number * unit;
    unit /= 60;
  } while (unit > 0 && take(text, ':'));
  return negative ? -seconds : seconds;
}

// "CET", "<+03>".
bool skip_name(std::string_view& text) {
  if (take(text, '<')) {
    const std::size_t end = text.find('>');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return end != std::string_view::npos;
  }
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto end = std::find_if_not(text.begin(), text.end(), letter);
  const auto length = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(length);
  return length >= 3;
}

}  // namespace

bool ZoneRule::read_change(std::string_view& text, ZoneChange& change) {
  std::optional<int> day;
  if (take(text, 'M')) {
    const auto month = take_number(text);
    const auto week = take(text, '.') ? take_number(text) : std::nullopt;
    day = take(text, '.') ? take_number(text) : std::nullopt;
    if (!month || !week || !day || *month < 1 || *month > 12 || *week < 1 || *week > 5 || *day > 6) {
      return false;
    }
    change.month = *month;
    change.week = *week;
  } else {
    change.type = take(text, 'J') ? ZoneChange::Type::kJulian : ZoneChange::Type::kDayOfYear;
    day = take_number(text);
    if (!day || *day > 366) {
      return false;
    }
  }
  change.day = *day;
  if (take(text, '/')) {
    const auto time = take_time(text);
    change.time = time.value_or(0);
    return time.has_value();
  }
  return true;
}

std::optional<ZoneRule> ZoneRule::parse(std::string_view text) {
  ZoneRule rule;
  const auto west = skip_name(text) ? take_time(text) : std::nullopt;
  if (!west) {
    return std::nullopt;
  }
  rule.standard_ = -*west;
  if (text.empty()) {
    return rule;
  }
  if (!skip_name(text)) {
    return std::nullopt;
  }
  rule.summer_ = rule.standard_ + 3600;
  if (!text.empty() && text.front() != ',') {
    const auto summer_west = take_time(text);
    if (!summer_west) {
      return std::nullopt;
    }
    rule.summer_ = -*summer_west;
  }
  std::pair<ZoneChange, ZoneChange> changes;
  if (!take(text, ',') || !read_change(text, changes.first) || !take(text, ',') || !read_change(text, changes.second) ||
      !text.empty()) {
    return std::nullopt;
  }
  rule.changes_ = changes;
  return rule;
}

std::int64_t ZoneRule::moment(const ZoneChange& change, int of_year) {
  using namespace std::chrono;
  const year which(of_year);
  const auto seconds_of = [](sys_days day) { return static_cast<std::int64_t>(day.time_since_epoch().count()) * kDay; };
  if (change.type == ZoneChange::Type::kWeekday) {
    const weekday wanted(static_cast<unsigned>(change.day));
    const month in(static_cast<unsigned>(change.month));
    const sys_days day = change.week == 5 ? sys_days(which / in / wanted[last])
                                          : sys_days(which / in / wanted[static_cast<unsigned>(change.week)]);
    return seconds_of(day) + change.time;
  }
  // "J60" is the first of March in every year.
  const bool skips = change.type == ZoneChange::Type::kJulian && which.is_leap() && change.day >= 60;
  const int first = change.type == ZoneChange::Type::kJulian ? 1 : 0;
  return seconds_of(sys_days(which / January / 1)) + (change.day - first + (skips ? 1 : 0)) * kDay + change.time;
}

std::int64_t ZoneRule::offset(std::int64_t unix_seconds) const {
  using namespace std::chrono;
  if (!changes_) {
    return standard_;
  }
  const year_month_day date(floor<days>(sys_seconds(seconds(unix_seconds + standard_))));
  const int of_year = static_cast<int>(date.year());
  const std::int64_t begins = moment(changes_->first, of_year) - standard_;
  const std::int64_t ends = moment(changes_->second, of_year) - summer_;
  // In the south summer lasts over the turn of the year.
  const bool summer =
      begins < ends ? unix_seconds >= begins && unix_seconds < ends : unix_seconds >= begins || unix_seconds < ends;
  return summer ? summer_ : standard_;
}

Result<TimeZone> TimeZone::parse(std::string_view file) {
  auto header = read_header(file);
  if (!header) {
    return invalid("no file of a time zone");
  }
  std::size_t width = 4;
  // From the second version on everything follows once more, in numbers of eight bytes.
  if (header->version >= '2') {
    const std::size_t skipped = kHeader + header->size(4);
    file = file.substr(std::min(skipped, file.size()));
    header = read_header(file);
    width = 8;
  }
  if (!header || header->types == 0 || file.size() < kHeader + header->size(width)) {
    return invalid("the file of a time zone ends too early");
  }
  const std::string_view times = file.substr(kHeader);
  const std::string_view kinds = times.substr(header->times * width);
  const std::string_view types = kinds.substr(header->times);
  const auto offset_of = [&](std::size_t type) { return big_endian(types.substr(type * 6, 4)); };
  TimeZone zone;
  zone.before_ = offset_of(0);
  for (std::size_t i = 0; i < header->times; ++i) {
    const auto type = static_cast<std::size_t>(static_cast<unsigned char>(kinds[i]));
    if (type >= header->types) {
      return invalid("the file of a time zone names a kind of time that it does not have");
    }
    zone.transitions_.emplace_back(big_endian(times.substr(i * width, width)), offset_of(type));
  }
  if (!std::is_sorted(zone.transitions_.begin(), zone.transitions_.end())) {
    return invalid("the transitions of a time zone are in no order");
  }
  if (width == 8) {
    std::string_view footer = file.substr(kHeader + header->size(width));
    footer.remove_prefix(footer.starts_with('\n') ? 1 : 0);
    zone.after_ = ZoneRule::parse(footer.substr(0, footer.find('\n')));
  }
  return zone;
}

std::int64_t TimeZone::offset(std::int64_t unix_seconds) const {
  if (after_ && (transitions_.empty() || unix_seconds >= transitions_.back().first)) {
    return after_->offset(unix_seconds);
  }
  const auto next = std::upper_bound(transitions_.begin(), transitions_.end(), unix_seconds,
                                     [](std::int64_t moment, const auto& one) { return moment < one.first; });
  return next == transitions_.begin() ? before_ : std::prev(next)->second;
}

const TimeZone* TimeZones::find(const std::string& name) {
  if (const auto at = known_.find(name); at != known_.end()) {
    return at->second.get();
  }
  const bool good = !name.empty() && name.front() != '/' && name.size() < 100 &&
                    std::all_of(
                        name.begin(), name.end(),
                        [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                 c == '/' || c == '_' || c == '-' || c == '+';
                        });
  if (!good) {
    return nullptr;
  }
  std::ifstream stream(folder_ + "/" + name, std::ios::binary);
  std::string file(kLargestFile, '\0');
  stream.read(file.data(), static_cast<std::streamsize>(file.size()));
  file.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  auto zone = TimeZone::parse(file);
  if (!zone) {
    return nullptr;
  }
  return (known_[name] = std::make_unique<TimeZone>(std::move(*zone))).get();
}

}  // namespace gantree::controllers
