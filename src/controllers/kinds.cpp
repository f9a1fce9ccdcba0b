#include "controllers/kinds.h"

#include <fmt/format.h>

namespace gantree::controllers {

const std::array<KindFacts, kKinds>& all_kind_facts() {
  static constexpr std::array<KindFacts, kKinds> kFacts = {{
      {Kind::kPod, "", "v1", "pods", "Pod", true, true},
      {Kind::kNode, "", "v1", "nodes", "Node", false, true},
      {Kind::kJob, "batch", "v1", "jobs", "Job", true, true},
      {Kind::kCronJob, "batch", "v1", "cronjobs", "CronJob", true, true},
      {Kind::kReplicaSet, "apps", "v1", "replicasets", "ReplicaSet", true, true},
      {Kind::kReplicationController, "", "v1", "replicationcontrollers", "ReplicationController", true, true},
      {Kind::kDeployment, "apps", "v1", "deployments", "Deployment", true, true},
      {Kind::kStatefulSet, "apps", "v1", "statefulsets", "StatefulSet", true, true},
      {Kind::kDaemonSet, "apps", "v1", "daemonsets", "DaemonSet", true, true},
      {Kind::kControllerRevision, "apps", "v1", "controllerrevisions", "ControllerRevision", true, true},
      {Kind::kPodDisruptionBudget, "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true, true},
      {Kind::kPersistentVolumeClaim, "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true, true},
      {Kind::kPersistentVolume, "", "v1", "persistentvolumes", "PersistentVolume", false, true},
      {Kind::kStorageClass, "storage.k8s.io", "v1", "storageclasses", "StorageClass", false, true},
      {Kind::kJobSet, "jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", true, true},
      {Kind::kLeaderWorkerSet, "leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", true, true},
      {Kind::kService, "", "v1", "services", "Service", true, true},
      {Kind::kEndpoints, "", "v1", "endpoints", "Endpoints", true, true},
      {Kind::kEndpointSlice, "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true, true},
      {Kind::kConfigMap, "", "v1", "configmaps", "ConfigMap", true, true},
      {Kind::kSecret, "", "v1", "secrets", "Secret", true, true},
      {Kind::kEvent, "", "v1", "events", "Event", true, false},
  }};
  return kFacts;
}

const KindFacts& facts(Kind kind) {
  return all_kind_facts().at(static_cast<std::size_t>(kind));
}

std::optional<Kind> find_kind(std::string_view group, std::string_view name) {
  for (const KindFacts& one : all_kind_facts()) {
    if (one.group == group && one.name == name) {
      return one.kind;
    }
  }
  return std::nullopt;
}

std::string api_version(Kind kind) {
  const KindFacts& about = facts(kind);
  return about.group.empty() ? std::string(about.version) : fmt::format("{}/{}", about.group, about.version);
}

std::string api_path(Kind kind, std::string_view ns, std::string_view name, std::string_view subresource) {
  const KindFacts& about = facts(kind);
  std::string path = about.group.empty() ? fmt::format("/api/{}", about.version)
                                         : fmt::format("/apis/{}/{}", about.group, about.version);
  if (about.namespaced && !ns.empty()) {
    path += fmt::format("/namespaces/{}", ns);
  }
  path += fmt::format("/{}", about.plural);
  for (const std::string_view part : {name, subresource}) {
    if (!part.empty()) {
      path += fmt::format("/{}", part);
    }
  }
  return path;
}

}  // namespace gantree::controllers
