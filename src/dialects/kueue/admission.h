// What of this API makes no sense when it is stored, by the same rules by which it is read. Objects may be of either
// version.
#pragma once

#include <optional>
#include <string>

#include "dialects/admission.h"
#include "dialects/mutation.h"

namespace gantree::kueue {

[[nodiscard]] Admission validate_topology(const NamedObject& named);
[[nodiscard]] Admission validate_flavor(const NamedObject& named);
[[nodiscard]] Admission validate_cluster_queue(const NamedObject& named);
[[nodiscard]] Admission validate_cohort(const NamedObject& named);
[[nodiscard]] Admission validate_local_queue(const NamedObject& named);
[[nodiscard]] Admission validate_priority_class(const NamedObject& named);
[[nodiscard]] Admission validate_workload(const NamedObject& named);

// What may be in use has the finalizer that says so from the beginning, so that nobody who has just made it finds it
// changed.
[[nodiscard]] Mutation mark_in_use(const NamedObject& named);

// Pod sets that hold quota are not changed: what is used would no longer be what was given.
[[nodiscard]] std::optional<std::string> forbidden_in_workload(const NamedObject& named, const Object& old);

// A Workload holds quota and evicts others whether it has pods or not. So only those who administer queues make one of
// their own, or change in one what counts there; who else may write Workloads may switch them off and on.
[[nodiscard]] std::optional<std::string> reserved_in_workload(const NamedObject& named, const Object* old);

}  // namespace gantree::kueue
