// Manifests of the KAI family for tests.
#pragma once

#include <string>

#include "unit/dialects/manifests.h"

namespace gantree {

// A topology of zone, rack and host, with aliases for the first two; ends with a separator.
inline constexpr char kNetwork[] = R"(
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: network}
spec:
  levels: [{nodeLabel: net/zone, alias: zone}, {nodeLabel: net/rack, alias: rack}, {nodeLabel: kubernetes.io/hostname}]
---
)";

// A node with one GPU; ends with a separator.
inline std::string kai_node(const std::string& name, const std::string& zone, const std::string& rack) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {net/zone: " + zone +
         ", net/rack: " + rack + "}}\nstatus: {allocatable: {cpu: 8, pods: 10, nvidia.com/gpu: 1}}\n---\n";
}

// The template of pods of one GPU; `metadata` is a flow map without braces.
inline std::string pod_template(const std::string& metadata = "") {
  return "{metadata: {" + metadata + "}, spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}}";
}

// An object with a spec of one line. `metadata` is a flow map without braces, beside the name.
inline std::string object(const std::string& api, const std::string& kind, const std::string& name,
                          const std::string& metadata, const std::string& spec) {
  return "---\napiVersion: " + api + "\nkind: " + kind + "\nmetadata: {name: " + name +
         (metadata.empty() ? "" : ", " + metadata) + "}\nspec: " + spec + "\n";
}

inline std::string kai_job(const std::string& name, int pods, const std::string& annotations,
                           const std::string& pod = "") {
  return object("batch/v1", "Job", name, "labels: {kai.scheduler/queue: q}, annotations: {" + annotations + "}",
                "{parallelism: " + std::to_string(pods) + ", template: " + pod_template(pod) + "}");
}

inline std::string pod_group(const std::string& name, const std::string& spec) {
  return object("scheduling.run.ai/v2alpha2", "PodGroup", name, "", spec);
}

// A pod of a PodGroup; `node` may be "".
inline std::string member(const std::string& name, const std::string& group, const std::string& subgroup = "",
                          const std::string& node = "") {
  const std::string labels = subgroup.empty() ? "" : ", labels: {kai.scheduler/subgroup-name: " + subgroup + "}";
  return object("v1", "Pod", name, "annotations: {pod-group-name: " + group + "}" + labels,
                "{schedulerName: kai-scheduler, " + (node.empty() ? "" : "nodeName: " + node + ", ") +
                    "containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}");
}

inline const Group& root_of(const World& world, const std::string& name) {
  return world.job(name).parts.at(0).at(0).gang.root;
}

}  // namespace gantree
