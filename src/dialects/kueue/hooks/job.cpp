// Job, JobSet, and the kinds of Kubeflow and Ray.
#include <fmt/format.h>

#include "dialects/kueue/hooks/hooks.h"
#include "dialects/kueue/hooks/job_object.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/waiting_job.h"
#include "dialects/workloads/workload.h"
#include "json/patch.h"

namespace gantree::kueue {

namespace {

std::string_view parallelism_of(const Object& object) {
  const json::Value spec = object.value["spec"];
  const json::Value number = spec ? spec["parallelism"] : json::Value();
  return number && number.kind() == json::Kind::kNumber ? number.text() : "1";
}

constexpr std::string_view kNoClusterOfItsOwn =
    "this RayJob runs in a cluster that is there, which waits or does not wait for itself: it starts without waiting";

// Where the launcher works beside the workers it has rank 0, and their ranks begin at 1.
void number_workers(const Object& object, json::Patch& patch) {
  const json::Value spec = map_at(object.value, "spec");
  const json::Value both = spec ? spec["runLauncherAsWorker"] : json::Value();
  const json::Value roles = map_at(spec, "mpiReplicaSpecs");
  if (!both || both.kind() != json::Kind::kBool || both.text() != "true" || !map_at(roles, "Launcher") ||
      !map_at(roles, "Worker")) {
    return;
  }
  const json::Value workers = map_at(map_at(map_at(roles, "Worker"), "template"), "metadata");
  if (!text_at(map_at(workers, "annotations"), kIndexOffset)) {
    patch.set({"spec", "mpiReplicaSpecs", "Worker", "template", "metadata", "annotations", kIndexOffset}, "1");
  }
}

}  // namespace

Mutation suspend_job(const NamedObject& named, const Object* old) {
  const Object& object = named.object;
  if (old != nullptr || queue_of(object).empty() || is_part_of_job(object)) {
    return {};
  }
  if (!waits_by_itself(object)) {
    return {.warnings = {prebuilt_of(object).empty() ? std::string(kNoClusterOfItsOwn) : prebuilt_warning(object)}};
  }
  json::Patch patch(object.value);
  patch.set(suspend_field(object), true);
  if (object.kind == "MPIJob") {
    number_workers(object, patch);
  }
  return {.patch = patch.take()};
}

Mutation heed_suspension(const NamedObject& named, const Object& old) {
  const Object& object = named.object;
  if (!waits_by_itself(object) || is_suspended(object) == is_suspended(old)) {
    return {};
  }
  Mutation mutation;
  json::Patch patch(object.value);
  const json::Patch::Path note = {"metadata", "annotations", kSuspension};
  if (is_suspended(object)) {
    patch.set(note, kSuspended);
  } else if (annotation_of(object, kSuspension) == kSuspended) {
    patch.set(suspend_field(object), true);
    patch.set(note, kResumed);
    mutation.warnings.push_back(
        fmt::format("{} \"{}\" is queued again and stays suspended until it is admitted", object.kind, named.name));
  }
  mutation.patch = patch.take();
  return mutation;
}

std::optional<std::string> forbid_start(const NamedObject& named, const Object& old) {
  const Object& object = named.object;
  if (!waits_by_itself(old) || !waits_by_itself(object) || !is_suspended(old) || is_suspended(object)) {
    return std::nullopt;
  }
  const std::string_view queue = queue_of(object).empty() ? annotation_of(object, kQueueName) : queue_of(object);
  return fmt::format(
      "{} cannot be set to false: {} \"{}\" waits in queue \"{}\", which starts it when it is admitted. To start it "
      "outside the queue, remove its label {} first",
      fmt::join(suspend_field(object), "."), object.kind, named.name, queue, kQueueName);
}

std::optional<std::string> forbid_job_change(const NamedObject& named, const Object& old) {
  const Object& object = named.object;
  if (is_part_of_job(object)) {
    return std::nullopt;
  }
  const bool runs = !is_suspended(object);
  if (auto refusal = forbid_common_change(object, old, runs)) {
    return refusal;
  }
  const bool partial = !annotation_of(old, kMinParallelism).empty();
  if (partial && runs && !is_suspended(old) && parallelism_of(object) != parallelism_of(old)) {
    return fmt::format(
        "spec.parallelism cannot change from {} to {} while the Job runs, since {} lets it start with "
        "fewer pods",
        parallelism_of(old), parallelism_of(object), kMinParallelism);
  }
  return std::nullopt;
}

}  // namespace gantree::kueue
