#include "dialects/workloads/workload.h"

#include "dialects/workloads/workload_reader.h"

namespace gantree {

namespace {

constexpr std::string_view kTraining = "kubeflow.org";
constexpr std::string_view kRay = "ray.io";

struct KindReader {
  ApiKind api;
  void (*read)(WorkloadReader&);
};

const std::vector<KindReader>& readers() {
  static const std::vector<KindReader> kReaders = {
      {{"batch", "Job", {"v1"}}, read_job},
      {{"batch", "CronJob", {"v1"}}, read_cron_job},
      {{"jobset.x-k8s.io", "JobSet", {"v1alpha2"}}, read_job_set},
      {{"apps", "Deployment", {"v1"}}, read_replicas},
      {{"apps", "ReplicaSet", {"v1"}}, read_replicas},
      {{"apps", "StatefulSet", {"v1"}}, read_replicas},
      {{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", {"v1"}}, read_leader_worker_set},
      {{kTraining, "PyTorchJob", {"v1"}}, read_kubeflow_job},
      {{kTraining, "TFJob", {"v1"}}, read_kubeflow_job},
      {{kTraining, "XGBoostJob", {"v1"}}, read_kubeflow_job},
      {{kTraining, "JAXJob", {"v1"}}, read_kubeflow_job},
      {{kTraining, "PaddleJob", {"v1"}}, read_kubeflow_job},
      {{kTraining, "MPIJob", {"v2beta1", "v1"}}, read_kubeflow_job},
      {{kRay, "RayCluster", {"v1", "v1alpha1"}}, read_ray},
      {{kRay, "RayJob", {"v1", "v1alpha1"}}, read_ray},
      {{kRay, "RayService", {"v1", "v1alpha1"}}, read_ray},
  };
  return kReaders;
}

}  // namespace

int Workload::pods() const {
  int sum = 0;
  for (const PodTemplate& part : templates) {
    sum += part.count();
  }
  return sum;
}

json::Value Workload::mark(std::string_view name) const {
  const json::Value label = text_at(labels, name);
  return label ? label : text_at(annotations, name);
}

json::Value text_at(json::Value map, std::string_view key) {
  const json::Value value = map ? map[key] : json::Value();
  return value && value.kind() == json::Kind::kString && !value.text().empty() ? value : json::Value();
}

std::string_view text_in(json::Value map, std::string_view key) {
  const json::Value value = text_at(map, key);
  return value ? value.text() : std::string_view();
}

std::span<const ApiKind> workload_kinds() {
  static const std::vector<ApiKind> kKinds = [] {
    std::vector<ApiKind> kinds;
    for (const KindReader& reader : readers()) {
      kinds.push_back(reader.api);
    }
    return kinds;
  }();
  return kKinds;
}

Result<Workload> read_workload(const NamedObject& named) {
  WorkloadReader reader(named);
  for (const KindReader& one : readers()) {
    if (one.api.kind == named.object.kind && one.api.group == named.object.group) {
      one.read(reader);
      return reader.finish();
    }
  }
  read_pod_workload(reader);
  return reader.finish();
}

Result<Workload> read_train_job(const NamedObject& named, json::Value runtime_spec) {
  WorkloadReader reader(named);
  read_train_job(reader, runtime_spec);
  return reader.finish();
}

}  // namespace gantree
