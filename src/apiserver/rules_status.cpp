// What controllers, and whoever writes in their place, may say of workloads.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "apiserver/rules.h"
#include "apiserver/rules_common.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

using Names = std::initializer_list<std::string_view>;

std::int64_t count_in(const Object& status, std::string_view key) {
  const Value* value = status.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

void refuse(std::string_view key, const Object& status, std::string_view why, FieldErrors& errors) {
  errors.push_back(invalid_value(child_path("status", key), value_at(status, {key}), why));
}

void check_counts(const Object& status, Names counts, FieldErrors& errors) {
  for (const std::string_view key : counts) {
    check_not_negative(status, "status", key, errors);
  }
}

// Each of the first is at most the second.
void check_at_most(const Object& status, Names parts, std::string_view whole, FieldErrors& errors) {
  for (const std::string_view key : parts) {
    if (count_in(status, key) > count_in(status, whole)) {
      refuse(key, status, "cannot be more than " + std::string(whole), errors);
    }
  }
}

void check_replicas(std::string_view kind, const Object& before, const Object& status, FieldErrors& errors) {
  if (kind == "DaemonSet") {
    check_counts(
        status,
        {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
         "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"},
        errors);
  } else {
    check_counts(
        status,
        {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
         "unavailableReplicas", "currentReplicas", "fullyLabeledReplicas", "terminatingReplicas", "collisionCount"},
        errors);
    check_at_most(status, {"readyReplicas", "availableReplicas"}, "replicas", errors);
    if (kind == "Deployment") {
      check_at_most(status, {"updatedReplicas"}, "replicas", errors);
    } else if (kind == "StatefulSet") {
      check_at_most(status, {"updatedReplicas", "currentReplicas"}, "replicas", errors);
    } else {
      check_at_most(status, {"fullyLabeledReplicas"}, "replicas", errors);
    }
    check_at_most(status, {"availableReplicas"}, "readyReplicas", errors);
  }
  if (count_in(status, "collisionCount") < count_in(before, "collisionCount")) {
    refuse("collisionCount", status, "cannot become less", errors);
  }
}

// What of a Job's status the rules are about.
struct JobFacts {
  explicit JobFacts(const Object& status)
      : complete(says(status, "Complete")),
        failed(says(status, "Failed")),
        to_fail(says(status, "FailureTarget")),
        succeeded(says(status, "SuccessCriteriaMet")),
        started(parse_time(text_at(status, {"startTime"}))),
        completed(parse_time(text_at(status, {"completionTime"}))) {}

  static bool says(const Object& status, std::string_view type) {
    const Array* conditions = array_at(status, {"conditions"});
    return conditions != nullptr && std::any_of(conditions->begin(), conditions->end(), [&](const Value& condition) {
             return text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == "True";
           });
  }
  [[nodiscard]] bool over() const { return complete || failed; }

  bool complete, failed, to_fail, succeeded;
  std::optional<std::int64_t> started, completed;
};

bool has_uncounted(const Object& status) {
  for (const std::string_view key : {"succeeded", "failed"}) {
    const Array* uids = array_at(status, {"uncountedTerminatedPods", key});
    if (uids != nullptr && !uids->empty()) {
      return true;
    }
  }
  return false;
}

// Conditions that contradict each other, or take back an end. A rule is heeded where what it is about changes.
void check_job_conditions(const JobFacts& was, const JobFacts& is, FieldErrors& errors) {
  const bool completes = was.complete != is.complete;
  const bool fails = was.failed != is.failed;
  const std::pair<bool, std::string_view> rules[] = {
      {(completes || fails) && is.complete && is.failed, "a Job cannot be both Complete and Failed"},
      {(completes || was.to_fail != is.to_fail) && is.complete && is.to_fail, "a Job that is Complete is not to fail"},
      {fails && is.failed && !is.to_fail, "a Job that is Failed was to fail: FailureTarget"},
      {(completes || was.succeeded != is.succeeded) && is.complete && !is.succeeded,
       "a Job that is Complete has met its criteria: SuccessCriteriaMet"},
      {is.succeeded && (is.failed || is.to_fail), "a Job that has met its criteria does not fail"},
      {(was.failed && !is.failed) || (was.complete && !is.complete) || (was.to_fail && !is.to_fail) ||
           (was.succeeded && !is.succeeded),
       "an end is not taken back"},
      {was.complete && !was.succeeded && is.succeeded, "a Job that is Complete does not come to meet its criteria"}};
  for (const auto& [broken, why] : rules) {
    if (broken) {
      errors.push_back({Cause::kInvalid, "status.conditions", "Invalid value: " + std::string(why)});
    }
  }
}

void check_job_times(const Object& job, const Object& status, const JobFacts& was, const JobFacts& is,
                     FieldErrors& errors) {
  const Value& suspended = value_at(job, {"spec", "suspend"});
  const bool suspends = suspended.is_bool() && suspended.get_bool();
  const bool completes = was.complete != is.complete || was.completed != is.completed;
  if (completes && is.completed && !is.complete) {
    refuse("completionTime", status, "is there only where the Job is Complete", errors);
  }
  if (completes && !is.completed && is.complete) {
    errors.push_back(required("status.completionTime", "of a Job that is Complete"));
  }
  if ((was.started != is.started || was.completed != is.completed) && is.started && is.completed &&
      *is.completed < *is.started) {
    refuse("completionTime", status, "cannot be before startTime", errors);
  }
  if (was.completed && is.completed && *was.completed != *is.completed) {
    refuse("completionTime", status, "field is immutable", errors);
  }
  const Value& wanted = value_at(job, {"spec", "completions"});
  const bool of_nothing = suspends && wanted.is_int64() && wanted.get_int64() == 0;
  if ((was.over() != is.over() || was.started != is.started) && !of_nothing && is.over() && !is.started) {
    errors.push_back(required("status.startTime", "of a Job that is over"));
  }
}

void check_job_status(const Object& before, const Object& job, const Object& old_status, const Object& status,
                      FieldErrors& errors) {
  const JobFacts was(old_status);
  const JobFacts is(status);
  check_counts(status, {"active", "succeeded", "failed", "ready", "terminating"}, errors);
  check_job_conditions(was, is, errors);
  check_job_times(job, status, was, is, errors);
  const bool resumes = JobFacts::says(old_status, "Suspended") && !JobFacts::says(status, "Suspended");
  const Value& suspended = value_at(job, {"spec", "suspend"});
  if (was.started && was.started != is.started && !resumes && !(suspended.is_bool() && suspended.get_bool())) {
    refuse("startTime", status, "field is immutable while the Job runs", errors);
  }
  const bool ends = was.over() != is.over();
  const auto differs = [&](std::string_view key) { return !same_at(old_status, status, {key}); };
  for (const std::string_view key : {"active", "terminating"}) {
    if (is.over() && count_in(status, key) > 0 && (ends || differs(key))) {
      refuse(key, status, "a Job that is over has none", errors);
    }
  }
  if (is.over() && has_uncounted(status) && (ends || differs("uncountedTerminatedPods"))) {
    refuse("uncountedTerminatedPods", status, "must be empty where the Job is over", errors);
  }
  if (status.contains("ready") && (differs("ready") || differs("active")) &&
      count_in(status, "ready") > count_in(status, "active")) {
    refuse("ready", status, "cannot be more than active", errors);
  }
  const bool elastic = text_at(job, {"spec", "completionMode"}) == "Indexed" &&
                       same(value_at(job, {"spec", "completions"}), value_at(job, {"spec", "parallelism"}));
  for (const std::string_view key : {"failed", "succeeded"}) {
    if (count_in(status, key) < count_in(old_status, key) && !(elastic && key == "succeeded")) {
      refuse(key, status, "cannot become less", errors);
    }
  }
  if (differs("completedIndexes") && !text_at(status, {"completedIndexes"}).empty() &&
      text_at(before, {"spec", "completionMode"}) != "Indexed") {
    refuse("completedIndexes", status, "is of indexed Jobs alone", errors);
  }
}

}  // namespace

FieldErrors check_status(std::string_view group, std::string_view kind, const Object& old_object,
                         const Object& new_object) {
  static const Object kEmpty;
  FieldErrors errors;
  const Object* before = object_at(old_object, {"status"});
  const Object* status = object_at(new_object, {"status"});
  before = before == nullptr ? &kEmpty : before;
  status = status == nullptr ? &kEmpty : status;
  if (group == "batch" && kind == "Job") {
    check_job_status(old_object, new_object, *before, *status, errors);
  } else if (group == "apps" || (group.empty() && kind == "ReplicationController")) {
    check_replicas(kind, *before, *status, errors);
  }
  return errors;
}

}  // namespace gantree::apiserver
