#include "dialects/admission.h"

#include <fmt/format.h>

#include "dialects/kai/admission.h"
#include "dialects/kai/names.h"
#include "dialects/koordinator/admission.h"
#include "dialects/koordinator/names.h"
#include "dialects/kueue/admission.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/workload_status.h"

namespace gantree {

bool is_leaving(const Object& object) {
  const json::Value time = object.metadata()["deletionTimestamp"];
  return time && time.kind() == json::Kind::kString;
}

namespace {

// The stored version first: it is the one that Gantree reads.
ApiKind kueue_kind(std::string_view kind, bool namespaced) {
  return {.group = kueue::kGroup, .kind = kind, .versions = {"v1beta2", "v1beta1"}, .namespaced = namespaced};
}

}  // namespace

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
      {.plural = "topologies",
       .kind = kueue_kind("Topology", false),
       .validate = kueue::validate_topology,
       .has_status = false,
       .made = kueue::mark_in_use},
      {.plural = "resourceflavors",
       .kind = kueue_kind("ResourceFlavor", false),
       .validate = kueue::validate_flavor,
       .has_status = false,
       .made = kueue::mark_in_use},
      {.plural = "clusterqueues",
       .kind = kueue_kind("ClusterQueue", false),
       .validate = kueue::validate_cluster_queue,
       .made = kueue::mark_in_use},
      {.plural = "cohorts", .kind = kueue_kind("Cohort", false), .validate = kueue::validate_cohort},
      {.plural = "localqueues", .kind = kueue_kind("LocalQueue", true), .validate = kueue::validate_local_queue},
      {.plural = "workloads",
       .kind = kueue_kind("Workload", true),
       .validate = kueue::validate_workload,
       .forbidden = kueue::forbidden_in_workload,
       .reserved = kueue::reserved_in_workload,
       .wrong_status = kueue::wrong_in_status},
      {.plural = "workloadpriorityclasses",
       .kind = kueue_kind("WorkloadPriorityClass", false),
       .validate = kueue::validate_priority_class,
       .has_status = false},
      {.plural = "podgroups",
       .kind = {.group = kai::kSchedulingGroup, .kind = "PodGroup", .versions = {"v2alpha2"}},
       .validate = kai::validate_pod_group,
       .path = "kai-podgroups"},
      {.plural = "queues",
       .kind = {.group = kai::kSchedulingGroup, .kind = "Queue", .versions = {"v2"}, .namespaced = false},
       .validate = kai::validate_queue,
       .needed = kai::queue_is_needed,
       .path = "kai-queues"},
      {.plural = "topologies",
       .kind = {.group = kai::kTopologyGroup, .kind = "Topology", .versions = {"v1alpha1"}, .namespaced = false},
       .validate = kai::validate_topology,
       .has_status = false,
       .path = "kai-topologies"},
  };
  return kValidators;
}

Admission admit(const Validator& validator, const NamedObject& named, const Object* old) {
  Admission admission = validator.validate(named);
  if (old != nullptr && validator.forbidden != nullptr && !is_leaving(named.object)) {
    if (auto forbidden = validator.forbidden(named, *old)) {
      return {.refusal = std::move(forbidden), .warnings = {}};
    }
  }
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
