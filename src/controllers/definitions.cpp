#include "controllers/definitions.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "controllers/names.h"

namespace gantree::controllers {

namespace {

using apiserver::Array;
using apiserver::Object;
using apiserver::Value;

Object integer(std::int64_t least) {
  return Object{{"type", "integer"}, {"format", "int32"}, {"minimum", least}};
}

Object integer(std::int64_t least, std::int64_t otherwise) {
  Object schema = integer(least);
  schema["default"] = otherwise;
  return schema;
}

Object text() {
  return Object{{"type", "string"}};
}

Object flag() {
  return Object{{"type", "boolean"}};
}

Object one_of(std::initializer_list<std::string_view> values, std::string_view otherwise = {}) {
  Array all;
  for (const std::string_view value : values) {
    all.push_back(Value(value));
  }
  Object schema{{"type", "string"}, {"enum", std::move(all)}};
  if (!otherwise.empty()) {
    schema["default"] = otherwise;
  }
  return schema;
}

Object number_or_percent(std::int64_t otherwise) {
  Array any;
  any.push_back(Object{{"type", "integer"}});
  any.push_back(Object{{"type", "string"}});
  return Object{{"anyOf", std::move(any)}, {"x-kubernetes-int-or-string", true}, {"default", otherwise}};
}

// An object of which more than these members is kept.
Object open_object(Object properties, Array required = {}) {
  Object schema{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  schema["properties"] = std::move(properties);
  if (!required.empty()) {
    schema["required"] = std::move(required);
  }
  return schema;
}

Object list_of(Object items) {
  return Object{{"type", "array"}, {"items", std::move(items)}};
}

// One object for each value of a member.
Object map_by(std::string_view key, Object items) {
  Object schema = list_of(std::move(items));
  schema["x-kubernetes-list-type"] = "map";
  schema["x-kubernetes-list-map-keys"] = Array{Value(key)};
  return schema;
}

// A rule in CEL and what it says where it is broken, in CEL too.
Object rule(std::string_view condition, std::string_view says) {
  return Object{{"rule", condition}, {"messageExpression", says}};
}

Object anything() {
  return Object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
}

Array names(std::initializer_list<std::string_view> all) {
  Array array;
  for (const std::string_view one : all) {
    array.push_back(Value(one));
  }
  return array;
}

Object column(std::string_view name, std::string_view type, std::string_view path) {
  return Object{{"name", name}, {"type", type}, {"jsonPath", path}};
}

struct Definition {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  std::string_view singular;
  std::string_view short_name;
};

Object definition(const Definition& about, Object spec, Array columns, Object subresources) {
  Object properties{{"apiVersion", text()}, {"kind", text()}, {"metadata", Object{{"type", "object"}}}};
  properties["spec"] = std::move(spec);
  properties["status"] = anything();
  Object version{{"name", about.version}, {"served", true}, {"storage", true}};
  version["schema"] = Object{{"openAPIV3Schema", Object{{"type", "object"}, {"properties", std::move(properties)}}}};
  version["subresources"] = std::move(subresources);
  version["additionalPrinterColumns"] = std::move(columns);
  Array versions;
  versions.push_back(std::move(version));
  Object kind_names{{"kind", about.kind}, {"plural", about.plural}, {"singular", about.singular}};
  kind_names["listKind"] = std::string(about.kind) + "List";
  if (!about.short_name.empty()) {
    kind_names["shortNames"] = names({about.short_name});
  }
  Object whole{{"group", about.group}, {"scope", "Namespaced"}};
  whole["names"] = std::move(kind_names);
  whole["versions"] = std::move(versions);
  const std::string name = std::string(about.plural) + "." + std::string(about.group);
  return Object{{"apiVersion", "apiextensions.k8s.io/v1"},
                {"kind", "CustomResourceDefinition"},
                {"metadata", Object{{"name", name}}},
                {"spec", std::move(whole)}};
}

// How many pods one Job of a replicated job has at a time.
constexpr std::string_view kPodsOfJob =
    "(has(r.template.spec) && has(r.template.spec.parallelism) ? r.template.spec.parallelism : 1)";

Object job_set() {
  Object depends{{"name", text()}, {"status", one_of({"Ready", "Complete"})}};
  Object replicated{{"name", text()}, {"groupName", text()}};
  replicated["replicas"] = integer(0, 1);
  Object counts{{"parallelism", integer(0)}, {"completions", integer(0)}};
  replicated["template"] = open_object(Object{{"spec", open_object(std::move(counts))}});
  replicated["dependsOn"] = list_of(open_object(std::move(depends), names({"name", "status"})));
  Object success{{"operator", one_of({"All", "Any"})}, {"targetReplicatedJobs", list_of(text())}};
  Object failure{{"maxRestarts", integer(0, 0)}};
  failure["restartStrategy"] = one_of({"Recreate", "BlockingRecreate", "InPlaceRestart"}, "Recreate");
  Object rule_of_failure{{"name", text()}, {"onJobFailureReasons", list_of(text())}};
  rule_of_failure["action"] = one_of({"FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob",
                                      "RestartJobAndIgnoreMaxRestarts"});
  rule_of_failure["targetReplicatedJobs"] = list_of(text());
  failure["rules"] = list_of(open_object(std::move(rule_of_failure), names({"action"})));
  Object spec{{"suspend", flag()}, {"managedBy", text()}, {"ttlSecondsAfterFinished", integer(0)}};
  spec["replicatedJobs"] = map_by("name", open_object(std::move(replicated), names({"name", "template"})));
  spec["network"] = open_object(Object{{"enableDNSHostnames", flag()}, {"subdomain", text()}});
  spec["successPolicy"] = open_object(std::move(success));
  spec["failurePolicy"] = open_object(std::move(failure));
  spec["startupPolicy"] = open_object(Object{{"startupPolicyOrder", one_of({"AnyOrder", "InOrder"})}});
  spec["coordinator"] = anything();
  Object whole = open_object(std::move(spec));
  whole["x-kubernetes-validations"] =
      Array{rule("!has(self.successPolicy) || !has(self.successPolicy.targetReplicatedJobs) || "
                 "self.successPolicy.targetReplicatedJobs.all(n, self.replicatedJobs.exists(r, r.name == n))",
                 "'successPolicy.targetReplicatedJobs: there is no replicated job ' + "
                 "self.successPolicy.targetReplicatedJobs.filter(n, !self.replicatedJobs.exists(r, r.name == n))[0]")};
  whole["x-kubernetes-validations"].get_array().push_back(
      rule("!has(self.replicatedJobs) || self.replicatedJobs.map(r, r.replicas * " + std::string(kPodsOfJob) +
               ").sum() <= 2147483647",
           "'replicatedJobs: replicas times parallelism must be at most 2147483647 pods in all'"));
  Array columns;
  columns.push_back(column("TerminalState", "string", ".status.terminalState"));
  columns.push_back(column("Restarts", "integer", ".status.restarts"));
  columns.push_back(column("Suspended", "boolean", ".spec.suspend"));
  columns.push_back(column("Age", "date", ".metadata.creationTimestamp"));
  return definition({"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", "jobset", ""}, std::move(whole),
                    std::move(columns), Object{{"status", Object()}});
}

Object leader_worker_set() {
  Object subgroup{{"subGroupSize", integer(1)}};
  subgroup["subGroupPolicyType"] = one_of({"LeaderWorker", "LeaderExcluded"}, "LeaderWorker");
  Object groups{{"size", integer(1, 1)}, {"leaderTemplate", anything()}, {"workerTemplate", anything()}};
  groups["restartPolicy"] =
      one_of({"RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "Default", "None"}, "RecreateGroupOnPodRestart");
  groups["subGroupPolicy"] = open_object(std::move(subgroup));
  Object rolling{{"partition", integer(0, 0)}};
  rolling["maxUnavailable"] = number_or_percent(1);
  rolling["maxSurge"] = number_or_percent(0);
  Object rollout{{"type", one_of({"RollingUpdate"}, "RollingUpdate")}};
  rollout["rollingUpdateConfiguration"] = open_object(std::move(rolling));
  Object spec{{"replicas", integer(0, 1)}};
  spec["startupPolicy"] = one_of({"LeaderCreated", "LeaderReady"}, "LeaderCreated");
  spec["leaderWorkerTemplate"] = open_object(std::move(groups), names({"workerTemplate"}));
  spec["rolloutStrategy"] = open_object(std::move(rollout));
  spec["networkConfig"] = open_object(Object{{"subdomainPolicy", one_of({"Shared", "UniquePerReplica"})}});
  Object whole = open_object(std::move(spec), names({"leaderWorkerTemplate"}));
  whole["x-kubernetes-validations"] =
      Array{rule("self.replicas * self.leaderWorkerTemplate.size <= 2147483647",
                 "'replicas times leaderWorkerTemplate.size must be at most 2147483647 pods'")};
  Object scale{{"specReplicasPath", ".spec.replicas"},
               {"statusReplicasPath", ".status.replicas"},
               {"labelSelectorPath", ".status.hpaPodSelector"}};
  Array columns;
  columns.push_back(column("Ready", "string", ".status.readyReplicas"));
  columns.push_back(column("Desired", "integer", ".spec.replicas"));
  columns.push_back(column("Up-to-date", "integer", ".status.updatedReplicas"));
  columns.push_back(column("Age", "date", ".metadata.creationTimestamp"));
  return definition({"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", "leaderworkerset", "lws"},
                    std::move(whole), std::move(columns), Object{{"status", Object()}, {"scale", std::move(scale)}});
}

}  // namespace

std::vector<Object> workload_definitions() {
  std::vector<Object> all;
  all.push_back(job_set());
  all.push_back(leader_worker_set());
  return all;
}

apiserver::Object standard_storage_class() {
  Object metadata{{"name", "standard"}};
  metadata["annotations"] = Object{{kDefaultClass, "true"}};
  return Object{{"apiVersion", "storage.k8s.io/v1"}, {"kind", "StorageClass"},    {"metadata", std::move(metadata)},
                {"provisioner", kSimulated},         {"reclaimPolicy", "Delete"}, {"volumeBindingMode", "Immediate"},
                {"allowVolumeExpansion", true}};
}

}  // namespace gantree::controllers
