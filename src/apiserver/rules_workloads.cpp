// Jobs, and the kinds of apps/v1.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <unordered_set>

#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

constexpr std::int64_t kMaxIndexedParallelism = 100'000;

const Object& spec_of(const Object& object) {
  static const Object kEmpty;
  const Object* spec = object_at(object, {"spec"});
  return spec == nullptr ? kEmpty : *spec;
}

void check_template(const Object& spec, const std::string& path, FieldErrors& errors) {
  const Object* found = object_at(spec, {"template", "spec"});
  Object pods = found == nullptr ? Object() : *found;
  // What a StatefulSet claims for each of its pods is mounted like a volume of the template.
  if (const Array* claims = array_at(spec, {"volumeClaimTemplates"}); claims != nullptr && !claims->empty()) {
    Value& list = pods["volumes"];
    Array& volumes = list.is_array() ? list.get_array() : list.emplace_array();
    std::unordered_set<std::string> names;
    for (const Value& volume : volumes) {
      names.emplace(text_at(volume, {"name"}));
    }
    for (const Value& claim : *claims) {
      const std::string name(text_at(claim, {"metadata", "name"}));
      if (names.insert(name).second) {
        volumes.push_back(Object{{"name", name}});
      }
    }
  }
  check_labels(find(spec, {"template", "metadata", "labels"}), path + ".metadata.labels", errors);
  check_pod_spec(pods, path + ".spec", errors);
}

void check_job_restarts(const Object& spec, const std::string& path, FieldErrors& errors) {
  const std::string_view policy = text_at(spec, {"template", "spec", "restartPolicy"});
  if (policy.empty() || policy == "Always") {
    errors.push_back(required(path, "valid values: \"OnFailure\", \"Never\""));
  }
}

void check_selector(const Object& spec, FieldErrors& errors) {
  const Object* selector = object_at(spec, {"selector"});
  const Object* labels = object_at(spec, {"template", "metadata", "labels"});
  if (selector == nullptr) {
    errors.push_back(required("spec.selector"));
    errors.push_back(invalid_value("spec.template.metadata.labels", labels == nullptr ? Value() : Value(*labels),
                                   "`selector` does not match template `labels`"));
    return;
  }
  const auto filled = [&](std::string_view key) {
    const Value* part = selector->if_contains(key);
    return part != nullptr &&
           ((part->is_object() && !part->get_object().empty()) || (part->is_array() && !part->get_array().empty()));
  };
  if (!filled("matchLabels") && !filled("matchExpressions")) {
    errors.push_back(invalid_value("spec.selector", Value(*selector), "empty selector is invalid for deployment"));
  } else if (!selects(*selector, labels)) {
    errors.push_back(invalid_value("spec.template.metadata.labels", labels == nullptr ? Value(nullptr) : Value(*labels),
                                   "`selector` does not match template `labels`"));
  }
}

void check_indexed(const Object& spec, FieldErrors& errors) {
  const bool indexed = text_at(spec, {"completionMode"}) == "Indexed";
  if (indexed && value_at(spec, {"completions"}).is_null()) {
    errors.push_back(required("spec.completions", "when completion mode is Indexed"));
  }
  const Value& parallelism = value_at(spec, {"parallelism"});
  if (indexed && parallelism.is_int64() && parallelism.get_int64() > kMaxIndexedParallelism) {
    errors.push_back(invalid_value("spec.parallelism", parallelism,
                                   fmt::format("an indexed Job has at most {}", kMaxIndexedParallelism)));
  }
  if (!indexed && !value_at(spec, {"backoffLimitPerIndex"}).is_null()) {
    errors.push_back(invalid_value("spec.backoffLimitPerIndex", value_at(spec, {"backoffLimitPerIndex"}),
                                   "requires indexed completion mode"));
  }
  if (!indexed && !value_at(spec, {"successPolicy"}).is_null()) {
    errors.push_back(
        invalid_value("spec.successPolicy", value_at(spec, {"successPolicy"}), "requires indexed completion mode"));
  }
}

// Five fields, or a word such as @daily.
bool is_schedule(std::string_view text) {
  if (text.starts_with('@')) {
    return true;
  }
  std::size_t fields = 0;
  bool within = false;
  for (const char c : text) {
    fields += c != ' ' && !within ? 1 : 0;
    within = c != ' ';
  }
  return fields == 5 &&
         text.find_first_not_of("0123456789*/,-? ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
             std::string_view::npos;
}

// Unless its owner picks the labels, a Job selects by its uid and nothing else.
void check_generated_selector(const Object& job, FieldErrors& errors) {
  const Value& manual = value_at(job, {"spec", "manualSelector"});
  const Value& selector = value_at(job, {"spec", "selector"});
  const Value& uid = value_at(job, {"metadata", "uid"});
  if ((manual.is_bool() && manual.get_bool()) || !selector.is_object() || uid.is_null()) {
    return;
  }
  const Value generated = Object{{"matchLabels", Object{{"batch.kubernetes.io/controller-uid", uid}}}};
  if (!same(selector, generated)) {
    errors.push_back(invalid_value("spec.selector", selector, "`selector` not auto-generated"));
  }
}

void check_job(const Object& job, const Object& spec, FieldErrors& errors) {
  check_generated_selector(job, errors);
  for (const std::string_view key : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                                     "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    check_not_negative(spec, "spec", key, errors);
  }
  check_one_of(spec, "spec", "completionMode", {"Indexed", "NonIndexed"}, errors);
  check_one_of(spec, "spec", "podReplacementPolicy", {"Failed", "TerminatingOrFailed"}, errors);
  check_indexed(spec, errors);
  const Object* selector = object_at(spec, {"selector"});
  const Object* labels = object_at(spec, {"template", "metadata", "labels"});
  if (selector == nullptr) {
    errors.push_back(required("spec.selector"));
  } else if (!selects(*selector, labels)) {
    errors.push_back(invalid_value("spec.template.metadata.labels", labels == nullptr ? Value(nullptr) : Value(*labels),
                                   "`selector` does not match template `labels`"));
  }
  check_template(spec, "spec.template", errors);
  check_job_restarts(spec, "spec.template.spec.restartPolicy", errors);
  const bool by_failure = !value_at(spec, {"podFailurePolicy"}).is_null();
  if (by_failure && text_at(spec, {"template", "spec", "restartPolicy"}) != "Never") {
    errors.push_back(invalid_value("spec.template.spec.restartPolicy",
                                   value_at(spec, {"template", "spec", "restartPolicy"}),
                                   "only \"Never\" is supported when podFailurePolicy is specified"));
  }
}

// Where this machine has no list of zones, any may be one.
bool may_be_zone(std::string_view name) {
  static const std::filesystem::path kZones = "/usr/share/zoneinfo";
  const bool plain = !name.empty() && name != "Local" && name.front() != '/' &&
                     name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-+") ==
                         std::string_view::npos;
  std::error_code ignored;
  return plain && (name == "UTC" || !std::filesystem::is_directory(kZones, ignored) ||
                   std::filesystem::is_regular_file(kZones / name, ignored));
}

void check_cron_job(const Object& spec, FieldErrors& errors) {
  if (text_at(spec, {"schedule"}).empty()) {
    errors.push_back(required("spec.schedule"));
  } else if (!is_schedule(text_at(spec, {"schedule"}))) {
    errors.push_back(
        invalid_value("spec.schedule", value_at(spec, {"schedule"}), "has five fields, or is a word such as @daily"));
  }
  if (const Value& zone = value_at(spec, {"timeZone"}); !zone.is_null() && !may_be_zone(text_of(zone))) {
    errors.push_back(invalid_value("spec.timeZone", zone, "is no time zone that is known here"));
  }
  check_one_of(spec, "spec", "concurrencyPolicy", {"Allow", "Forbid", "Replace"}, errors);
  for (const std::string_view key :
       {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}) {
    check_not_negative(spec, "spec", key, errors);
  }
  if (const Object* job = object_at(spec, {"jobTemplate", "spec"}); job != nullptr) {
    check_template(*job, "spec.jobTemplate.spec.template", errors);
    check_job_restarts(*job, "spec.jobTemplate.spec.template.spec.restartPolicy", errors);
  }
}

// What of a suspended Job's pods may be chosen anew before it starts.
Value without_directions(const Value& pods) {
  Value copy = pods;
  if (Value* spec = find(copy, {"spec"}); spec != nullptr && spec->is_object()) {
    for (const std::string_view key : {"nodeSelector", "tolerations", "schedulingGates"}) {
      spec->get_object().stable_erase(key);
    }
    if (Value* affinity = find(*spec, {"affinity"}); affinity != nullptr && affinity->is_object()) {
      affinity->get_object().stable_erase("nodeAffinity");
      if (affinity->get_object().empty()) {
        spec->get_object().stable_erase("affinity");
      }
    }
  }
  if (Value* metadata = find(copy, {"metadata"}); metadata != nullptr && metadata->is_object()) {
    metadata->get_object().stable_erase("labels");
    metadata->get_object().stable_erase("annotations");
  }
  return copy;
}

void check_job_update(const Object& old_job, const Object& new_job, FieldErrors& errors) {
  const Value& suspended = value_at(old_job, {"spec", "suspend"});
  const bool open = suspended.is_bool() && suspended.get_bool() && value_at(old_job, {"status", "startTime"}).is_null();
  const Value& before = value_at(old_job, {"spec", "template"});
  const Value& after = value_at(new_job, {"spec", "template"});
  if (open ? !same(without_directions(before), without_directions(after)) : !same(before, after)) {
    errors.push_back(invalid_value("spec.template", after, "field is immutable"));
  }
  const Value& completions = value_at(new_job, {"spec", "completions"});
  const bool indexed = text_at(old_job, {"spec", "completionMode"}) == "Indexed";
  if (!same_at(old_job, new_job, {"spec", "completions"})) {
    if (!indexed) {
      errors.push_back(invalid_value("spec.completions", completions, "field is immutable"));
    } else if (!same(completions, value_at(new_job, {"spec", "parallelism"}))) {
      errors.push_back(invalid_value("spec.completions", completions,
                                     fmt::format("can only be modified in tandem with {}", "spec.parallelism")));
    }
  }
  for (const std::string_view key :
       {"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "successPolicy", "managedBy"}) {
    check_unchanged(old_job, new_job, {"spec", key}, errors);
  }
}

void check_stateful_update(const Object& old_spec, const Object& new_spec, FieldErrors& errors) {
  Object before = old_spec;
  Object after = new_spec;
  for (const std::string_view key : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                                     "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    before.stable_erase(key);
    after.stable_erase(key);
  }
  if (!same(Value(before), Value(after))) {
    errors.push_back(
        forbidden("spec",
                  "of a StatefulSet only replicas, ordinals, template, updateStrategy, revisionHistoryLimit, "
                  "persistentVolumeClaimRetentionPolicy and minReadySeconds may change"));
  }
}

// A count, or a share of all as "30%"; whether it is none.
bool check_share(const Object& rolling, std::string_view key, const std::string& parent, bool bounded,
                 FieldErrors& errors) {
  const Value& value = value_at(rolling, {key});
  const std::string path = child_path(parent, key);
  if (value.is_string()) {
    const std::string_view text = text_of(value);
    const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
    const bool share = text.ends_with('%') && !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
    if (!share) {
      errors.push_back(invalid_value(path, value, "a percentage such as 10%, or a number"));
    } else if (bounded && (digits.size() > 3 || (digits.size() == 3 && digits > "100"))) {
      errors.push_back(invalid_value(path, value, "must not be greater than 100%"));
    }
    return share && digits.find_first_not_of('0') == digits.npos;
  }
  check_not_negative(rolling, parent, key, errors);
  return value.is_int64() && value.get_int64() == 0;
}

void check_strategy(const Object& spec, FieldErrors& errors) {
  static const std::string kPath = "spec.strategy.rollingUpdate";
  const Object* rolling = object_at(spec, {"strategy", "rollingUpdate"});
  if (rolling == nullptr) {
    return;
  }
  if (text_at(spec, {"strategy", "type"}) == "Recreate") {
    errors.push_back(forbidden(kPath, "goes with RollingUpdate alone"));
    return;
  }
  const bool none_more = check_share(*rolling, "maxSurge", kPath, false, errors);
  const bool none_less = check_share(*rolling, "maxUnavailable", kPath, true, errors);
  if (none_more && none_less) {
    errors.push_back(invalid_value(child_path(kPath, "maxUnavailable"), value_at(*rolling, {"maxUnavailable"}),
                                   "cannot be 0 where maxSurge is, too"));
  }
}

}  // namespace

void check_workload(std::string_view kind, const Object& object, FieldErrors& errors) {
  const Object& spec = spec_of(object);
  if (kind == "Job") {
    check_job(object, spec, errors);
    return;
  }
  if (kind == "CronJob") {
    check_cron_job(spec, errors);
    return;
  }
  for (const std::string_view key :
       {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}) {
    check_not_negative(spec, "spec", key, errors);
  }
  if (kind == "Deployment") {
    check_strategy(spec, errors);
  }
  const Value& order = value_at(spec, {"podManagementPolicy"});
  if (kind == "StatefulSet" && text_of(order) != "OrderedReady" && text_of(order) != "Parallel") {
    errors.push_back(invalid_value("spec.podManagementPolicy", order, "must be OrderedReady or Parallel"));
  }
  if (kind == "ReplicationController") {
    const Object* labels = object_at(spec, {"template", "metadata", "labels"});
    const Object as_labels{{"matchLabels", value_at(spec, {"selector"})}};
    if (!selects(as_labels, labels)) {
      errors.push_back(invalid_value("spec.template.metadata.labels",
                                     labels == nullptr ? Value(nullptr) : Value(*labels),
                                     "`selector` does not match template `labels`"));
    }
  } else {
    check_selector(spec, errors);
  }
  check_template(spec, "spec.template", errors);
  const Value& policy = value_at(spec, {"template", "spec", "restartPolicy"});
  if (text_of(policy) != "Always") {
    errors.push_back(not_supported("spec.template.spec.restartPolicy", policy, {"Always"}));
  }
}

void check_workload_update(std::string_view kind, const Object& old_object, const Object& new_object,
                           FieldErrors& errors) {
  if (kind == "Job") {
    check_job_update(old_object, new_object, errors);
  } else if (kind == "StatefulSet") {
    check_stateful_update(spec_of(old_object), spec_of(new_object), errors);
  } else if (kind == "CronJob" && same_at(old_object, new_object, {"spec", "timeZone"})) {
    // It was known when the CronJob was made.
    std::erase_if(errors, [](const FieldError& error) { return error.field == "spec.timeZone"; });
  } else if (kind == "Deployment" || kind == "ReplicaSet" || kind == "DaemonSet") {
    check_unchanged(old_object, new_object, {"spec", "selector"}, errors);
  }
}

}  // namespace gantree::apiserver
