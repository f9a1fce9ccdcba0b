// What this family does to jobs as they are created, so that nothing of them starts before they are admitted; what it
// refuses at once; and which changes it refuses later.
//
// Only objects that name a queue are touched. Those with a prebuilt workload, and those that something else makes
// that waits itself (the Jobs of a JobSet, the pods of a Job), are left alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialects/mutation.h"

namespace gantree::kueue {

// Of a new object without the label: the queue that its annotation names, else `default` where its namespace has a
// LocalQueue of that name; "" where it is left alone.
[[nodiscard]] std::string_view queue_to_join(const Object& object, bool has_default);
// Of a new object that stays in no queue: that what its templates ask of a topology counts for nothing; "" where they
// ask for nothing.
[[nodiscard]] std::string unheeded_topology(const NamedObject& named);
// Of a new object in a queue: whether it gets the class `default` where there is one.
[[nodiscard]] bool takes_default_class(const Object& object);

// Job, JobSet, and the kinds of Kubeflow and Ray: created suspended.
[[nodiscard]] Mutation suspend_job(const NamedObject& named, const Object* old);
[[nodiscard]] std::optional<std::string> forbid_job_change(const NamedObject& named, const Object& old);
// Of changes that users make. Who suspends a job that runs may have it queued again by unsuspending it: both are
// written down in the annotation kSuspension, and it stays suspended until its queue starts it. In any other case
// nobody but the queue unsuspends a job that waits in it.
[[nodiscard]] Mutation heed_suspension(const NamedObject& named, const Object& old);
[[nodiscard]] std::optional<std::string> forbid_start(const NamedObject& named, const Object& old);

// Pod: gated, marked as managed, kept by a finalizer until it is accounted for, and told its role in its group.
[[nodiscard]] Mutation gate_pod(const NamedObject& named, const Object* old);
[[nodiscard]] Admission validate_pod(const NamedObject& named);
[[nodiscard]] std::optional<std::string> forbid_pod_change(const NamedObject& named, const Object& old);
// Nobody but the queue takes off its gates and marks.
[[nodiscard]] std::optional<std::string> forbid_release(const NamedObject& named, const Object& old);

// Deployment and ReplicaSet: each of their pods waits for itself.
[[nodiscard]] Mutation pass_queue_on(const NamedObject& named, const Object* old);
[[nodiscard]] std::optional<std::string> forbid_serving_change(const NamedObject& named, const Object& old);

// StatefulSet: its pods are one group.
[[nodiscard]] Mutation group_stateful_set(const NamedObject& named, const Object* old);
[[nodiscard]] std::optional<std::string> forbid_stateful_set_change(const NamedObject& named, const Object& old);

// LeaderWorkerSet: the pods of each replica are one group.
[[nodiscard]] Mutation group_leader_worker_set(const NamedObject& named, const Object* old);
[[nodiscard]] std::optional<std::string> forbid_leader_worker_set_change(const NamedObject& named, const Object& old);

// All kinds but Pod. Refuses what contradicts itself whatever the cluster: names, numbers, the topology annotations of
// each template. What depends on the queue, and a job of which only some templates ask for a topology, is found later.
[[nodiscard]] Admission validate_job(const NamedObject& named);

}  // namespace gantree::kueue
