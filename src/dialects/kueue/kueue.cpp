#include "dialects/kueue/kueue.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "dialects/kueue/alternatives.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/submit.h"

namespace gantree::kueue {

namespace {

// "namespace/kind/name" of every workload, to find those that others control.
std::set<std::string> names_of(const std::vector<Workload>& workloads) {
  std::set<std::string> names;
  for (const Workload& workload : workloads) {
    names.insert(fmt::format("{}/{}/{}", workload.key.ns, workload.key.kind, workload.key.name));
  }
  return names;
}

}  // namespace

std::span<const ApiKind> KueueDialect::kinds() const {
  static const ApiKind kKinds[] = {
      {.group = kGroup, .kind = "Topology", .versions = {"v1beta2", "v1beta1", "v1alpha1"}, .namespaced = false},
      {.group = kGroup, .kind = "ResourceFlavor", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "ClusterQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "LocalQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = true},
      {.group = kGroup, .kind = "WorkloadPriorityClass", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = "batch", .kind = "Job", .versions = {"v1"}, .namespaced = true},
      {.group = "jobset.x-k8s.io", .kind = "JobSet", .versions = {"v1alpha2"}, .namespaced = true},
  };
  return kKinds;
}

Result<> KueueDialect::take(Result<Workload> workload) {
  if (!workload) {
    return tl::unexpected(workload.error());
  }
  workloads_.push_back(std::move(*workload));
  return {};
}

Result<> KueueDialect::read(const NamedObject& named, Intake& intake) {
  const std::string_view kind = named.object.kind;
  if (kind == "Job") {
    return take(read_job(named, intake.cluster.inventory()));
  }
  if (kind == "JobSet") {
    return take(read_jobset(named, intake.cluster.inventory()));
  }
  if (kind == "Topology") {
    return read_topology(named, intake, setup_);
  }
  if (kind == "ResourceFlavor") {
    return read_flavor(named, intake, setup_);
  }
  if (kind == "ClusterQueue") {
    return read_cluster_queue(named, intake, setup_);
  }
  if (kind == "LocalQueue") {
    return read_local_queue(named, setup_);
  }
  return read_priority_class(named, setup_);
}

Result<> KueueDialect::submit(Intake& intake) {
  if (auto connected = connect(setup_, intake); !connected) {
    return connected;
  }
  const std::set<std::string> names = names_of(workloads_);
  Unresolved unresolved;
  for (const Workload& workload : workloads_) {
    const bool controlled = names.contains(fmt::format("{}/{}", workload.key.ns, workload.owner));
    if (workload.over || controlled) {
      continue;
    }
    if (!workload.running) {
      intake.reading.queue.push_back(submission_of(workload, setup_, intake, unresolved));
    } else if (const LocalQueue* queue = queue_of(workload, setup_)) {
      use_quota(workload, *queue->cluster_queue, intake);
    }
  }
  for (std::string& note : unresolved.notes()) {
    intake.reading.notes.push_back(std::move(note));
  }
  return {};
}

}  // namespace gantree::kueue
