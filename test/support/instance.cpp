#include "support/instance.h"

#include <utility>

namespace gantree::test {
namespace {

template <class GroupT, class PodSetT>
void collect(GroupT& group, std::vector<PodSetT*>& found) {
  for (auto& pod_set : group.pod_sets) {
    found.push_back(&pod_set);
  }
  for (auto& nested : group.groups) {
    collect(nested, found);
  }
}

}  // namespace

NodeSpec& NodeSpec::label(const std::string& key, const std::string& value) {
  labels[key] = value;
  return *this;
}

NodeSpec& NodeSpec::has(const std::string& resource, std::int64_t amount) {
  allocatable[resource] = amount;
  return *this;
}

NodeSpec& NodeSpec::taint(const std::string& key, const std::string& value, TaintEffect effect) {
  taints.push_back({key, value, effect});
  return *this;
}

NodeSpec& NodeSpec::runs(const AmountSpec& request) {
  pods.push_back(request);
  pods.back()["pods"] = 1;
  return *this;
}

NodeSpec make_node(const std::string& name) {
  NodeSpec node;
  node.name = name;
  node.labels[kHostnameLabel] = name;
  node.allocatable["pods"] = 110;
  return node;
}

PodSetSpec make_pod_set(const std::string& name, int count, std::int64_t gpus) {
  PodSetSpec pod_set;
  pod_set.name = name;
  pod_set.count = count;
  pod_set.min_count = count;
  pod_set.requests = {{kGpu, gpus}, {"pods", 1}};
  return pod_set;
}

Constraint required(int level) {
  Constraint constraint;
  constraint.required = level;
  constraint.packing = Packing::kPack;
  return constraint;
}

Constraint preferred(int level) {
  Constraint constraint;
  constraint.preferred = level;
  constraint.packing = Packing::kPack;
  return constraint;
}

Constraint sliced(std::vector<Slice> slices) {
  Constraint constraint;
  constraint.slices = std::move(slices);
  constraint.packing = Packing::kPack;
  return constraint;
}

std::vector<const PodSetSpec*> pod_sets(const GroupSpec& root) {
  std::vector<const PodSetSpec*> found;
  collect(root, found);
  return found;
}

std::vector<PodSetSpec*> pod_sets(GroupSpec& root) {
  std::vector<PodSetSpec*> found;
  collect(root, found);
  return found;
}

}  // namespace gantree::test
