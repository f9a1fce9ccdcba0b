// Workloads to submissions.
#pragma once

#include <map>
#include <string>

#include "dialects/dialects.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/job_request.h"
#include "queue/submission.h"

namespace gantree::kueue {

// References that workloads make to objects of kinds of which the input has none at all. Those are
// left out of many dumps, so the workloads are planned without, and the user is told.
struct Unresolved {
  int queues = 0;    // jobs that name a queue where there are none
  int no_queue = 0;  // jobs that name none where there are queues
  int workload_priorities = 0;
  int priorities = 0;

  [[nodiscard]] std::vector<std::string> notes() const;
};

// A workload that asks, as a submission: with ways to start, or with the reason why there are none.
[[nodiscard]] Submission submission_of(const JobRequest& workload, const Setup& setup, Intake& intake,
                                       Unresolved& unresolved);

// The priority by class of workloads; nothing where it names none that is there.
[[nodiscard]] std::optional<std::int64_t> workload_priority(const JobRequest& workload, const Setup& setup);

// The queue of a workload; nullptr where it names none or one that is not there.
[[nodiscard]] const LocalQueue* queue_of(const JobRequest& workload, const Setup& setup);

}  // namespace gantree::kueue
