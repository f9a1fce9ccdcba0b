// Jobs that have a template for each role: the training jobs of Kubeflow, and Ray's clusters and jobs. They are kinds
// of other operators, which make the pods; where those are not installed, there are none.
#include <algorithm>
#include <cctype>
#include <string>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "kueue/job.h"

namespace gantree::kueue {

namespace {

// By this label pods tell their rank among those of their role.
constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

class RoleJob : public JobKind {
 public:
  [[nodiscard]] std::vector<SetSpec> sets(json::Reader& read, const Workload& job) const override {
    std::vector<SetSpec> sets;
    for (const PodTemplate& part : job.templates) {
      SetSpec& set = sets.emplace_back();
      set.name = lower(part.role);
      set.pod_template = read.object(part.at, "template");
      set.count = part.count();
      set.index_label = index_label();
    }
    return sets;
  }

  [[nodiscard]] json::Out::Array reshape(const Object& job, const JobShape& shape, json::Out&) const override {
    json::Out::Array operations;
    const auto workload = gantree::read_workload({.object = job, .ns = {}, .name = {}});
    for (std::size_t i = 0; workload && i < workload->templates.size() && i < shape.templates.size(); ++i) {
      operations.push_back(set_field(workload->templates[i].pointer, shape.templates[i]));
    }
    for (json::Out& operation : set_suspend(job, *this, shape.suspend)) {
      operations.push_back(std::move(operation));
    }
    return operations;
  }

  [[nodiscard]] std::optional<json::Out> forget_start(const Object&) const override { return std::nullopt; }

 protected:
  [[nodiscard]] virtual std::string_view index_label() const { return {}; }

  // What it has at once. Whether all of them are ready, the operator alone tells.
  static void count(json::Reader& read, const Object& job, bool ready, JobProgress& progress) {
    const auto workload = gantree::read_workload({.object = job, .ns = {}, .name = {}});
    if (!workload) {
      read.complain(job.value, workload.error().message);
      return;
    }
    for (const PodTemplate& part : workload->templates) {
      progress.wants.emplace_back(lower(part.role), part.count());
      progress.expected += part.count();
    }
    progress.ready = ready ? progress.expected : 0;
  }
};

class TrainingJob final : public RoleJob {
 public:
  explicit TrainingJob(std::string_view kind, std::string_view version = "v1") : kind_(kind), version_(version) {}

  [[nodiscard]] ApiKind api() const override {
    return {.group = kTrainingGroup, .kind = kind_, .versions = {version_}, .namespaced = true};
  }
  [[nodiscard]] json::Patch::Path suspend_field() const override { return {"spec", "runPolicy", "suspend"}; }

  [[nodiscard]] JobProgress progress(json::Reader& read, const Object& job) const override {
    JobProgress progress;
    const json::Value status = read.object(job.value, "status");
    const json::Value policy = read.object(read.object(job.value, "spec"), "runPolicy");
    progress.suspended = read.boolean(policy, "suspend").value_or(false);
    const json::Value roles = read.object(status, "replicaStatuses");
    for (const json::MemberData& role : roles ? roles.members() : std::span<const json::MemberData>()) {
      progress.active += number_at(read, read.as_object(json::Value(&role.value), "replicaStatuses"), "active", 0);
    }
    for (const bool success : {true, false}) {
      if (const json::Value over = condition_that_holds(read, status, success ? "Succeeded" : "Failed")) {
        progress.end = {.success = success, .message = std::string(read.text(over, "message").value_or(""))};
      }
    }
    count(read, job, condition_that_holds(read, status, "Running").present(), progress);
    return progress;
  }

 private:
  [[nodiscard]] std::string_view index_label() const override { return kReplicaIndex; }

  std::string_view kind_;
  std::string_view version_;
};

// Is never over: whoever made it takes it away.
class RayCluster final : public RoleJob {
 public:
  [[nodiscard]] ApiKind api() const override {
    return {.group = kRayGroup, .kind = "RayCluster", .versions = {"v1"}, .namespaced = true};
  }

  [[nodiscard]] JobProgress progress(json::Reader& read, const Object& job) const override {
    JobProgress progress;
    progress.suspended = read.boolean(read.object(job.value, "spec"), "suspend").value_or(false);
    const bool ready = read.text(read.object(job.value, "status"), "state") == "ready";
    progress.active = ready ? 1 : 0;
    count(read, job, ready, progress);
    return progress;
  }
};

class RayJob final : public RoleJob {
 public:
  [[nodiscard]] ApiKind api() const override {
    return {.group = kRayGroup, .kind = "RayJob", .versions = {"v1"}, .namespaced = true};
  }

  [[nodiscard]] JobProgress progress(json::Reader& read, const Object& job) const override {
    JobProgress progress;
    const json::Value status = read.object(job.value, "status");
    progress.suspended = read.boolean(read.object(job.value, "spec"), "suspend").value_or(false);
    const std::string_view deployed = read.text(status, "jobDeploymentStatus").value_or("");
    const bool idle = deployed.empty() || deployed == "Suspended" || deployed == "ValidationFailed";
    progress.active = idle ? 0 : 1;
    if (deployed == "Complete" || deployed == "Failed") {
      progress.end = {.success = read.text(status, "jobStatus") == "SUCCEEDED",
                      .message = std::string(read.text(status, "message").value_or(""))};
    }
    count(read, job, read.text(read.object(status, "rayClusterStatus"), "state") == "ready", progress);
    return progress;
  }
};

}  // namespace

std::span<const JobKind* const> role_jobs() {
  static const TrainingJob kPyTorch("PyTorchJob");
  static const TrainingJob kTensorFlow("TFJob");
  static const TrainingJob kXgBoost("XGBoostJob");
  static const TrainingJob kPaddle("PaddleJob");
  static const TrainingJob kJax("JAXJob");
  static const TrainingJob kMpi("MPIJob", "v2beta1");
  static const RayCluster kCluster;
  static const RayJob kRay;
  static const JobKind* const kKinds[] = {&kPyTorch, &kTensorFlow, &kXgBoost, &kPaddle, &kJax, &kMpi, &kCluster, &kRay};
  return kKinds;
}

}  // namespace gantree::kueue
