// Which jobs wait in a queue by themselves. Those who hold them back when they are created and those who start them
// later ask the same, so that nothing is held back that nobody starts.
#pragma once

#include "dialects/object.h"

namespace gantree::kueue {

// Whether a job makes it (a Job of a JobSet, a pod of a PyTorchJob): then that waits, or nobody does. Any other maker
// (a CronJob, a workflow engine, an operator) leaves the waiting to what it makes.
[[nodiscard]] bool is_part_of_job(const Object& object);

// The same, or something else makes it that has a queue for all its pods, or none: a Deployment, a DaemonSet, a
// TrainJob.
[[nodiscard]] bool is_part_of_workload(const Object& object);

// Whether it is a RayJob that runs in a cluster that is there: it has no pods of its own but the one that submits it.
[[nodiscard]] bool is_guest(const Object& job);

// Whether it names a queue and waits there for itself, with a Workload that is made for it.
[[nodiscard]] bool waits_by_itself(const Object& job);

}  // namespace gantree::kueue
