// CronJobs: a Job at each time of the schedule, by the real clock, in the zone that is named, or UTC.
#include <fmt/format.h>

#include <algorithm>

#include "controllers/cron_schedule.h"
#include "controllers/names.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

// No more moments are caught up with.
constexpr int kMostMissed = 100;

bool ended(const Object& job, std::string_view how) {
  return condition_is(job, how, "True");
}

void drop_history(const std::vector<const Item*>& jobs, const Object& root, Turn& turn) {
  for (const auto& [how, key, otherwise] :
       {std::tuple("Complete", "successfulJobsHistoryLimit", 3), std::tuple("Failed", "failedJobsHistoryLimit", 1)}) {
    std::vector<const Item*> done;
    std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(done),
                 [&](const Item* job) { return !job->deleting() && ended(job->value(), how); });
    std::sort(done.begin(), done.end(), [](const Item* a, const Item* b) { return a->created < b->created; });
    const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(whole_at(root, {"spec", key}, otherwise), 0));
    for (std::size_t i = 0; i + kept < done.size(); ++i) {
      turn.remove(*done[i], std::nullopt, "Background");
    }
  }
}

void create_job(const Item& cron_job, const Object& root, std::int64_t at, Turn& turn) {
  Object job{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  Object& metadata = object_in(job, "metadata");
  for (const std::string_view key : {"labels", "annotations"}) {
    if (const Value* part = find(root, {"spec", "jobTemplate", "metadata", key})) {
      metadata[key] = *part;
    }
  }
  // The moment in the name: no moment gets two jobs.
  metadata["name"] = fmt::format("{}-{}", cron_job.name, at / 60);
  metadata["namespace"] = cron_job.ns;
  metadata["ownerReferences"] = Array{owner_reference(cron_job)};
  set_annotation(job, kCronScheduledAt, rfc3339(Time(std::chrono::seconds(at))));
  if (const Value* spec = find(root, {"spec", "jobTemplate", "spec"})) {
    job["spec"] = *spec;
  }
  if (!turn.create(cron_job, Kind::kJob, job)) {
    return;
  }
  turn.tell(cron_job, "Normal", "SuccessfulCreate", fmt::format("Created job {}-{}", cron_job.name, at / 60));
}

// The last moment that has come and has no job yet.
std::optional<std::int64_t> due_moment(const Item& cron_job, const Object& root, const CronSchedule& schedule,
                                       const TimeZone* zone, Turn& turn) {
  const std::int64_t last = std::max(cron_job.created, time_at(root, {"status", "lastScheduleTime"}));
  std::optional<std::int64_t> due;
  auto moment = schedule.next(last, zone);
  for (int i = 0; moment && *moment <= turn.seconds() && i < kMostMissed; ++i) {
    due = moment;
    moment = schedule.next(*moment, zone);
  }
  if (moment && *moment > turn.seconds()) {
    turn.again(Time(std::chrono::seconds(*moment)));
  }
  const auto patience = number_at(root, {"spec", "startingDeadlineSeconds"});
  return due && (!patience || turn.seconds() - *due <= *patience) ? due : std::nullopt;
}

// nullptr: UTC. Nothing where the zone is not known.
std::optional<const TimeZone*> zone_of(const Object& root, Turn& turn) {
  const std::string name(text_at(root, {"spec", "timeZone"}));
  if (name.empty() || name == "UTC" || name == "Etc/UTC") {
    return nullptr;
  }
  const TimeZone* zone = turn.zones().find(name);
  return zone == nullptr ? std::nullopt : std::optional(zone);
}

void start_due_job(const Item& cron_job, const Object& root, const std::vector<const Item*>& running, Object& status,
                   Turn& turn) {
  const auto schedule = CronSchedule::parse(text_at(root, {"spec", "schedule"}));
  if (!schedule) {
    turn.tell(cron_job, "Warning", "UnparseableSchedule", schedule.error().message);
    return;
  }
  const auto zone = zone_of(root, turn);
  if (!zone) {
    turn.tell(cron_job, "Warning", "UnknownTimeZone",
              fmt::format("invalid timeZone: unknown time zone {}", text_at(root, {"spec", "timeZone"})));
    return;
  }
  if (flag_at(root, {"spec", "suspend"})) {
    return;
  }
  const auto due = due_moment(cron_job, root, *schedule, *zone, turn);
  const std::string_view policy = text_at(root, {"spec", "concurrencyPolicy"});
  if (!due || (policy == "Forbid" && !running.empty())) {
    return;
  }
  if (policy == "Replace") {
    for (const Item* job : running) {
      turn.remove(*job, std::nullopt, "Background");
    }
  }
  create_job(cron_job, root, *due, turn);
  status["lastScheduleTime"] = rfc3339(Time(std::chrono::seconds(*due)));
}

}  // namespace

void sync_cron_job(const Item& cron_job, Turn& turn) {
  if (cron_job.deleting()) {
    return;
  }
  const Object root = cron_job.value();
  const std::vector<const Item*> jobs = turn.view().controlled_by(cron_job, Kind::kJob);
  drop_history(jobs, root, turn);
  Object status;
  Array active;
  std::vector<const Item*> running;
  for (const Item* job : jobs) {
    const Object value = job->value();
    if (!ended(value, "Complete") && !ended(value, "Failed")) {
      running.push_back(job);
      active.push_back(Object{
          {"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", job->name}, {"namespace", job->ns}, {"uid", job->uid}});
    }
    if (const std::int64_t done = time_at(value, {"status", "completionTime"});
        done > time_at(root, {"status", "lastSuccessfulTime"})) {
      status["lastSuccessfulTime"] = rfc3339(Time(std::chrono::seconds(done)));
    }
  }
  start_due_job(cron_job, root, running, status, turn);
  status["active"] = active.empty() ? Value() : Value(std::move(active));
  turn.patch_status(cron_job, std::move(status));
}

}  // namespace gantree::controllers
