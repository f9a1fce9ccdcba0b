#include "dialects/not_live.h"

#include <fmt/format.h>

#include <string_view>

#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "dialects/workloads/workload.h"

namespace gantree {

namespace {

constexpr std::string_view kNotLive =
    "of KAI-Scheduler, whose gangs and queues Gantree honours in plans only: it is not bound, since its gang might run "
    "in part, or outside of its topology";

}  // namespace

std::string not_honoured_live(json::Value metadata, json::Value spec) {
  if (const json::Value scheduler = text_at(spec, "schedulerName"); scheduler && scheduler.text() == kai::kScheduler) {
    return fmt::format("has the schedulerName {} {}", scheduler.text(), kNotLive);
  }
  for (const std::string_view map : {"labels", "annotations"}) {
    const json::Value marks = map_at(metadata, map);
    if (!marks) {
      continue;
    }
    for (const json::MemberData& mark : marks.members()) {
      const std::string_view key = mark.key;
      if (key.starts_with(kai::kPrefix) || key == kai::kOldQueue) {
        return fmt::format("carries {}, a mark {}", key, kNotLive);
      }
    }
  }
  return "";
}

}  // namespace gantree
