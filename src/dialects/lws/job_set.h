// JobSets whose child Jobs each want a domain to themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "dialects/intake.h"
#include "dialects/objection.h"
#include "model/gang.h"
#include "model/running.h"

namespace gantree::lws {

// Whether the JobSet, or one of its replicated jobs, asks for that.
[[nodiscard]] bool wants_exclusive_jobs(const Workload& workload);

// The gang of a JobSet: a group for every child Job, alone in its domain where it asks for that. What
// is well-formed but wrong is an objection. Fails where a template is malformed.
[[nodiscard]] Result<Gang> gang_of_job_set(const Workload& workload, std::int64_t priority, Objection& objection,
                                           Intake& intake);

// The domains that its child Jobs have to themselves by the pods that run.
[[nodiscard]] std::vector<ExclusiveHold> holds_of_job_set(const Workload& workload, std::int64_t priority,
                                                          std::span<const PodRecord* const> pods, Intake& intake);

}  // namespace gantree::lws
