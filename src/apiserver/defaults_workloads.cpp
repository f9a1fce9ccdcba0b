// Jobs, and the kinds of apps/v1.
#include "apiserver/defaults.h"

namespace gantree::apiserver {

namespace {

void fill_template(Object& spec) {
  Object* pods = object_or_new(spec, "template");
  if (pods == nullptr) {
    return;
  }
  fall_back(*pods, "metadata", Object());
  if (Object* pod_spec = object_or_new(*pods, "spec"); pod_spec != nullptr) {
    fill_pod_spec(*pod_spec);
  }
}

// Jobs without labels of their own carry those of their pods.
void inherit_labels(Object& object) {
  const Object* labels = object_at(object, {"spec", "template", "metadata", "labels"});
  const Object* own = object_at(object, {"metadata", "labels"});
  if (labels != nullptr && !labels->empty() && (own == nullptr || own->empty())) {
    Object copy = *labels;
    object_in(object, "metadata")["labels"] = std::move(copy);
  }
}

void fill_failure_policy(Object& spec) {
  Value* rules = find(spec, {"podFailurePolicy", "rules"});
  if (rules == nullptr || !rules->is_array()) {
    return;
  }
  for (Value& rule : rules->get_array()) {
    Value* conditions = find(rule, {"onPodConditions"});
    if (conditions == nullptr || !conditions->is_array()) {
      continue;
    }
    for (Value& condition : conditions->get_array()) {
      if (condition.is_object() && text_at(condition, {"status"}).empty()) {
        condition.get_object()["status"] = "True";
      }
    }
  }
}

void fill_job(Object& job) {
  Object* spec = object_or_new(job, "spec");
  if (spec == nullptr) {
    return;
  }
  const auto missing = [&](std::string_view key) {
    const Value* value = spec->if_contains(key);
    return value == nullptr || value->is_null();
  };
  if (missing("completions") && missing("parallelism")) {
    (*spec)["completions"] = 1;
  }
  fall_back(*spec, "parallelism", 1);
  fall_back(*spec, "backoffLimit", missing("backoffLimitPerIndex") ? 6 : 2147483647);
  fall_back(*spec, "completionMode", "NonIndexed");
  fall_back(*spec, "suspend", false);
  fall_back(*spec, "manualSelector", false);
  fall_back(*spec, "podReplacementPolicy", missing("podFailurePolicy") ? "TerminatingOrFailed" : "Failed");
  fill_failure_policy(*spec);
  fill_template(*spec);
  inherit_labels(job);
}

void fill_cron_job(Object& job) {
  Object* spec = object_or_new(job, "spec");
  if (spec == nullptr) {
    return;
  }
  fall_back(*spec, "concurrencyPolicy", "Allow");
  fall_back(*spec, "suspend", false);
  fall_back(*spec, "successfulJobsHistoryLimit", 3);
  fall_back(*spec, "failedJobsHistoryLimit", 1);
  Object* jobs = object_or_new(*spec, "jobTemplate");
  if (jobs == nullptr) {
    return;
  }
  fall_back(*jobs, "metadata", Object());
  if (Object* job_spec = object_or_new(*jobs, "spec"); job_spec != nullptr) {
    fill_template(*job_spec);
  }
}

void fill_rolling(Object& spec, std::string_view key, const Object& rolling) {
  Object* strategy = object_or_new(spec, key);
  if (strategy == nullptr) {
    return;
  }
  fall_back(*strategy, "type", "RollingUpdate");
  if (text_at(*strategy, {"type"}) != "RollingUpdate") {
    return;
  }
  if (Object* given = object_or_new(*strategy, "rollingUpdate"); given != nullptr) {
    for (const auto& member : rolling) {
      fall_back(*given, member.key(), member.value());
    }
  }
}

void fill_stateful_set(Object& spec) {
  fall_back(spec, "podManagementPolicy", "OrderedReady");
  fall_back(spec, "replicas", 1);
  fall_back(spec, "revisionHistoryLimit", 10);
  fill_rolling(spec, "updateStrategy", {{"partition", 0}});
  if (Object* retention = object_or_new(spec, "persistentVolumeClaimRetentionPolicy"); retention != nullptr) {
    fall_back(*retention, "whenDeleted", "Retain");
    fall_back(*retention, "whenScaled", "Retain");
  }
  Value* claims = spec.if_contains("volumeClaimTemplates");
  for (std::size_t i = 0; claims != nullptr && claims->is_array() && i < claims->get_array().size(); ++i) {
    Value& claim = claims->get_array()[i];
    if (!claim.is_object()) {
      continue;
    }
    fall_back(claim.get_object(), "apiVersion", "v1");
    fall_back(claim.get_object(), "kind", "PersistentVolumeClaim");
    if (Object* claim_spec = object_or_new(claim.get_object(), "spec"); claim_spec != nullptr) {
      fall_back(*claim_spec, "volumeMode", "Filesystem");
    }
    if (Object* status = object_or_new(claim.get_object(), "status"); status != nullptr) {
      fall_back(*status, "phase", "Pending");
    }
  }
}

void fill_replication_controller(Object& object, Object& spec) {
  fall_back(spec, "replicas", 1);
  const Object* labels = object_at(spec, {"template", "metadata", "labels"});
  if (labels == nullptr || labels->empty()) {
    return;
  }
  const Object copy = *labels;
  fall_back(spec, "selector", copy);
  inherit_labels(object);
}

}  // namespace

void fill_workload(std::string_view kind, Object& object) {
  if (kind == "Job") {
    fill_job(object);
    return;
  }
  if (kind == "CronJob") {
    fill_cron_job(object);
    return;
  }
  Object* spec = object_or_new(object, "spec");
  if (spec == nullptr) {
    return;
  }
  if (kind == "Deployment") {
    fall_back(*spec, "replicas", 1);
    fill_rolling(*spec, "strategy", {{"maxUnavailable", "25%"}, {"maxSurge", "25%"}});
    fall_back(*spec, "revisionHistoryLimit", 10);
    fall_back(*spec, "progressDeadlineSeconds", 600);
  } else if (kind == "ReplicaSet") {
    fall_back(*spec, "replicas", 1);
  } else if (kind == "StatefulSet") {
    fill_stateful_set(*spec);
  } else if (kind == "DaemonSet") {
    fill_rolling(*spec, "updateStrategy", {{"maxUnavailable", 1}, {"maxSurge", 0}});
    fall_back(*spec, "revisionHistoryLimit", 10);
    if (Object* annotations = object_or_new(object_in(object, "metadata"), "annotations"); annotations != nullptr) {
      fall_back(*annotations, "deprecated.daemonset.template.generation", "1");
    }
  } else if (kind == "ReplicationController") {
    fill_replication_controller(object, *spec);
  }
  // New members of the object may have moved the old ones.
  if (spec = object_or_new(object, "spec"); spec != nullptr) {
    fill_template(*spec);
  }
}

}  // namespace gantree::apiserver
