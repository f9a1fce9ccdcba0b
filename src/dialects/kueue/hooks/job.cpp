// Job and JobSet.
#include <fmt/format.h>

#include "dialects/kueue/hooks/hooks.h"
#include "dialects/kueue/hooks/job_object.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/waiting_job.h"
#include "json/patch.h"

namespace gantree::kueue {

namespace {

std::string_view parallelism_of(const Object& object) {
  const json::Value spec = object.value["spec"];
  const json::Value number = spec ? spec["parallelism"] : json::Value();
  return number && number.kind() == json::Kind::kNumber ? number.text() : "1";
}

}  // namespace

Mutation suspend_job(const NamedObject& named, const Object* old) {
  const Object& object = named.object;
  if (old != nullptr || queue_of(object).empty() || is_of_job_set(object)) {
    return {};
  }
  if (!waits_by_itself(object)) {
    return {.warnings = {prebuilt_warning(object)}};
  }
  json::Patch patch(object.value);
  patch.set({"spec", "suspend"}, true);
  return {.patch = patch.take()};
}

std::optional<std::string> forbid_job_change(const NamedObject& named, const Object& old) {
  const Object& object = named.object;
  if (is_of_job_set(object)) {
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
