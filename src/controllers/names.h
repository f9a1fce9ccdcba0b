// Labels, annotations and finalizers that the controllers of a real cluster set, and ours.
#pragma once

#include <string_view>

namespace gantree::controllers {

// batch
inline constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kIndexIgnoredFailures = "batch.kubernetes.io/job-index-ignored-failure-count";
inline constexpr std::string_view kJobControllerUid = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kJobController = "kubernetes.io/job-controller";
inline constexpr std::string_view kCronScheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp";

// apps
inline constexpr std::string_view kTemplateHash = "pod-template-hash";
inline constexpr std::string_view kRevisionHash = "controller-revision-hash";
inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";
inline constexpr std::string_view kStatefulPodName = "statefulset.kubernetes.io/pod-name";
inline constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";

// storage
inline constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";
inline constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";

// What pods ask for that name no scheduler.
inline constexpr std::string_view kPlainScheduler = "default-scheduler";

// nodes
inline constexpr std::string_view kTaintNotReady = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kTaintUnreachable = "node.kubernetes.io/unreachable";
inline constexpr std::string_view kTaintUnschedulable = "node.kubernetes.io/unschedulable";

// Ours: what a simulated node is told, and how long pods run.
inline constexpr std::string_view kSimulated = "gantree.dev/simulated";       // "true" on simulated nodes
inline constexpr std::string_view kFailedSince = "gantree.dev/failed-since";  // since then its kubelet is silent
inline constexpr std::string_view kNotReady = "gantree.dev/not-ready";        // any value: its kubelet says so
inline constexpr std::string_view kRunFor = "gantree.dev/run-for";
inline constexpr std::string_view kFailAfter = "gantree.dev/fail-after";
inline constexpr std::string_view kExitCode = "gantree.dev/exit-code";  // of what fails; 1 unless said
inline constexpr std::string_view kStopAfter =
    "gantree.dev/stop-after";  // what it takes to stop; never beyond the grace
inline constexpr std::string_view kStayPending = "gantree.dev/stay-pending";  // any value: never starts
// On the namespace kube-system: which parts of the cluster stand still, as "scheduler,controllers".
inline constexpr std::string_view kPause = "gantree.dev/pause";

}  // namespace gantree::controllers
