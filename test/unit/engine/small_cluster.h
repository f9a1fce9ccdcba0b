// Clusters for unit tests, written as paths: "b1/r1/n1" is a host in rack r1 of
// block b1.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace gantree {

class SmallCluster {
 public:
  // Level names become labels; the last is the hostname.
  explicit SmallCluster(std::vector<std::string> levels) : levels_(std::move(levels)), engine_(inventory_) {
    gpu_ = inventory_.resources().intern("gpu");
    topology_ = engine_.add_topology({"default", levels_});
  }

  Node make_node(std::string_view path, std::int64_t gpus) {
    Node node;
    std::size_t level = 0;
    while (true) {
      const std::size_t slash = path.find('/');
      const std::string_view value = path.substr(0, slash);
      if (slash == std::string_view::npos) {
        node.name = value;
      }
      if (level < levels_.size()) {
        node.labels.push_back({inventory_.strings().intern(levels_[level++]), inventory_.strings().intern(value)});
      }
      if (slash == std::string_view::npos) {
        break;
      }
      path.remove_prefix(slash + 1);
    }
    std::sort(node.labels.begin(), node.labels.end());
    node.allocatable.set(gpu_, gpus);
    node.allocatable.set(ResourceNames::kPods, 110);
    return node;
  }
  NodeId host(std::string_view path, std::int64_t gpus) { return inventory_.upsert(make_node(path, gpus)); }

  [[nodiscard]] PodShape shape(std::int64_t gpus) const {
    PodShape shape;
    shape.requests.set(gpu_, gpus);
    shape.requests.set(ResourceNames::kPods, 1);
    return shape;
  }
  [[nodiscard]] PodSet set(std::string name, int count, std::int64_t gpus, Constraint constraint = {}) const {
    return {std::move(name), shape(gpus), count, count, std::move(constraint)};
  }
  [[nodiscard]] Gang gang(std::vector<PodSet> sets, Constraint constraint = {}) const {
    Gang gang;
    gang.key = {"default", "gang", "Job"};
    gang.topology = topology_;
    gang.root.constraint = std::move(constraint);
    gang.root.pod_sets = std::move(sets);
    return gang;
  }
  Outcome place(const Gang& gang) { return engine_.place(gang); }

  // "n1:4 n2:2" for a pod set; the refusal's message where there is none.
  std::string where(const Gang& gang, std::size_t set = 0) {
    const Outcome outcome = engine_.place(gang);
    if (!outcome.placement) {
      return "refused: " + outcome.message;
    }
    return text(*outcome.placement, set);
  }
  std::string text(const Placement& placement, std::size_t set = 0) {
    std::string out;
    for (const HostShare& share : placement.pod_sets[set]) {
      out += (out.empty() ? "" : " ") + inventory_.node(share.node).name + ":" + std::to_string(share.count);
    }
    return out;
  }

  Inventory& inventory() { return inventory_; }
  Engine& engine() { return engine_; }
  [[nodiscard]] ResourceId gpu() const { return gpu_; }
  [[nodiscard]] TopologyId topology() const { return topology_; }

 private:
  std::vector<std::string> levels_;
  Inventory inventory_;
  Engine engine_;
  ResourceId gpu_;
  TopologyId topology_;
};

inline Constraint required(int level) {
  Constraint constraint;
  constraint.required = level;
  constraint.packing = Packing::kPack;
  return constraint;
}
inline Constraint preferred(int level) {
  Constraint constraint;
  constraint.preferred = level;
  constraint.packing = Packing::kPack;
  return constraint;
}
inline Constraint slices(std::vector<Slice> layers) {
  Constraint constraint;
  constraint.slices = std::move(layers);
  constraint.packing = Packing::kPack;
  return constraint;
}

}  // namespace gantree
