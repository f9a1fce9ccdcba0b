#include "dialects/not_live.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "dialects/mutation.h"
#include "dialects/workloads/workload.h"

namespace gantree {

namespace {

constexpr std::string_view kNotLive =
    "of KAI-Scheduler, whose gangs and queues Gantree honours in plans only unless kai-scheduler is one of its "
    "--scheduler-names: it is not bound, since its gang might run in part, or outside of its topology";

// The first label or annotation of that family; "" where there is none.
std::string_view mark_of_kai(json::Value metadata) {
  for (const std::string_view map : {"labels", "annotations"}) {
    const json::Value marks = map_at(metadata, map);
    for (const json::MemberData& mark : marks ? marks.members() : std::span<const json::MemberData>()) {
      const std::string_view key = mark.key;
      if (key.starts_with(kai::kPrefix) || key == kai::kOldQueue) {
        return key;
      }
    }
  }
  return "";
}

}  // namespace

std::string_view mark_of_kai(json::Value metadata, json::Value spec) {
  const json::Value scheduler = text_at(spec, "schedulerName");
  return scheduler && scheduler.text() == kai::kScheduler ? scheduler.text() : mark_of_kai(metadata);
}

std::string not_honoured_live(json::Value metadata, json::Value spec) {
  if (const json::Value scheduler = text_at(spec, "schedulerName"); scheduler && scheduler.text() == kai::kScheduler) {
    return fmt::format("has the schedulerName {} {}", scheduler.text(), kNotLive);
  }
  const std::string_view mark = mark_of_kai(metadata);
  return mark.empty() ? "" : fmt::format("carries {}, a mark {}", mark, kNotLive);
}

std::string warning_of_marks(const NamedObject& named, bool serves_kai) {
  const auto workload = read_workload(named);
  if (!workload) {
    return "";
  }
  std::string_view mark = mark_of_kai(named.object.metadata());
  bool ours = false;
  for (const PodTemplate& part : workload->templates) {
    mark = mark.empty() ? mark_of_kai(part.metadata) : mark;
    const json::Value scheduler = text_at(part.spec, "schedulerName");
    const std::string_view name = scheduler ? scheduler.text() : std::string_view();
    mark = mark.empty() && name == kai::kScheduler ? name : mark;
    ours = ours || name == kai::kOurScheduler;
  }
  if (!mark.empty() && !serves_kai) {
    return fmt::format(
        "{} is KAI-Scheduler's, whose gangs and queues Gantree honours where {} is one of its --scheduler-names, and "
        "in "
        "plans only where it is not",
        mark, kai::kScheduler);
  }
  for (const std::string_view exclusive : {lws::kExclusive, lws::kSubGroupExclusive, lws::kJobSetExclusive}) {
    if (ours && text_at(workload->annotations, exclusive)) {
      return fmt::format("Gantree honours {} in plans only: on this cluster it binds no pod of this {}", exclusive,
                         named.object.kind);
    }
  }
  return "";
}

std::string nobody_starts(std::string_view kind, std::string_view family) {
  if (family == kai::kFamily) {
    return fmt::format(
        "nothing here starts it: it is in none of Kueue's queues, and Gantree honours gangs of KAI-Scheduler in "
        "plans only, unless {} is one of its --scheduler-names",
        kai::kScheduler);
  }
  const auto mutators = all_mutators();
  const bool queued =
      family != kueue::kFamily ||
      std::any_of(mutators.begin(), mutators.end(), [&](const Mutator& one) { return one.kind.kind == kind; });
  return queued ? "" : fmt::format("nothing here starts it: Gantree takes no {} out of a queue", kind);
}

}  // namespace gantree
