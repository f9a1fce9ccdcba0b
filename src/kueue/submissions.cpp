#include "kueue/submissions.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/gangs.h"
#include "dialects/kueue/submit.h"

namespace gantree::kueue {

const Submission& submission_for(Entry& entry, const Ledger& ledger) {
  if (entry.submission) {
    return *entry.submission;
  }
  Unresolved unresolved;
  entry.submission = submission_of(entry.object.request, ledger.setup, *ledger.intake, unresolved);
  // On a live cluster a queue that is not there yet may come.
  if (entry.object.request.queue_name && queue_of(entry.object.request, ledger.setup) == nullptr) {
    entry.submission->alternatives.clear();
    entry.submission->rejection =
        Rejection{.reason = Reason::kQueueStopped,
                  .message = fmt::format("there is no LocalQueue \"{}\" in namespace \"{}\"",
                                         entry.object.request.queue_name.text(), entry.object.ref.ns),
                  .waits = true};
  }
  // What an administrator can mend is waited for, as if more of it had been asked for than there is.
  if (entry.submission->rejection && entry.submission->rejection->mendable) {
    entry.submission->rejection->waits = true;
  }
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
