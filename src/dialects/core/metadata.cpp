#include "dialects/core/metadata.h"

#include <fmt/format.h>

#include <chrono>

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

Owner read_controller(json::Reader& read, json::Value metadata) {
  const json::Value owners = read.array(metadata, "ownerReferences");
  if (!owners) {
    return {};
  }
  Owner first;
  for (const json::NodeData& item : owners.items()) {
    const json::Value owner(&item);
    const std::string_view api_version = read.text(owner, "apiVersion").value_or("");
    const std::size_t slash = api_version.find('/');
    const Owner found{.group = slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash),
                      .kind = read.text(owner, "kind").value_or(""),
                      .name = read.text(owner, "name").value_or("")};
    if (read.boolean(owner, "controller").value_or(false)) {
      return found;
    }
    first = first.present() ? first : found;
  }
  return first;
}

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

std::int64_t read_created(json::Reader& read, json::Value metadata) {
  const auto text = read.text(metadata, "creationTimestamp");
  if (!text) {
    return 0;
  }
  const auto seconds = parse_time(*text);
  if (!seconds) {
    read.complain(metadata["creationTimestamp"],
                  fmt::format("creationTimestamp \"{}\" is not a time such as 2026-01-31T12:00:00Z", *text));
  }
  return seconds.value_or(0);
}

LabelMap read_labels(json::Reader& read, json::Value parent, std::string_view key) {
  LabelMap labels;
  if (const json::Value map = read.object(parent, key)) {
    for (const json::MemberData& member : map.members()) {
      labels.emplace(member.key, read.as_text(json::Value(&member.value), member.key));
    }
  }
  return labels;
}

std::optional<bool> condition(json::Reader& read, json::Value status, std::string_view type) {
  const json::Value conditions = read.array(status, "conditions");
  if (!conditions) {
    return std::nullopt;
  }
  for (const json::NodeData& item : conditions.items()) {
    const json::Value one(&item);
    if (read.text(one, "type") == type) {
      return read.text(one, "status") == "True";
    }
  }
  return std::nullopt;
}

}  // namespace gantree
