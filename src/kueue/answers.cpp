#include "kueue/answers.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "live/notices.h"

namespace gantree::kueue {

namespace {

constexpr std::chrono::seconds kAsksAgainAfter{1};

// It was not done, and is known not to come.
bool is_lost(Answer answer) {
  return answer == Answer::kRefused || answer == Answer::kWithdrawn;
}

}  // namespace

bool Answers::answered(std::uint64_t id, Answer answer, std::string_view why, Time now) {
  const std::optional<OrderTarget> open = outbox_.close(id);
  if (!open) {
    return false;
  }
  if (Entry* entry = ledger_.workload(open->workload)) {
    workload_answered(*entry, *open, answer, why, now);
  }
  if (const auto job = ledger_.jobs.find(open->job); job != ledger_.jobs.end()) {
    job_answered(job->second, *open, answer, why, now);
  }
  reporter_.answered(open->queue, answer, now);
  release_.answered(open->leaving, answer, now);
  member_answered(open->member, answer, now);
  pod_answered(open->pod, answer, now);
  return true;
}

void Answers::workload_answered(Entry& entry, const OrderTarget& open, Answer answer, std::string_view why, Time now) {
  entry.guard.answered(answer, now);
  const JobEntry* job = ledger_.job_of(entry);
  complain(entry.guard, answer, job == nullptr || job->kind == nullptr ? entry.object.ref : job->ref,
           fmt::format("Workload \"{}\" cannot be written: {}", entry.key(), why));
  if (open.admission && entry.assumed && !is_lost(answer)) {
    entry.may_be_done = true;
  }
  // What may have been done once is not undone by a later refusal.
  if (open.admission && entry.assumed && !entry.may_be_done) {
    entry.assumed.reset();
    ledger_.unbooked.insert(open.workload);
    ledger_.room_changed = true;
    ledger_.queues_changed = true;
  }
  // Its event may have come before this answer, and was not acted on.
  const bool unseen = entry.guard.closed(entry.object.resource_version, now);
  ledger_.later.add(unseen ? entry.guard.opens() : now, open.workload);
  // What was not done may have been the job's wish: its owners, or what its user has changed.
  const auto owner = ledger_.jobs_by_uid.find(entry.object.owner_uid);
  if (owner != ledger_.jobs_by_uid.end() && answer != Answer::kDone) {
    ledger_.jobs.at(owner->second).follows = 0;  // nothing was kept, or left out, of what was not done
    ledger_.later_jobs.add(entry.guard.opens(), owner->second);
  }
  if (entry.waits() && (answer != Answer::kDone || entry.missed)) {
    ledger_.waiting_changed.insert(open.workload);  // it was left out as long as this was on its way
    if (owner != ledger_.jobs_by_uid.end()) {
      ledger_.dirty_jobs.insert(owner->second);  // and so was what its user has changed, which comes first
    }
  }
}

void Answers::job_answered(JobEntry& job, const OrderTarget& open, Answer answer, std::string_view why, Time now) {
  if (open.creation && answer == Answer::kDone) {
    ledger_.made_for.push_back(open.job);
  }
  Guard& guard = open.creation ? job.creation : job.guard;
  guard.answered(answer, now);
  const std::string_view what = open.creation ? "its Workload cannot be made" : "it cannot be started or stopped";
  complain(guard, answer, job.ref, fmt::format("{}: {}", what, why));
  const bool unseen = open.creation || guard.closed(job.resource_version, now);
  ledger_.later_jobs.add(unseen ? guard.opens() : now, open.job);
}

void Answers::member_answered(const std::string& pod, Answer answer, Time now) {
  PodGroup* group = ledger_.groups.group_of_pod(pod);
  if (group == nullptr || answer == Answer::kDone) {
    return;
  }
  group->pods.at(pod).asked = false;
  ledger_.later.add(now + kAsksAgainAfter, group->key());
  ledger_.later_jobs.add(now + kAsksAgainAfter, group_job(group->key()));
}

void Answers::pod_answered(const std::string& pod, Answer answer, Time now) {
  const auto found = ledger_.pods.find(pod);
  if (found == ledger_.pods.end()) {
    return;
  }
  // Where it may have been done, the slot stays taken until the pod's own event tells; asking again does no harm.
  if (is_lost(answer)) {
    found->second.slot.reset();
  }
  if (answer != Answer::kDone) {
    found->second.asked = false;
    ledger_.no_longer_releasing(found->second.workload, pod);
    ledger_.later.add(now + kAsksAgainAfter, found->second.workload);
  }
}

void Answers::complain(const Guard& guard, Answer answer, const ObjectRef& about, std::string sentence) {
  constexpr int kSurely = 2;
  // Somebody else was faster: it is looked at anew, and concerns nobody.
  const bool lost_race = sentence.find("/metadata/resourceVersion") != std::string::npos;
  if (answer == Answer::kRefused && guard.refusals() == kSurely && !lost_race) {
    ledger_.complaints.push_back({.about = about, .sentence = std::move(sentence)});
  }
}

void Answers::tell_complaints(Time now, Step& step) {
  constexpr std::size_t kLongestNote = 1000;  // what the API allows of an event, nearly
  for (const Complaint& complaint : std::exchange(ledger_.complaints, {})) {
    const ObjectRef& about = complaint.about;
    step.remarks.push_back(fmt::format("{} \"{}/{}\": {}", about.kind, about.ns, about.name, complaint.sentence));
    const std::string note = complaint.sentence.substr(0, kLongestNote);
    outbox_.notify(step, {.about = about, .warning = true, .reason = complaint.reason, .action = "Write", .note = note},
                   now);
  }
}

}  // namespace gantree::kueue
