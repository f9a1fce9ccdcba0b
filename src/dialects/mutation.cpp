#include "dialects/mutation.h"

#include "dialects/kueue/hooks/hooks.h"

namespace gantree {

std::span<const Mutator> all_mutators() {
  static const Mutator kMutators[] = {
      {"jobs",
       {.group = "batch", .kind = "Job", .versions = {"v1"}},
       kueue::suspend_job,
       kueue::validate_job,
       kueue::forbid_job_change},
      {"jobsets",
       {.group = "jobset.x-k8s.io", .kind = "JobSet", .versions = {"v1alpha2"}},
       kueue::suspend_job,
       kueue::validate_job,
       kueue::forbid_job_change},
  };
  return kMutators;
}

Admission admit(const Mutator& mutator, const NamedObject& named, const Object* old) {
  if (old != nullptr && !is_leaving(named.object)) {
    if (auto refusal = mutator.forbid(named, *old)) {
      return {.refusal = std::move(refusal), .warnings = {}};
    }
  }
  return admit(Validator{.plural = mutator.plural, .kind = mutator.kind, .validate = mutator.validate}, named, old);
}

}  // namespace gantree
