// Deployment, ReplicaSet, StatefulSet, LeaderWorkerSet, and the pod that nothing makes.
#include <fmt/format.h>

#include "dialects/workloads/workload_reader.h"

namespace gantree {

void read_replicas(WorkloadReader& reader) {
  const int replicas = reader.count(reader.spec(), "replicas", 1);
  reader.workload().running = replicas > 0 && reader.count(reader.status(), "readyReplicas", 0) >= replicas;
  reader.add("main", reader.spec(), 1, replicas, "replicas");
}

// Templates are those of all replicas together: as many leaders as there are, and the workers of each.
void read_leader_worker_set(WorkloadReader& reader) {
  json::Reader& read = reader.read();
  const json::Value spec = reader.spec();
  const int replicas = reader.count(spec, "replicas", 1);
  const json::Value group = read.require_object(spec, "leaderWorkerTemplate");
  const int size = reader.count(group, "size", 1);
  if (size == 0) {
    reader.objection().raise(group["size"], "leaderWorkerTemplate.size must be at least 1");
  }
  reader.workload().running = replicas > 0 && reader.count(reader.status(), "readyReplicas", 0) >= replicas;
  // reader.add() wants what holds a `template`; here the templates are members of other names.
  const auto add = [&](std::string_view role, std::string_view member, int each) {
    PodTemplate& added = reader.workload().templates.emplace_back();
    const json::Value pod_template = read.require_object(group, member);
    added.at = pod_template ? pod_template : group;
    reader.fill(added, role, pod_template);
    reader.set_count(added, replicas, each, "replicas times leaderWorkerTemplate.size");
  };
  add("leader", read.object(group, "leaderTemplate") ? "leaderTemplate" : "workerTemplate", 1);
  if (size > 1) {
    add("workers", "workerTemplate", size - 1);
  }
}

void read_pod_workload(WorkloadReader& reader) {
  PodTemplate& added = reader.workload().templates.emplace_back();
  added.role = "main";
  added.at = reader.object().value;
  added.metadata = reader.object().metadata();
  added.spec = reader.spec();
}

}  // namespace gantree
