// Ray clusters: a head and groups of workers.
#include <fmt/format.h>

#include "dialects/workloads/workload_reader.h"

namespace gantree {

void read_ray(WorkloadReader& reader) {
  json::Reader& read = reader.read();
  Workload& workload = reader.workload();
  const std::string_view kind = reader.object().kind;
  const json::Value spec = reader.spec();
  const std::string_view member = kind == "RayJob" ? "rayClusterSpec" : kind == "RayService" ? "rayClusterConfig" : "";
  const json::Value cluster = member.empty() ? spec : read.object(spec, member);
  const std::string above = member.empty() ? "/spec" : fmt::format("/spec/{}", member);
  const bool suspended = read.boolean(spec, "suspend").value_or(false);
  const std::string_view state = read.text(reader.status(), "state").value_or("");
  const std::string_view job = read.text(reader.status(), "jobStatus").value_or("");
  const std::string_view deployed = read.text(reader.status(), "jobDeploymentStatus").value_or("");
  workload.over = workload.over || job == "SUCCEEDED" || job == "FAILED" || job == "STOPPED" ||
                  deployed == "Complete" || deployed == "Failed";
  workload.running = !suspended && (state == "ready" || deployed == "Running" || job == "RUNNING");
  if (!cluster) {
    reader.objection().raise(spec, fmt::format("a {} without a cluster of its own has no pods to place", kind));
    return;
  }
  reader.add("head", read.require_object(cluster, "headGroupSpec"), 1, 1, "headGroupSpec").pointer =
      fmt::format("{}/headGroupSpec/template", above);
  if (const json::Value groups = read.array(cluster, "workerGroupSpecs")) {
    for (std::size_t i = 0; i < groups.items().size(); ++i) {
      const json::Value group(&groups.items()[i]);
      const std::string_view name = read.text(group, "groupName").value_or("worker");
      const int hosts = reader.count(group, "numOfHosts", 1);
      // Where autoscaling leaves the number open, the smallest it may be is what asks now.
      const int least = reader.count(group, "minReplicas", 0);
      reader
          .add(name, group, reader.count(group, "replicas", least), hosts == 0 ? 1 : hosts, "replicas times numOfHosts")
          .pointer = fmt::format("{}/workerGroupSpecs/{}/template", above, i);
    }
  }
}

}  // namespace gantree
