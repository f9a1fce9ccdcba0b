#include "kueue/announcer.h"

#include <fmt/format.h>

#include <utility>

#include "kueue/workload_body.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

// Of a group of pods that nothing else stands for, so many are told.
constexpr std::size_t kMostPods = 8;

Notice notice(const ObjectRef& about, const News& news) {
  return {.about = about, .warning = news.warning, .reason = news.reason, .action = news.action, .note = news.note};
}

}  // namespace

void Announcer::announce(const Entry& entry, const News& news, Time now, Step& step) {
  tell_workload(entry, news, now, step);
  if (const JobEntry* job = ledger_.job_of(entry)) {
    tell_job(*job, news, now, step);
  }
}

void Announcer::tell_workload(const Entry& entry, const News& news, Time now, Step& step) {
  outbox_.notify(step, notice(entry.object.ref, news), now);
}

void Announcer::tell_job(const JobEntry& job, const News& news, Time now, Step& step) {
  for (const ObjectRef& object : objects_of(job)) {
    outbox_.notify(step, notice(object, news), now);
  }
}

void Announcer::tell_made(Time now, Step& step) {
  for (const std::string& key : std::exchange(ledger_.made_for, {})) {
    const auto job = ledger_.jobs.find(key);
    if (job == ledger_.jobs.end()) {
      continue;
    }
    const PodGroup* group = ledger_.groups.find(job->second.group);
    const std::string name = group == nullptr ? workload_name(job->second.ref) : group->name;
    tell_job(job->second,
             {.warning = false,
              .reason = "CreatedWorkload",
              .action = "Create",
              .note = fmt::format("Created Workload: {}/{}", job->second.ref.ns, name)},
             now, step);
  }
}

void Announcer::tell_started(const Entry& entry, JobEntry& job, Time now, Step& step) {
  const Condition* admitted = entry.object.condition(kAdmitted);
  std::string start = fmt::format("{} {}", entry.object.ref.uid, admitted == nullptr ? "" : admitted->since);
  if (job.told_start == start) {
    return;
  }
  job.told_start = std::move(start);
  tell_job(job,
           {.warning = false,
            .reason = "Started",
            .action = "Start",
            .note = fmt::format("Admitted by ClusterQueue {}", entry.object.admission->cluster_queue)},
           now, step);
}

std::vector<ObjectRef> Announcer::objects_of(const JobEntry& job) const {
  const PodGroup* group = job.kind == nullptr ? ledger_.groups.find(job.group) : nullptr;
  if (job.kind != nullptr) {
    return {job.ref};
  }
  if (group == nullptr) {
    return {};
  }
  if (group->owner) {
    return {*group->owner};
  }
  std::vector<ObjectRef> pods;
  for (const auto& [key, pod] : group->pods) {
    if (pods.size() < kMostPods && pod.counts()) {
      pods.push_back(pod.ref);
    }
  }
  return pods;
}

}  // namespace gantree::kueue
