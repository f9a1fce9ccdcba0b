// The labels and annotations of the Kueue family.
#pragma once

#include <cstddef>
#include <string_view>

namespace gantree::kueue {

inline constexpr std::string_view kFamily = "kueue";
inline constexpr std::string_view kGroup = "kueue.x-k8s.io";
inline constexpr std::string_view kJobSetGroup = "jobset.x-k8s.io";
inline constexpr std::string_view kReplicatedGroup = "leaderworkerset.x-k8s.io";  // of LeaderWorkerSets
inline constexpr std::string_view kTrainingGroup = "kubeflow.org";
inline constexpr std::string_view kRayGroup = "ray.io";

// The LocalQueue of those in its namespace that name none.
inline constexpr std::string_view kDefaultQueue = "default";

// On a Job or JobSet.
inline constexpr std::string_view kQueueName = "kueue.x-k8s.io/queue-name";          // label; annotation in old files
inline constexpr std::string_view kPriorityClass = "kueue.x-k8s.io/priority-class";  // label
// The WorkloadPriorityClass of jobs that name none.
inline constexpr std::string_view kDefaultPriorityClass = "default";
inline constexpr std::string_view kMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view kCompletionsFollow =
    "kueue.x-k8s.io/job-completions-equal-parallelism";                                  // annotation, with "true"
inline constexpr std::string_view kMaxSeconds = "kueue.x-k8s.io/max-exec-time-seconds";  // label
inline constexpr std::string_view kPrebuiltWorkload = "kueue.x-k8s.io/prebuilt-workload-name";  // label or annotation

inline constexpr std::string_view kStartedFor = "gantree.dev/started-for";  // ours: uid of the Workload; annotation

// Ours, on a job: what its user did last, `suspended` or `resumed`. Annotation, written by the webhook.
inline constexpr std::string_view kSuspension = "gantree.dev/suspension";
inline constexpr std::string_view kSuspended = "suspended";
inline constexpr std::string_view kResumed = "resumed";

// On plain pods that start together.
inline constexpr std::string_view kPodGroup = "kueue.x-k8s.io/pod-group-name";              // annotation, or label
inline constexpr std::string_view kPodGroupTotal = "kueue.x-k8s.io/pod-group-total-count";  // annotation
inline constexpr std::string_view kPodGroupIndex = "kueue.x-k8s.io/pod-group-pod-index";    // label
inline constexpr std::string_view kPodGroupIndexLabel = "kueue.x-k8s.io/pod-group-pod-index-label";  // annotation
inline constexpr std::string_view kPodGroupServing = "kueue.x-k8s.io/pod-group-serving";             // annotation
inline constexpr std::string_view kPodGroupFast = "kueue.x-k8s.io/pod-group-fast-admission";         // annotation
inline constexpr std::string_view kRetriable = "kueue.x-k8s.io/retriable-in-group";                  // annotation
inline constexpr std::string_view kRoleHash = "kueue.x-k8s.io/role-hash";                            // annotation
inline constexpr std::string_view kSuspendingParent = "kueue.x-k8s.io/pod-suspending-parent";        // annotation

// On a pod that waits for admission: gate, label (with "true") and finalizer; and the gate until it has its slot.
inline constexpr std::string_view kAdmissionGate = "kueue.x-k8s.io/admission";
inline constexpr std::string_view kManaged = "kueue.x-k8s.io/managed";
inline constexpr std::string_view kTopologyGate = "kueue.x-k8s.io/topology";

// On a pod template.
inline constexpr std::string_view kRequired = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view kPreferred = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr std::string_view kUnconstrained = "kueue.x-k8s.io/podset-unconstrained-topology";
inline constexpr std::string_view kSliceLevel = "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view kSliceSize = "kueue.x-k8s.io/podset-slice-size";
inline constexpr std::string_view kSliceLayers = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
inline constexpr std::string_view kGroupName = "kueue.x-k8s.io/podset-group-name";
inline constexpr std::string_view kIndexOffset =
    "kueue.x-k8s.io/pod-index-offset";  // the rank that counts as the first
inline constexpr std::string_view kPodSetPrefix = "kueue.x-k8s.io/podset-";
inline constexpr std::string_view kPodSetAnnotations[] = {kRequired,  kPreferred,   kUnconstrained, kSliceLevel,
                                                          kSliceSize, kSliceLayers, kGroupName};
inline constexpr std::string_view kPlacement = "gantree.dev/placement";  // ours: pack, spread or balanced

// On pods of a started job, so that they are found.
inline constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";                    // label
inline constexpr std::string_view kLocalQueueLabel = "kueue.x-k8s.io/local-queue-name";      // label
inline constexpr std::string_view kClusterQueueLabel = "kueue.x-k8s.io/cluster-queue-name";  // label
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";           // annotation

// Ours, on a job that was started: what the start added, so that it can be taken away again. Annotation.
inline constexpr std::string_view kStartedWith = "gantree.dev/started-with";

// On what Kueue made: it is not to go as long as something runs with it. Finalizer.
inline constexpr std::string_view kInUse = "kueue.x-k8s.io/resource-in-use";

// On a Workload: its job, for whoever looks for it by label.
inline constexpr std::string_view kJobUid = "kueue.x-k8s.io/job-uid";
// On one whose job is a group of pods of the same name: annotation, with "true".
inline constexpr std::string_view kOfGroup = "kueue.x-k8s.io/is-group-workload";

// The level value that leaves the choice to the scheduler.
inline constexpr std::string_view kAuto = "auto";

// Limits. Those of the resource definitions, but for the pod sets, where they grow from release to release.
inline constexpr std::size_t kMaxSliceLayers = 3;
inline constexpr std::size_t kMaxPodSets = 256;
inline constexpr std::size_t kMaxResourceGroups = 16;
inline constexpr std::size_t kMaxCoveredResources = 64;
inline constexpr std::size_t kMaxFlavors = 64;
inline constexpr std::size_t kMaxInAllGroups = 256;
inline constexpr std::size_t kMaxQuotasOfAGroup = 512;

}  // namespace gantree::kueue
