#include "dialects/mutation.h"

#include <functional>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kai/admission.h"
#include "dialects/kueue/hooks/hooks.h"
#include "dialects/kueue/names.h"
#include "dialects/not_live.h"
#include "json/overlay.h"
#include "json/patch.h"

namespace gantree {

namespace {

// The label, and what becomes of the object that has it.
Mutation with_label(const NamedObject& named, std::pair<std::string_view, std::string_view> label,
                    const std::function<Mutation(const NamedObject& labelled)>& next) {
  const auto& [key, value] = label;
  const Object& object = named.object;
  json::Patch added(object.value);
  added.set({"metadata", "labels", key}, value);
  json::Overlay overlay;
  const json::Value metadata = map_at(object.value, "metadata");
  const json::Value labels = overlay.with(map_at(metadata, "labels"), key, overlay.text(value, object.value.line()));
  Object labelled = object;
  labelled.value = overlay.with(object.value, "metadata", overlay.with(metadata, "labels", labels));
  Mutation mutation = next({labelled, named.ns, named.name});
  json::Out::Array patch = added.take();
  for (json::Out& operation : mutation.patch) {
    patch.push_back(std::move(operation));
  }
  mutation.patch = std::move(patch);
  return mutation;
}

// Marks that would be dropped in silence.
void warn_of_marks(const NamedObject& named, const JobDefaults& defaults, Mutation& mutation) {
  if (std::string warning = warning_of_marks(named, defaults.serves_kai); !warning.empty()) {
    mutation.warnings.push_back(std::move(warning));
  }
}

}  // namespace

std::span<const Mutator> all_mutators() {
  const auto job = [](std::string_view plural, ApiKind kind) {
    return Mutator{.plural = plural,
                   .kind = std::move(kind),
                   .mutate = kueue::suspend_job,
                   .validate = kueue::validate_job,
                   .forbid = kueue::forbid_job_change,
                   .heed = kueue::heed_suspension,
                   .reserved = kueue::forbid_start};
  };
  static const Mutator kMutators[] = {
      job("jobs", {.group = "batch", .kind = "Job", .versions = {"v1"}}),
      job("jobsets", {.group = kueue::kJobSetGroup, .kind = "JobSet", .versions = {"v1alpha2"}}),
      job("pytorchjobs", {.group = kueue::kTrainingGroup, .kind = "PyTorchJob", .versions = {"v1"}}),
      job("tfjobs", {.group = kueue::kTrainingGroup, .kind = "TFJob", .versions = {"v1"}}),
      job("xgboostjobs", {.group = kueue::kTrainingGroup, .kind = "XGBoostJob", .versions = {"v1"}}),
      job("paddlejobs", {.group = kueue::kTrainingGroup, .kind = "PaddleJob", .versions = {"v1"}}),
      job("jaxjobs", {.group = kueue::kTrainingGroup, .kind = "JAXJob", .versions = {"v1"}}),
      job("mpijobs", {.group = kueue::kTrainingGroup, .kind = "MPIJob", .versions = {"v2beta1"}}),
      job("rayclusters", {.group = kueue::kRayGroup, .kind = "RayCluster", .versions = {"v1"}}),
      job("rayjobs", {.group = kueue::kRayGroup, .kind = "RayJob", .versions = {"v1"}}),
      {.plural = "pods",
       .kind = {.group = "", .kind = "Pod", .versions = {"v1"}},
       .mutate = kueue::gate_pod,
       .validate = kueue::validate_pod,
       .forbid = kueue::forbid_pod_change,
       .reserved = kueue::forbid_release},
      {"deployments",
       {.group = "apps", .kind = "Deployment", .versions = {"v1"}},
       kueue::pass_queue_on,
       kueue::validate_job,
       kueue::forbid_serving_change},
      {"replicasets",
       {.group = "apps", .kind = "ReplicaSet", .versions = {"v1"}},
       kueue::pass_queue_on,
       kueue::validate_job,
       kueue::forbid_serving_change},
      {"statefulsets",
       {.group = "apps", .kind = "StatefulSet", .versions = {"v1"}},
       kueue::group_stateful_set,
       kueue::validate_job,
       kueue::forbid_stateful_set_change},
      {"leaderworkersets",
       {.group = "leaderworkerset.x-k8s.io", .kind = "LeaderWorkerSet", .versions = {"v1"}},
       kueue::group_leader_worker_set,
       kueue::validate_job,
       kueue::forbid_leader_worker_set_change},
  };
  return kMutators;
}

Mutation change(const Mutator& mutator, const NamedObject& named, const Object* old) {
  Admission admission = old == nullptr ? admit(mutator, named, nullptr) : Admission{};
  if (admission.refusal) {
    return {.refusal = std::move(admission.refusal)};
  }
  Mutation mutation = mutator.mutate(named, old);
  mutation.warnings.insert(mutation.warnings.end(), admission.warnings.begin(), admission.warnings.end());
  if (old == nullptr) {
    warn_of_marks(named, {}, mutation);  // in a queue of Kueue's those of others do not count
  }
  return mutation;
}

Mutation create(const Mutator& mutator, const NamedObject& named, const JobDefaults& defaults) {
  if (auto refusal = kai::refuse_fractions(named, defaults.serves_kai)) {
    return {.refusal = std::move(refusal)};
  }
  const bool unclassed = defaults.priority_class && kueue::takes_default_class(named.object);
  return unclassed ? with_label(named, {kueue::kPriorityClass, kueue::kDefaultPriorityClass},
                                [&](const NamedObject& labelled) { return change(mutator, labelled, nullptr); })
                   : change(mutator, named, nullptr);
}

Mutation enqueue(const Mutator& mutator, const NamedObject& named, const JobDefaults& defaults) {
  if (auto refusal = kai::refuse_fractions(named, defaults.serves_kai)) {
    return {.refusal = std::move(refusal)};
  }
  const std::string_view queue = kueue::queue_to_join(named.object, defaults.queue);
  if (queue.empty()) {
    const std::string unheeded = kueue::unheeded_topology(named);
    Mutation nothing{.warnings = unheeded.empty() ? std::vector<std::string>() : std::vector{unheeded}};
    warn_of_marks(named, defaults, nothing);
    return nothing;
  }
  return with_label(named, {kueue::kQueueName, queue},
                    [&](const NamedObject& labelled) { return create(mutator, labelled, defaults); });
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
