#include "service/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "json/write.h"

namespace gantree {

namespace {

struct LevelName {
  std::string_view text;
  std::string_view json;
};

LevelName name_of(LogLevel level) {
  constexpr std::array<LevelName, 4> kNames{
      {{"DEBUG", "debug"}, {"INFO ", "info"}, {"WARN ", "warning"}, {"ERROR", "error"}}};
  return kNames[static_cast<std::size_t>(level)];
}

bool is_plain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return std::isgraph(static_cast<unsigned char>(c)) != 0 && c != '"' && c != '=';
  });
}

}  // namespace

std::string log_line(LogFormat format, LogLevel level, Time time, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line;
  if (format == LogFormat::kJson) {
    line = fmt::format("{{\"time\":\"{}\",\"level\":\"{}\",\"message\":", rfc3339_micro(time), name_of(level).json);
    json::append_string(line, message);
    for (const LogField& field : fields) {
      line += ',';
      json::append_string(line, field.name);
      line += ':';
      json::append_string(line, field.value);
    }
    return line + "}\n";
  }
  line = fmt::format("{} {} {}", rfc3339_micro(time), name_of(level).text, message);
  for (const LogField& field : fields) {
    line += fmt::format(" {}=", field.name);
    if (is_plain(field.value)) {
      line += field.value;
    } else {
      json::append_string(line, field.value);
    }
  }
  return line + "\n";
}

void Log::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < least_) {
    return;
  }
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::string line = log_line(format_, level, now, message, fields);
  const std::lock_guard lock(mutex_);
  // A log that cannot be written has nobody to complain to.
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), file_));
  static_cast<void>(std::fflush(file_));
}

}  // namespace gantree
