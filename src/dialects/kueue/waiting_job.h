// Which Jobs and JobSets wait in a queue by themselves. Those who hold them back when they are created and those who
// start them later ask the same, so that nothing is held back that nobody starts.
#pragma once

#include "dialects/object.h"

namespace gantree::kueue {

// Whether a JobSet makes it: then that waits, or nobody does. Any other maker (a CronJob, a workflow engine, an
// operator) leaves the waiting to what it makes.
[[nodiscard]] bool is_of_job_set(const Object& job);

// Whether it names a queue and waits there for itself, with a Workload that is made for it.
[[nodiscard]] bool waits_by_itself(const Object& job);

}  // namespace gantree::kueue
