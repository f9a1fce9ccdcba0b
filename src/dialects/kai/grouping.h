// What the groupers of all kinds share.
#pragma once

#include <optional>
#include <string_view>

#include "dialects/kai/draft.h"
#include "dialects/kai/group_spec.h"
#include "dialects/objection.h"

namespace gantree::kai {

// A workload on its way to a draft.
struct Grouping {
  explicit Grouping(const Workload& from) : workload(from), draft(), objection(from.object.file, from.objection) {}

  const Workload& workload;
  Draft draft;
  Objection objection;
  bool partly_runs = false;
  const LivePods* live = nullptr;  // on a live cluster, where pods come one after another

  // A set of a template, with the segments that its pods ask for.
  DraftSet set(const PodTemplate& pods, std::string_view name, int count, int min);
  // The number in an annotation, at least 1; nothing where it is absent, or wrong (an objection).
  std::optional<int> count_at(json::Value annotations, std::string_view key);
  // The number at spec.<path>; nothing where it is absent.
  std::optional<int> spec_count(std::initializer_list<std::string_view> path);
};

// By kind.
void group_plain(Grouping& grouping);     // Job, CronJob, StatefulSet, ReplicaSet, Pod
void group_job_set(Grouping& grouping);   // JobSet, TrainJob
void group_training(Grouping& grouping);  // PyTorchJob and the other training jobs
void group_ray(Grouping& grouping);
// One replica of it.
void group_leader_and_workers(Grouping& grouping);

}  // namespace gantree::kai
