#include "controllers/duties.h"

#include <algorithm>

#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr Duty kDuties[] = {
    {Task::kKubelet, Kind::kPod, tend_pod, "kubelet"},
    {Task::kBinding, Kind::kPod, bind_pod, "default-scheduler"},
    {Task::kPodCare, Kind::kPod, care_for_pod, "taint-eviction-controller"},
    {Task::kNodeCare, Kind::kNode, care_for_node, "node-controller"},
    {Task::kJob, Kind::kJob, sync_job, "job-controller"},
    {Task::kCronJob, Kind::kCronJob, sync_cron_job, "cronjob-controller"},
    {Task::kReplicaSet, Kind::kReplicaSet, sync_replica_set, "replicaset-controller"},
    {Task::kReplicationController, Kind::kReplicationController, sync_replica_set, "replication-controller"},
    {Task::kDeployment, Kind::kDeployment, sync_deployment, "deployment-controller"},
    {Task::kStatefulSet, Kind::kStatefulSet, sync_stateful_set, "statefulset-controller"},
    {Task::kDaemonSet, Kind::kDaemonSet, sync_daemon_set, "daemonset-controller"},
    {Task::kDisruption, Kind::kPodDisruptionBudget, sync_disruption_budget, "controllermanager"},
    {Task::kClaim, Kind::kPersistentVolumeClaim, sync_claim, "persistentvolume-controller"},
    {Task::kVolume, Kind::kPersistentVolume, sync_volume, "persistentvolume-controller"},
    {Task::kService, Kind::kService, sync_service, "endpoint-slice-controller"},
    {Task::kEndpoints, Kind::kEndpoints, sync_endpoints, "endpoint-controller"},
    {Task::kJobSet, Kind::kJobSet, sync_job_set, "jobset"},
    {Task::kLeaderWorkerSet, Kind::kLeaderWorkerSet, sync_leader_worker_set, "leaderworkerset"},
    {Task::kLeader, Kind::kPod, sync_leader, "leaderworkerset"},
};

constexpr Adoption kAdoptions[] = {
    {Kind::kPod, Kind::kReplicaSet},
    {Kind::kPod, Kind::kReplicationController},
    {Kind::kPod, Kind::kStatefulSet},
    {Kind::kPod, Kind::kDaemonSet},
    {Kind::kReplicaSet, Kind::kDeployment},
    {Kind::kControllerRevision, Kind::kStatefulSet},
    {Kind::kControllerRevision, Kind::kDaemonSet},
};

}  // namespace

std::span<const Duty> all_duties() {
  return kDuties;
}

const Duty& duty_of(Task task) {
  return *std::find_if(std::begin(kDuties), std::end(kDuties), [&](const Duty& duty) { return duty.task == task; });
}

std::span<const Adoption> all_adoptions() {
  return kAdoptions;
}

Part part_of(Task task) {
  if (task == Task::kBinding) {
    return Part::kScheduler;
  }
  return task == Task::kKubelet ? Part::kKubelets : Part::kControllers;
}

std::optional<Task> task_of_owner(Kind kind) {
  for (const Duty& duty : kDuties) {
    if (duty.kind == kind && kind != Kind::kPod && kind != Kind::kNode) {
      return duty.task;
    }
  }
  return std::nullopt;
}

Parts parse_parts(std::string_view text) {
  Parts parts;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word == "scheduler") {
      parts.insert(Part::kScheduler);
    } else if (word == "controllers") {
      parts.insert(Part::kControllers);
    } else if (word == "kubelets") {
      parts.insert(Part::kKubelets);
    }
  }
  return parts;
}

}  // namespace gantree::controllers
