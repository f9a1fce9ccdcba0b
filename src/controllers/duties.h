// Who does what: the controllers by name, the objects that they look at, and the parts of the cluster they make up.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "controllers/turn.h"

namespace gantree::controllers {

// What looks at one object. Several may look at objects of one kind: the job controller and the kubelet at pods.
enum class Task : std::uint8_t {
  kKubelet,   // pods
  kBinding,   // pods that ask for the plain scheduler
  kPodCare,   // pods: finalizers of jobs that are gone, nodes that are gone, eviction by taints
  kNodeCare,  // nodes: readiness, taints
  kJob,
  kCronJob,
  kReplicaSet,
  kReplicationController,
  kDeployment,
  kStatefulSet,
  kDaemonSet,
  kDisruption,  // PodDisruptionBudgets
  kClaim,       // PersistentVolumeClaims
  kVolume,      // PersistentVolumes
  kService,     // where Services lead to
  kEndpoints,   // Endpoints of Services that are gone
  kJobSet,
  kLeaderWorkerSet,
  kLeader,  // leader pods of LeaderWorkerSets: their workers
};

// What can be told to stand still.
enum class Part : std::uint8_t { kScheduler, kControllers, kKubelets };
using Parts = std::set<Part>;
// "scheduler,controllers"; words that name no part are passed over.
[[nodiscard]] Parts parse_parts(std::string_view text);

struct Duty {
  Task task;
  Kind kind;
  void (*perform)(const Item&, Turn&);
  std::string_view component;  // by which name events are told
};

[[nodiscard]] std::span<const Duty> all_duties();
[[nodiscard]] const Duty& duty_of(Task task);
[[nodiscard]] Part part_of(Task task);
// Who looks after objects of that kind as their controller.
[[nodiscard]] std::optional<Task> task_of_owner(Kind kind);

// Objects of one kind may be taken in by those of another.
struct Adoption {
  Kind adopted;
  Kind adopter;
};
[[nodiscard]] std::span<const Adoption> all_adoptions();

}  // namespace gantree::controllers
