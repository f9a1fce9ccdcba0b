#include "kueue/job_reconciler.h"

#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

// Whether the job is one of ours: it names a queue and stands by itself.
bool is_ours(const Workload& job) {
  return job.mark(kQueueName).present() && !job.owner.present();
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
      make_workload(job, key, step);
    }
    return;
  }
  Entry& entry = *workload;
  ledger_.dirty.insert(entry.key());
  if (job.progress.end || entry.object.holds(kFinished)) {
    return;
  }
  const bool runs = entry.may_run();
  // What was started is stopped by us with the mark taken off: somebody else has stopped it.
  const bool started = job.ran || job.started_for == entry.object.ref.uid;
  if (runs && job.progress.suspended && started) {
    evictions_.evict(entry, {.reason = kSuspendedByUser, .message = "The job was suspended by its user"}, now, step);
  } else if (runs && job.progress.suspended) {
    switch_.start(job, key, entry, step);
  } else if (!runs && !job.progress.suspended && entry.suspended()) {
    resume(entry, now, step);
  } else if (!runs && !job.progress.suspended) {
    switch_.stop(job, key, step);
  } else if (!runs) {
    follower_.follow(job, key, entry, now, step);
  }
  job.ran = runs && (job.ran || !job.progress.suspended);
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

void JobReconciler::make_workload(JobEntry& job, const std::string& key, Step& step) {
  auto parsed = parse(job.text);
  if (!parsed) {
    return;
  }
  const auto workload = gantree::read_workload({.object = parsed->object, .ns = job.ref.ns, .name = job.ref.name});
  if (!workload || !is_ours(*workload) || workload->over) {
    return;
  }
  if (!job.progress.suspended) {
    // Somebody started it, or deleted its Workload: nothing that it uses is accounted for.
    switch_.stop(job, key, step);
    return;
  }
  json::Reader read(kNoFile, parsed->object.value, key);
  const std::vector<SetSpec> sets = job.kind->sets(read, *workload);
  WorkloadSeed seed{.job = job.ref,
                    .queue = std::string(workload->mark(kQueueName).text()),
                    .priority_class = {},
                    .pod_priority_class = {},
                    .priority = {},
                    .most_seconds = {}};
  if (const json::Value name = workload->mark(kPriorityClass)) {
    seed.priority_class = name.text();
  }
  if (read.ok()) {
    maker_.make(job, key, std::move(seed), sets, step);
  }
}

}  // namespace gantree::kueue
