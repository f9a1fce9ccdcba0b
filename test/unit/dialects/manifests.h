// Manifests as text, read through the front door of the dialects.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dialects/dialects.h"
#include "json/read.h"

namespace gantree {

// One read of some manifests. Documents live on, so values may be looked at.
class Manifests {
 public:
  explicit Manifests(std::string yaml) {
    auto read = json::read_documents("test.yaml", std::move(yaml));
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    if (read) {
      documents_ = std::move(*read);
    }
  }
  [[nodiscard]] const std::vector<json::Document>& documents() const { return documents_; }
  [[nodiscard]] json::Value root() const { return documents_.front().root(); }

 private:
  std::vector<json::Document> documents_;
};

// A cluster read from manifests.
struct World {
  explicit World(std::string yaml, const std::vector<std::string>& levels = {})
      : manifests(std::move(yaml)), reading(take_in(manifests.documents(), levels, cluster, quota)) {}

  // What is wrong with the input; "" where nothing is.
  [[nodiscard]] std::string error() const { return reading ? "" : reading.error().message; }

  // The submission of that name; requires that there is one.
  [[nodiscard]] const Submission& job(const std::string& name) const {
    EXPECT_TRUE(reading) << error();
    for (const Submission& submission : reading->queue) {
      if (submission.key.name == name) {
        return submission;
      }
    }
    ADD_FAILURE() << "there is no submission " << name;
    static const Submission kNone;
    return kNone;
  }
  [[nodiscard]] std::string rejection(const std::string& name) const {
    const Submission& submission = job(name);
    return submission.rejection ? submission.rejection->message : "";
  }
  // The flavors of all ways to start: "a,b | a,c".
  [[nodiscard]] std::string flavors(const std::string& name) const {
    std::string text;
    const Submission& submission = job(name);
    const WayDemands demands = demands_of(submission);
    for (Combinations walk(demands, [](const QuotaDemand&) { return true; }); walk.next();) {
      std::vector<const Alternative*> ways;
      for (std::size_t part = 0; part < walk.ways().size(); ++part) {
        ways.push_back(&submission.parts[part][walk.ways()[part]]);
      }
      const Alternative alternative = together(ways);
      text += text.empty() ? "" : " | ";
      for (std::size_t i = 0; i < alternative.flavors.size(); ++i) {
        text += (i == 0 ? "" : " ") + alternative.flavors[i];
      }
    }
    return text;
  }
  [[nodiscard]] const Constraint& constraint(const std::string& name) const {
    return job(name).parts.at(0).at(0).gang.root.pod_sets.at(0).constraint;
  }
  [[nodiscard]] ResourceId resource(std::string_view name) { return cluster.inventory().resources().intern(name); }

  Cluster cluster;
  Quota quota;
  Manifests manifests;
  Result<Reading> reading;
};

// A topology of block, rack and host with one flavor, one queue of cpu and gpus, and its local queue.
inline constexpr char kSetup[] = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: default}
spec:
  levels: [{nodeLabel: net/block}, {nodeLabel: net/rack}, {nodeLabel: kubernetes.io/hostname}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: tas}
spec:
  nodeLabels: {pool: tas}
  topologyName: default
  tolerations: [{key: gpu, operator: Exists}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: tas
      resources: [{name: cpu, nominalQuota: 100}, {name: nvidia.com/gpu, nominalQuota: 64}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue, namespace: default}
spec: {clusterQueue: cq}
---
)";

// A Job of pods of one gpu. `annotations` and `pod` are flow maps without their braces.
inline std::string job(const std::string& name, int parallelism, const std::string& annotations = "",
                       const std::string& pod = "", const std::string& metadata = "",
                       const std::string& labels = "kueue.x-k8s.io/queue-name: queue") {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + ", namespace: default, labels: {" + labels +
         "}" + (metadata.empty() ? "" : ", " + metadata) + "}\nspec:\n  parallelism: " + std::to_string(parallelism) +
         "\n  template:\n    metadata:\n      annotations: {" + annotations +
         "}\n    spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]" +
         (pod.empty() ? "" : ", " + pod) + "}\n";
}

inline std::string required(const std::string& level) {
  return "kueue.x-k8s.io/podset-required-topology: " + level;
}
inline std::string preferred(const std::string& level) {
  return "kueue.x-k8s.io/podset-preferred-topology: " + level;
}

}  // namespace gantree
