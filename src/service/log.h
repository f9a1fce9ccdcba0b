// The log of a long-running process: one line an entry, as text or as JSON.
//
// Thread safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>

#include "base/time.h"

namespace gantree {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

struct LogField {
  std::string_view name;
  std::string value;
};

// 2026-01-31T12:00:00.123456Z INFO  leading                 lease=gantree-system/gantree
// {"time":"...","level":"info","message":"leading","lease":"gantree-system/gantree"}
[[nodiscard]] std::string log_line(LogFormat format, LogLevel level, Time time, std::string_view message,
                                   std::initializer_list<LogField> fields);

class Log {
 public:
  // The file must outlive the log.
  Log(std::FILE* file, LogLevel least, LogFormat format) : file_(file), least_(least), format_(format) {}

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kDebug, message, fields);
  }
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kInfo, message, fields);
  }
  void warning(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kWarning, message, fields);
  }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kError, message, fields);
  }

 private:
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields);

  std::FILE* file_;
  LogLevel least_;
  LogFormat format_;
  std::mutex mutex_;
};

}  // namespace gantree
