#include "kueue/submissions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/timestamp.h"
#include "dialects/core/metadata.h"
#include "dialects/gangs.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pod_rules.h"
#include "dialects/kueue/submit.h"
#include "json/copy.h"

namespace gantree::kueue {

namespace {

// The class of priority that its job names, where there is none of that name and it had no other word for it: the
// Workload of a job whose class was there once has its value. "" otherwise.
std::string_view missing_class(const Entry& entry, const Ledger& ledger) {
  const JobEntry* job = ledger.job_of(entry);
  if (job == nullptr || job->priority_class.empty() || entry.admission() ||
      ledger.setup.priority_classes.contains(job->priority_class)) {
    return {};
  }
  const json::Value known = map_at(map_at(entry.object.document.root(), "spec"), "priorityClassRef");
  const json::Value name = known ? text_at(known, "name") : json::Value();
  const json::Value group = known ? text_at(known, "group") : json::Value();
  const bool same = name && group && group.text() == kGroup && name.text() == job->priority_class;
  return same ? std::string_view() : std::string_view(job->priority_class);
}

// Why the API server would refuse its pods; "" where it would not.
std::string refused_pods(const Entry& entry, const Ledger& ledger) {
  for (const PodSetRequest& set : entry.object.request.pod_sets) {
    const auto breach = set.count > 0 ? ledger.bounds.breach(entry.object.ref.ns, set.spec) : std::nullopt;
    if (breach) {
      return fmt::format("its pods would be refused: {}", *breach);
    }
    // Limits that a job does not set itself come from a LimitRange; what its own limits forbid is refused before.
    if (const auto more = set.count > 0 ? above_limits(set.spec) : std::nullopt) {
      return fmt::format("its pods would be refused: pod set \"{}\": {}", set.name, *more);
    }
  }
  return "";
}

// It waits for that reason, whatever it asks for.
void hold_back(Submission& submission, Reason reason, std::string message) {
  submission.parts.clear();
  submission.rejection = Rejection{.reason = reason, .message = std::move(message), .waits = true};
}

}  // namespace

std::int64_t queued_seconds(const WorkloadObject& workload, const Ledger& ledger) {
  const Condition* evicted = workload.condition(kEvicted);
  const bool late = evicted != nullptr && evicted->holds && evicted->reason == kPausesForPods;
  const auto since = late && !ledger.requeue_by_creation ? parse_time(evicted->since) : std::nullopt;
  return since.value_or(workload.request.created_seconds);
}

const Submission& submission_for(Entry& entry, const Ledger& ledger) {
  if (entry.submission) {
    return *entry.submission;
  }
  Unresolved unresolved;
  // Of one that runs all its pods count, wherever they are by now.
  const JobRequest asked = entry.object.admission ? entry.object.request : entry.object.request_left();
  entry.submission = submission_of(asked, ledger.setup, *ledger.intake, unresolved);
  entry.submission->created_seconds = queued_seconds(entry.object, ledger);
  // On a live cluster a queue that is not there yet may come.
  if (queue_of(entry.object.request, ledger.setup) == nullptr) {
    const json::Value name = entry.object.request.queue_name;
    const std::string& ns = entry.object.ref.ns;
    hold_back(*entry.submission, Reason::kQueueNotFound,
              name ? fmt::format("there is no LocalQueue \"{}\" in namespace \"{}\"", name.text(), ns)
                   : fmt::format("it names no queue, and namespace \"{}\" has no LocalQueue \"default\"", ns));
  }
  // What an administrator can mend is waited for, as if more of it had been asked for than there is.
  if (entry.submission->rejection) {
    entry.submission->rejection->wait_to_be_mended();
  }
  const std::string_view missing = missing_class(entry, ledger);
  if (!missing.empty() && !entry.submission->rejection) {
    hold_back(*entry.submission, Reason::kPriorityClassNotFound,
              fmt::format("there is no WorkloadPriorityClass \"{}\"", missing));
  }
  const std::string refused = refused_pods(entry, ledger);
  const auto& before = entry.submission->rejection;
  if (!refused.empty() && (!before || (before->reason == Reason::kInvalidRequest && !before->waits))) {
    hold_back(*entry.submission, Reason::kInvalidRequest, refused);
  }
  const JobEntry* job = ledger.job_of(entry);
  const std::string& gated_by = job == nullptr ? entry.object.gated_by : job->gated_by;
  if (!gated_by.empty() && !entry.submission->rejection) {
    hold_back(*entry.submission, Reason::kGated,
              fmt::format("it is admitted when {} has taken its annotation {} away", gated_by, kGatedBy));
  }
  // What nobody starts would hold what it is given for ever: it is in nobody's way. (A Workload that nothing owns is
  // its maker's to start.)
  if (!entry.object.stranger.empty()) {
    entry.submission->queue.reset();
    hold_back(*entry.submission, Reason::kUnknownOwner,
              fmt::format("its owner {} is of no kind that is started here", entry.object.stranger));
  }
  const json::Value sets = entry.object.document.root()["spec"]["podSets"];
  const Submission& made = *entry.submission;
  entry.shape = std::hash<std::string>()(
      fmt::format("{}/{} {} {} {} {} {}", entry.object.ref.ns,
                  entry.object.request.queue_name ? entry.object.request.queue_name.text() : "", entry.object.stranger,
                  made.may_evict, made.rejection ? made.rejection->message : "",
                  sets ? json::copy(sets).to_json(false) : "", fmt::join(entry.object.reclaimable, " ")));
  entry.least = least_demands_of(*entry.submission);
  return *entry.submission;
}

}  // namespace gantree::kueue
