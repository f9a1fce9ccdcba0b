#include "base/time.h"

#include "base/timestamp.h"

namespace gantree {

std::string rfc3339(Time time) {
  constexpr std::size_t kToSeconds = 19;  // "2026-01-31T12:00:00"
  return to_micro_time(time).substr(0, kToSeconds) + "Z";
}

std::string rfc3339_micro(Time time) {
  return to_micro_time(time);
}

}  // namespace gantree
