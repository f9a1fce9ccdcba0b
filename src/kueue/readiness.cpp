#include "kueue/readiness.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/timestamp.h"

namespace gantree::kueue {

namespace {

using std::chrono::milliseconds;

Time since_of(const Condition* condition) {
  const auto seconds = condition == nullptr ? std::nullopt : parse_time(condition->since);
  return seconds ? Time(std::chrono::seconds(*seconds)) : Time();
}

// Of the pods that the Workload asks for, those that are over, and those that it does without since the job was made
// smaller. What was given back once may be another's: it does not come back by itself.
std::map<std::string, int> reclaimable_of(const JobProgress& progress, const WorkloadObject& workload) {
  std::map<std::string, int> back = workload.reclaimable;
  const auto raise = [&](const std::string& set, int count) {
    if (count > 0) {
      back[set] = std::max(back[set], count);
    }
  };
  if (progress.wants.empty()) {
    std::for_each(progress.reclaimable.begin(), progress.reclaimable.end(),
                  [&](const auto& over) { raise(over.first, over.second); });
  }
  for (const auto& [set, wanted] : progress.wants) {
    const int needed = pods_needed(progress, set, wanted);
    for (const SetAssignment& assigned : workload.admission->sets) {
      // One that started with fewer pods than it asks for needs all of them, unless it needs fewer still.
      if (assigned.name == set && needed < assigned.count) {
        raise(set, workload.asked_of(set, assigned.count) - needed);
      }
    }
  }
  return back;
}

// Pods that will not come back go with the job as a whole, which ends a moment after the last of them.
constexpr std::chrono::seconds kEndsWithin{5};

}  // namespace

bool Readiness::ends_in_a_moment(Entry& entry, const std::map<std::string, int>& reclaimable, Time now) {
  const std::vector<SetAssignment>& sets = entry.object.admission->sets;
  if (!std::all_of(sets.begin(), sets.end(), [&](const SetAssignment& set) {
        const auto over = reclaimable.find(set.name);
        const int asked = entry.object.asked_of(set.name, set.count);
        return set.count == 0 || (over != reclaimable.end() && over->second >= asked);
      })) {
    entry.spent_since.reset();
    return false;
  }
  entry.spent_since = entry.spent_since.value_or(now);
  const Time end = *entry.spent_since + kEndsWithin;
  if (now < end) {
    ledger_.later.add(end, entry.key());
  }
  return now < end;
}

void Readiness::watch(Entry& entry, const JobEntry& job, Time now, Step& step) {
  const bool ready = !job.progress.suspended && job.progress.ready >= job.progress.expected;
  const Condition* before = entry.object.condition(kPodsReady);
  const bool was_ready = before != nullptr && (before->holds || before->reason == "WaitForRecovery");
  const bool recovering = was_ready && since_of(entry.object.condition(kAdmitted)) <= since_of(before);
  json::Out::Object fields;
  const std::map<std::string, int> reclaimable = reclaimable_of(job.progress, entry.object);
  // A job that is not started yet may have been admitted with fewer pods than it says.
  if (!job.progress.suspended && reclaimable != entry.object.reclaimable &&
      !ends_in_a_moment(entry, reclaimable, now)) {
    fields.emplace_back("reclaimablePods", write_reclaimable(reclaimable));
  }
  std::string_view reason = recovering ? "WaitForRecovery" : "WaitForStart";
  if (ready) {
    reason = !recovering ? "Started" : before->holds ? std::string_view(before->reason) : "Recovered";
  }
  status_.write(entry,
                {{.type = kPodsReady,
                  .holds = ready,
                  .reason = reason,
                  .message = ready ? "All pods are ready or have succeeded" : kNotAllReady}},
                std::move(fields), now, step);
  if (!ready && !entry.guard.in_flight()) {
    lose_patience(entry, recovering, now, step);
  }
}

void Readiness::watch_unowned(Entry& entry, Time now, Step& step) {
  const Condition* told = entry.object.condition(kPodsReady);
  if (told == nullptr || !told->holds) {
    const bool recovering = told != nullptr && told->reason == "WaitForRecovery";
    lose_patience(entry, recovering && since_of(entry.object.condition(kAdmitted)) <= since_of(told), now, step);
  }
}

void Readiness::lose_patience(Entry& entry, bool recovering, Time now, Step& step) {
  const Condition* before = entry.object.condition(kPodsReady);
  const milliseconds patience = rules_.patience(recovering);
  const Time since = std::max(since_of(entry.object.condition(kAdmitted)), recovering ? since_of(before) : Time());
  if (patience.count() == 0) {
    return;
  }
  if (now < since + patience) {
    ledger_.later.add(since + patience, entry.key());
    return;
  }
  give_up(entry, recovering, now, step);
}

void Readiness::give_up(Entry& entry, bool recovering, Time now, Step& step) {
  const milliseconds patience = rules_.patience(recovering);
  const std::string what = fmt::format("Exceeded the PodsReady timeout {}s", patience.count() / 1000);
  if (rules_.limit >= 0 && entry.object.requeues >= rules_.limit) {
    evictions_.evict(entry,
                     {.reason = kGivenUp,
                      .message = fmt::format("{}, and was queued again {} times already", what, entry.object.requeues)},
                     now, step);
  } else {
    const milliseconds pause =
        std::min(rules_.longest_backoff, rules_.backoff * (std::int64_t{1} << std::min(entry.object.requeues, 20)));
    evictions_.evict(entry, {.reason = kPausesForPods, .message = what, .requeue_at = now + pause}, now, step);
  }
  evictions_.write(entry, now, step);
}

}  // namespace gantree::kueue
