// What the readers of all kinds of workloads share.
#pragma once

#include <cstdint>
#include <string_view>

#include "dialects/objection.h"
#include "dialects/pod_count.h"
#include "dialects/workloads/workload.h"

namespace gantree {

class WorkloadReader {
 public:
  explicit WorkloadReader(const NamedObject& named);

  json::Reader& read() { return read_; }
  Objection& objection() { return objection_; }
  [[nodiscard]] const Object& object() const { return workload_.object; }
  Workload& workload() { return workload_; }
  [[nodiscard]] json::Value spec() const { return spec_; }
  [[nodiscard]] json::Value status() const { return status_; }

  // A number of pods or parts: negative ones are an objection, not malformed.
  int count(json::Value parent, std::string_view key, int fallback);
  // The pods of a Job spec that run at the same time.
  int parallelism(json::Value job_spec);
  // Whether one of the conditions of the status holds.
  bool any_condition(std::initializer_list<std::string_view> types);
  // A role whose pod template stands in `holder`. `fields` are those that say how many pods it has, for messages.
  PodTemplate& add(std::string_view role, json::Value holder, int replicas, int each, std::string_view fields);
  // The parts of that, for templates that stand elsewhere: what is read from one, and how often it is there.
  void fill(PodTemplate& added, std::string_view role, json::Value pod_template);
  void set_count(PodTemplate& added, int replicas, int each, std::string_view fields);

  // The workload, or what is malformed.
  Result<Workload> finish();

 private:
  Workload workload_;
  json::Reader read_;
  Objection objection_;
  json::Value spec_;
  json::Value status_;
};

// By kind. Each expects an object of its kind.
void read_job(WorkloadReader& reader);
void read_cron_job(WorkloadReader& reader);
void read_job_set(WorkloadReader& reader);
void read_replicas(WorkloadReader& reader);  // Deployment, ReplicaSet, StatefulSet
void read_leader_worker_set(WorkloadReader& reader);
void read_kubeflow_job(WorkloadReader& reader);  // PyTorchJob, TFJob, XGBoostJob, JAXJob, PaddleJob, MPIJob
void read_ray(WorkloadReader& reader);           // RayCluster, RayJob, RayService
void read_train_job(WorkloadReader& reader, json::Value runtime_spec);
void read_pod_workload(WorkloadReader& reader);

// The replicated jobs of a JobSet spec, wherever that stands.
void read_replicated_jobs(WorkloadReader& reader, json::Value job_set_spec);

}  // namespace gantree
