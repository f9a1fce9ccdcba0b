#include "kueue/job_reconciler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "dialects/kueue/names.h"
#include "dialects/kueue/waiting_job.h"
#include "dialects/objection.h"
#include "kueue/own_sets.h"

namespace gantree::kueue {

namespace {

// The reason of the condition Evicted where its user has changed what it asks for.
constexpr std::string_view kJobChanged = "JobChanged";

// So long a job that was started past its queue is left stopped, for its controller to show what it made of that. Pods
// that come later stop the job once more.
constexpr std::chrono::seconds kRest{1};

// How many pods it has, or will have, beyond those that it was given; "" where there are none.
std::string excess_of(const JobProgress& progress, const WorkloadObject& workload) {
  for (const auto& [set, wanted] : progress.wants) {
    const auto assigned = std::find_if(workload.admission->sets.begin(), workload.admission->sets.end(),
                                       [&](const SetAssignment& one) { return one.name == set; });
    const bool known = assigned != workload.admission->sets.end();
    const int given = known ? assigned->count - workload.given_back(*assigned) : 0;
    const int needed = pods_needed(progress, set, wanted);
    if (needed > given) {
      return fmt::format("The job wants {} pods of \"{}\", and has quota for {}", needed, set, given);
    }
  }
  return {};
}

}  // namespace

void JobReconciler::reconcile(const std::string& key, Time now, Step& step) {
  JobEntry& job = ledger_.jobs.at(key);
  Entry* workload = ledger_.workload_of(job.ref.uid);
  const bool to_make = workload == nullptr && job.progress.suspended;
  const Guard& guard = to_make ? job.creation : job.guard;
  if (guard.closed(to_make ? std::string(kMade) : job.resource_version, now)) {
    ledger_.look_again(key, guard, now);
    return;
  }
  if (workload == nullptr) {
    if (!job.progress.end) {
      make_workload(job, key, now, step);
    }
    return;
  }
  Entry& entry = *workload;
  ledger_.dirty.insert(entry.key());
  if (job.progress.end || entry.object.holds(kFinished) || (entry.object.deleting && job.progress.suspended)) {
    return;
  }
  const bool runs = entry.may_run();
  // What was started is stopped by us with the mark taken off: somebody else has stopped it.
  const bool started = job.ran || job.started_for == entry.object.ref.uid;
  if (runs && !job.progress.suspended && is_past_its_queue(job, entry, started)) {
    job.ran = false;
    send_back(job, key, entry, now, step);
    return;
  }
  if (runs && job.progress.suspended && started) {
    evictions_.evict(entry, {.reason = kSuspendedByUser, .message = "The job was suspended by its user"}, now, step);
  } else if (runs && job.progress.suspended) {
    start(job, key, entry, now, step);
  } else if (runs) {
    look_after(job, key, entry, now, step);
  } else if (!runs && entry.suspended() && (!job.progress.suspended || job.resumed)) {
    // Where the webhook answers, one that its user unsuspends stays suspended and says so in a mark.
    if (job.progress.suspended && !job.started_for.empty()) {
      switch_.stop(job, key, step);  // else it would count as started, and stopped by its user, when it is admitted
    }
    resume(entry, now, step);
  } else if (!runs && !job.progress.suspended) {
    send_back(job, key, entry, now, step);
  } else if (!runs && !switch_.restore(job, key, entry, step)) {
    follower_.follow(job, key, entry, now, step);
  }
  job.ran = runs && (job.ran || !job.progress.suspended);
}

// Somebody else started it in the moment in which it was admitted: as it is, its pods would go anywhere. Or we started
// it since, and its controller has made pods of the moment before all the same.
bool JobReconciler::is_past_its_queue(const JobEntry& job, const Entry& entry, bool started) const {
  const bool ours = job.started_for == entry.object.ref.uid;
  // Whoever starts one with a topology marks its pods. Without one it may have run before anybody here knew of it.
  const std::vector<SetAssignment>& sets = entry.object.admission->sets;
  const bool to_be_marked = job.was_held || std::any_of(sets.begin(), sets.end(), [](const SetAssignment& set) {
                              return set.topology.has_value();
                            });
  return (ours && ledger_.strays.any(job.ref.uid)) || (!started && to_be_marked && !carries_start(job));
}

void JobReconciler::send_back(JobEntry& job, const std::string& key, const Entry& entry, Time now, Step& step) {
  switch_.stop(job, key, step);
  // Whoever was evicted has been told, and whoever is about to be will be.
  const bool leaves = entry.object.admission && (!entry.object.active || entry.object.deleting);
  if (!entry.object.holds(kEvicted) && !leaves) {
    job.rests_until = now + kRest;
    announcer_.tell_job(job,
                        {.warning = false,
                         .reason = "Stopped",
                         .action = "Stop",
                         .note = "It was not started by its queue: it is suspended until that starts it"},
                        now, step);
  }
}

// Not with what it was given for something else.
void JobReconciler::start(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step) {
  if (now < job.rests_until) {
    ledger_.later_jobs.add(job.rests_until, key);
    return;
  }
  if (ledger_.strays.any(job.ref.uid)) {
    return;  // their events tell when they go: started before, the job would keep them
  }
  const auto own = own_sets(job, &entry, ledger_.defaults);
  if (own && asks_for(entry.object, *own)) {
    switch_.start(job, key, *own, entry, step);
    announcer_.tell_started(entry, job, now, step);
  } else if (own) {
    evictions_.evict(entry, {.reason = kJobChanged, .message = "The job asks for other pods than it was admitted with"},
                     now, step);
  }
}

// One that runs. It may become smaller, and may be given another priority; to become larger it has to queue again.
void JobReconciler::look_after(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step) {
  if (const std::string excess = excess_of(job.progress, entry.object); !excess.empty()) {
    evictions_.evict(entry, {.reason = kJobChanged, .message = excess}, now, step);
    return;
  }
  follower_.follow(job, key, entry, now, step);
}

// It is queued again. Only then is the job stopped, until it is admitted: the other way round nothing would tell any
// more that its user wants it to run.
void JobReconciler::resume(Entry& entry, Time now, Step& step) {
  if (entry.guard.closed(entry.object.resource_version, now)) {
    ledger_.look_again(entry, now);
    return;
  }
  status_.write(entry,
                {{.type = kEvicted,
                  .holds = true,
                  .reason = kResumedByUser,
                  .message = "The job was resumed by its user, and waits in its queue"}},
                {}, now, step);
}

// Somebody started it past its queue, or its Workload was deleted: then nothing that it uses is accounted for. What ran
// before anybody here knew of it, say since its queue was another's, goes on instead.
bool JobReconciler::is_to_stop(const JobEntry& job, const gantree::Workload& workload) const {
  const Time created{std::chrono::seconds(workload.created_seconds)};
  return job.waited || !job.started_for.empty() || workload.created_seconds == 0 ||
         created + std::chrono::seconds(1) > ledger_.began;
}

// No Workload could say what it asks for. The webhook refuses such jobs; this one came past it.
void JobReconciler::turn_down(JobEntry& job, std::string why, Time now, Step& step) {
  if (job.turned_down != job.resource_version) {
    job.turned_down = job.resource_version;
    announcer_.tell_job(job, {.warning = true, .reason = "Inadmissible", .action = "Queue", .note = std::move(why)},
                        now, step);
  }
}

void JobReconciler::make_workload(JobEntry& job, const std::string& key, Time now, Step& step) {
  const auto own = own_sets(job, nullptr, ledger_.defaults);
  if (own && !own->job.mark(kQueueName)) {
    ledger_.forget_job(key);  // it left its queue before it was in it
    return;
  }
  if (!own || !waits_by_itself(own->parsed.object) || own->job.over) {
    return;
  }
  if (!job.progress.suspended) {
    if (is_to_stop(job, own->job)) {
      switch_.stop(job, key, step);
    }
    return;
  }
  if (own->job.objection) {
    turn_down(job, without_place(kNoFile, *own->job.objection), now, step);
    return;
  }
  WorkloadSeed seed{.job = job.ref,
                    .queue = std::string(own->job.mark(kQueueName).text()),
                    .priority_class = {},
                    .pod_priority_class = {},
                    .priority = {},
                    .most_seconds = most_seconds(own->job)};
  if (const json::Value name = own->job.mark(kPriorityClass)) {
    seed.priority_class = name.text();
  }
  maker_.make(job, key, std::move(seed), own->asked, step);
}

}  // namespace gantree::kueue
