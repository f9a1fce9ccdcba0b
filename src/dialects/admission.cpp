#include "dialects/admission.h"

#include <fmt/format.h>

#include "dialects/koordinator/admission.h"
#include "dialects/koordinator/names.h"

namespace gantree {

bool is_leaving(const Object& object) {
  const json::Value time = object.metadata()["deletionTimestamp"];
  return time && time.kind() == json::Kind::kString;
}

std::span<const Validator> all_validators() {
  static const Validator kValidators[] = {
      {"podgroups",
       {.group = koordinator::kPodGroupGroup, .kind = "PodGroup", .versions = {"v1alpha1"}},
       koordinator::validate_pod_group},
      {"clusternetworktopologies",
       {.group = koordinator::kSchedulingGroup,
        .kind = koordinator::kTopologyKind,
        .versions = {"v1alpha1"},
        .namespaced = false},
       koordinator::validate_topology},
  };
  return kValidators;
}

Admission admit(const Validator& validator, const NamedObject& named, const Object* old) {
  Admission admission = validator.validate(named);
  if (!admission.refusal) {
    return admission;
  }
  const bool stays = old != nullptr && validator.validate({*old, named.ns, named.name}).refusal == admission.refusal;
  if (stays || is_leaving(named.object)) {
    admission.warnings.push_back(std::move(*admission.refusal));
    admission.refusal.reset();
  }
  return admission;
}

}  // namespace gantree
