// Manifests of the Koordinator family for tests.
#pragma once

#include <string>

#include "unit/dialects/manifests.h"

namespace gantree {

// Two spines with two blocks of two nodes each, of eight gpus.
inline std::string koordinator_nodes() {
  std::string yaml;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    yaml += "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-" + n + ", labels: {net/spine: s" +
            std::to_string(i / 4 + 1) + ", net/block: b" + std::to_string(i / 2 + 1) +
            ", kubernetes.io/hostname: node-" + n + "}}\nstatus: {allocatable: {nvidia.com/gpu: 8, pods: 110}}\n";
  }
  return yaml;
}

// A ClusterNetworkTopology of these layers, flow maps.
inline std::string network_topology(const std::string& layers, const std::string& name = "default") {
  return "---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: ClusterNetworkTopology\nmetadata: {name: " + name +
         "}\nspec:\n  networkTopologySpec: [" + layers + "]\n";
}

inline constexpr char kSpineAndBlock[] =
    "{topologyLayer: SpineLayer, labelKey: [net/spine]}, "
    "{topologyLayer: BlockLayer, parentTopologyLayer: SpineLayer, labelKey: [net/block]}, "
    "{topologyLayer: NodeTopologyLayer, parentTopologyLayer: BlockLayer}";

// `annotations` and `spec` are flow maps without their braces.
inline std::string pod_group(const std::string& name, int min, const std::string& annotations = "",
                             const std::string& ns = "default", const std::string& spec = "") {
  return "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: " + name +
         ", namespace: " + ns + ", annotations: {" + annotations + "}}\nspec: {minMember: " + std::to_string(min) +
         (spec.empty() ? "" : ", " + spec) + "}\n";
}

// A pod of that many gpus; `metadata` and `spec` are flow maps without their braces.
inline std::string koord_pod(const std::string& name, const std::string& metadata, int gpus = 1,
                             const std::string& spec = "", const std::string& ns = "default") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: " + ns +
         (metadata.empty() ? "" : ", " + metadata) +
         "}\nspec: {schedulerName: koord-scheduler, containers: [{name: c, resources: {requests: {nvidia.com/gpu: " +
         std::to_string(gpus) + "}}}]" + (spec.empty() ? "" : ", " + spec) + "}\n";
}

inline std::string in_group(const std::string& gang) {
  return "labels: {pod-group.scheduling.sigs.k8s.io: " + gang + "}";
}

inline std::string groups(const std::string& list) {
  return "gang.scheduling.koordinator.sh/groups: '[" + list + "]'";
}

// Rules as JSON objects.
inline std::string gather(const std::string& rules) {
  return "gang.scheduling.koordinator.sh/network-topology-spec: '{\"gatherStrategy\": [" + rules + "]}'";
}

inline std::string gather_rule(const std::string& layer, const std::string& strategy, int multiple = 0) {
  return "{\"layer\": \"" + layer + "\", \"strategy\": \"" + strategy + "\"" +
         (multiple > 0 ? ", \"podCountMultiple\": " + std::to_string(multiple) : "") + "}";
}

}  // namespace gantree
