#include "dialects/kueue/waiting_job.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/workloads/workload.h"

namespace gantree::kueue {

namespace {

struct Maker {
  std::string_view group;
  std::string_view kind;
  bool job = false;  // waits itself as a whole, or its parts cannot
};

constexpr Maker kMakers[] = {
    {"batch", "Job", true},
    {kJobSetGroup, "JobSet", true},
    {kTrainingGroup, "PyTorchJob", true},
    {kTrainingGroup, "TFJob", true},
    {kTrainingGroup, "XGBoostJob", true},
    {kTrainingGroup, "PaddleJob", true},
    {kTrainingGroup, "JAXJob", true},
    {kTrainingGroup, "MPIJob", true},
    {kRayGroup, "RayJob", true},
    {kRayGroup, "RayCluster", true},
    // It stops and starts its JobSet itself, whatever anybody else writes there.
    {"trainer.kubeflow.org", "TrainJob", true},
    {kRayGroup, "RayService"},
    {"apps", "Deployment"},
    {"apps", "ReplicaSet"},
    {"apps", "StatefulSet"},
    {"apps", "DaemonSet"},
    {kReplicatedGroup, "LeaderWorkerSet"},
    {"", "Pod"},  // the leader of a replica, of the StatefulSet with its workers
    {"", "Node"},
};

// nullptr where nothing of these makes it. Who merely refers to it, say to have it collected, does not make it.
const Maker* maker_of(const Object& object) {
  const json::Value metadata = object.metadata();
  const json::Value owners = metadata ? metadata["ownerReferences"] : json::Value();
  const bool listed = owners && owners.kind() == json::Kind::kArray;
  for (const json::NodeData& item : listed ? owners.items() : std::span<const json::NodeData>()) {
    if (item.kind != json::Kind::kObject) {
      continue;
    }
    const json::Value owner(&item);
    const json::Value controls = owner["controller"];
    const json::Value kind = text_at(owner, "kind");
    const json::Value api = text_at(owner, "apiVersion");
    if (!controls || controls.kind() != json::Kind::kBool || controls.text() != "true" || !kind || !api) {
      continue;
    }
    const std::size_t slash = api.text().find('/');
    const std::string_view group = slash == std::string_view::npos ? "" : api.text().substr(0, slash);
    const auto maker = std::find_if(std::begin(kMakers), std::end(kMakers),
                                    [&](const Maker& one) { return one.group == group && one.kind == kind.text(); });
    return maker == std::end(kMakers) ? nullptr : maker;
  }
  return nullptr;
}

bool has_mark(const Object& job, std::string_view key) {
  return text_at(map_at(job.metadata(), "labels"), key).present() ||
         text_at(map_at(job.metadata(), "annotations"), key).present();
}

}  // namespace

bool is_part_of_job(const Object& object) {
  const Maker* maker = maker_of(object);
  return maker != nullptr && maker->job;
}

bool is_part_of_workload(const Object& object) {
  return maker_of(object) != nullptr;
}

bool is_guest(const Object& job) {
  return job.kind == "RayJob" && !map_at(map_at(job.value, "spec"), "rayClusterSpec");
}

bool waits_by_itself(const Object& job) {
  return has_mark(job, kQueueName) && !has_mark(job, kPrebuiltWorkload) && !is_part_of_job(job) && !is_guest(job);
}

}  // namespace gantree::kueue
