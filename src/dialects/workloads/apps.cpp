// Deployment, ReplicaSet, StatefulSet, LeaderWorkerSet, and the pod that nothing makes.
#include <fmt/format.h>

#include <limits>

#include "dialects/workloads/workload_reader.h"

namespace gantree {

void read_replicas(WorkloadReader& reader) {
  const int replicas = reader.count(reader.spec(), "replicas", 1);
  reader.workload().running = replicas > 0 && reader.count(reader.status(), "readyReplicas", 0) >= replicas;
  reader.add("main", reader.spec(), 1, replicas);
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
    added.role = role;
    added.at = pod_template ? pod_template : group;
    added.metadata = read.object(pod_template, "metadata");
    static_cast<void>(read.texts(added.metadata, "labels"));
    static_cast<void>(read.texts(added.metadata, "annotations"));
    added.spec = read.require_object(pod_template, "spec");
    added.replicas = replicas;
    added.each = each;
    if (std::int64_t{replicas} * each > std::numeric_limits<int>::max()) {
      reader.objection().raise(group,
                               fmt::format("{} replicas of {} pods are more than can be counted", replicas, size));
      added.replicas = 0;
    }
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
