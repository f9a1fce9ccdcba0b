#include "dialects/workloads/workloads_dialect.h"

#include <fmt/format.h>

#include <utility>

namespace gantree {

namespace {

constexpr std::string_view kTrainer = "trainer.kubeflow.org";

}  // namespace

std::span<const ApiKind> WorkloadsDialect::kinds() const {
  static const std::vector<ApiKind> kKinds = [] {
    std::vector<ApiKind> kinds(workload_kinds().begin(), workload_kinds().end());
    kinds.push_back({.group = kTrainer, .kind = "TrainJob", .versions = {"v1alpha1"}});
    kinds.push_back({.group = kTrainer, .kind = "TrainingRuntime", .versions = {"v1alpha1"}});
    kinds.push_back(
        {.group = kTrainer, .kind = "ClusterTrainingRuntime", .versions = {"v1alpha1"}, .namespaced = false});
    return kinds;
  }();
  return kKinds;
}

Result<> WorkloadsDialect::read(const NamedObject& named, Intake& intake) {
  if (named.object.kind == "TrainJob") {
    train_jobs_.push_back({named.object, std::string(named.ns), std::string(named.name)});
    return {};
  }
  if (named.object.group == kTrainer) {
    json::Reader read(named.object.file, named.object.value, fmt::format("{} \"{}\"", named.object.kind, named.name));
    runtimes_.emplace(std::pair(named.ns, named.name), read.require_object(named.object.value, "spec"));
    return read.ok() ? Result<>() : read.error();
  }
  auto workload = read_workload(named);
  if (!workload) {
    return tl::unexpected(workload.error());
  }
  intake.workloads.push_back(std::move(*workload));
  return {};
}

json::Value WorkloadsDialect::runtime_of(const TrainJob& job) const {
  const json::Value spec = job.object.value["spec"];
  const json::Value ref = spec && spec.kind() == json::Kind::kObject ? spec["runtimeRef"] : json::Value();
  if (!ref || ref.kind() != json::Kind::kObject) {
    return {};
  }
  const json::Value name = text_at(ref, "name");
  const json::Value kind = text_at(ref, "kind");
  const bool own = kind && kind.text() == "TrainingRuntime";
  const auto found = runtimes_.find({own ? job.ns : "", name ? std::string(name.text()) : ""});
  return found == runtimes_.end() ? json::Value() : found->second;
}

Result<> WorkloadsDialect::connect(Intake& intake) {
  int alone = 0;
  for (const TrainJob& job : train_jobs_) {
    const json::Value runtime = runtime_of(job);
    alone += runtime ? 0 : 1;
    auto workload = read_train_job({job.object, job.ns, job.name}, runtime);
    if (!workload) {
      return tl::unexpected(workload.error());
    }
    intake.workloads.push_back(std::move(*workload));
  }
  if (alone > 0) {
    intake.reading.notes.push_back(
        fmt::format("{} a training runtime that is not in the input: only numNodes and resourcesPerNode count",
                    alone == 1 ? "1 TrainJob names" : fmt::format("{} TrainJobs name", alone)));
  }
  return {};
}

}  // namespace gantree
