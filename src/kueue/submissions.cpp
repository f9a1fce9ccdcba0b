#include "kueue/submissions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "dialects/gangs.h"
#include "dialects/kueue/submit.h"
#include "json/copy.h"

namespace gantree::kueue {

const Submission& submission_for(Entry& entry, const Ledger& ledger) {
  if (entry.submission) {
    return *entry.submission;
  }
  Unresolved unresolved;
  entry.submission = submission_of(entry.object.request, ledger.setup, *ledger.intake, unresolved);
  // On a live cluster a queue that is not there yet may come.
  if (queue_of(entry.object.request, ledger.setup) == nullptr) {
    const json::Value name = entry.object.request.queue_name;
    entry.submission->alternatives.clear();
    entry.submission->rejection =
        Rejection{.reason = Reason::kQueueStopped,
                  .message = name ? fmt::format("there is no LocalQueue \"{}\" in namespace \"{}\"", name.text(),
                                                entry.object.ref.ns)
                                  : fmt::format("it names no queue, and namespace \"{}\" has no LocalQueue \"default\"",
                                                entry.object.ref.ns),
                  .waits = true};
  }
  // What an administrator can mend is waited for, as if more of it had been asked for than there is.
  if (entry.submission->rejection && entry.submission->rejection->mendable) {
    entry.submission->rejection->waits = true;
  }
  // What nobody starts would hold what it is given for ever: it is in nobody's way. (A Workload that nothing owns is
  // its maker's to start.)
  if (!entry.object.stranger.empty()) {
    entry.submission->alternatives.clear();
    entry.submission->queue.reset();
    entry.submission->rejection =
        Rejection{.reason = Reason::kQueueStopped,
                  .message = fmt::format("its owner {} is of no kind that is started here", entry.object.stranger),
                  .waits = true};
  }
  const json::Value sets = entry.object.document.root()["spec"]["podSets"];
  const Submission& made = *entry.submission;
  entry.shape = std::hash<std::string>()(fmt::format(
      "{}/{} {} {} {} {}", entry.object.ref.ns,
      entry.object.request.queue_name ? entry.object.request.queue_name.text() : "", entry.object.stranger,
      made.may_evict, made.rejection ? made.rejection->message : "", sets ? json::copy(sets).to_json(false) : ""));
  entry.least.clear();
  for (const Alternative& alternative : entry.submission->alternatives) {
    std::vector<int> counts;
    for (const PodSet* set : pod_sets(alternative.gang.root)) {
      counts.push_back(std::min(set->count, set->min_count));
    }
    entry.least.push_back(Quota::sum(alternative.demand, counts));
  }
  return *entry.submission;
}

}  // namespace gantree::kueue
