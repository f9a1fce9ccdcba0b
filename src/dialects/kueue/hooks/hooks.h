// What this family does to jobs as they are created, so that nothing of them starts before they are admitted; what it
// refuses at once; and which changes it refuses later.
//
// Only objects that name a queue are touched. Those with a prebuilt workload, and those that something else makes
// that waits itself (the Jobs of a JobSet, the pods of a Job), are left alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialects/mutation.h"

namespace gantree::kueue {

// Job and JobSet: created suspended.
[[nodiscard]] Mutation suspend_job(const NamedObject& named, const Object* old);
[[nodiscard]] std::optional<std::string> forbid_job_change(const NamedObject& named, const Object& old);

// Refuses what contradicts itself whatever the cluster: names, numbers, the topology annotations of each template.
// What depends on the queue, and a job of which only some templates ask for a topology, is found later.
[[nodiscard]] Admission validate_job(const NamedObject& named);

}  // namespace gantree::kueue
