// A cluster and the gangs that ask for it, as plain text values.
//
// Nothing here refers to ids of a live cluster, so one instance can be built
// many times, permuted, shrunk and printed. The oracles read instances only:
// they share no code with what they judge.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/gang.h"

namespace gantree::test {

using AmountSpec = std::map<std::string, std::int64_t>;  // cpu in milli, all else in ones

inline constexpr char kGpu[] = "nvidia.com/gpu";

struct TaintSpec {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;
};

struct TolerationSpec {
  std::string key;                    // "": every key
  std::string value;                  // "": exists
  std::optional<TaintEffect> effect;  // none: every effect
};

struct RequirementSpec {
  std::string key;
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<std::string> values;
  std::int64_t bound = 0;  // kGt and kLt
};
using TermSpec = std::vector<RequirementSpec>;

// A host and the requests of the pods that run on it from the start.
struct NodeSpec {
  std::string name;
  std::map<std::string, std::string> labels;
  std::vector<TaintSpec> taints;
  AmountSpec allocatable;
  std::vector<AmountSpec> pods;
  bool ready = true;
  bool cordoned = false;

  NodeSpec& label(const std::string& key, const std::string& value);
  NodeSpec& has(const std::string& resource, std::int64_t amount);
  NodeSpec& gpus(std::int64_t amount) { return has(kGpu, amount); }
  NodeSpec& cpu(std::int64_t milli) { return has("cpu", milli); }
  NodeSpec& taint(const std::string& key, const std::string& value, TaintEffect effect);
  NodeSpec& runs(const AmountSpec& request);  // `pods: 1` is added
};

struct PodSetSpec {
  std::string name;
  int count = 1;
  int min_count = 1;
  AmountSpec requests;  // `pods: 1` included
  std::map<std::string, std::string> selector;
  std::optional<std::vector<TermSpec>> affinity;
  std::vector<TolerationSpec> tolerations;
  Constraint constraint;
};

struct GroupSpec {
  std::string name;
  Constraint constraint;
  std::vector<PodSetSpec> pod_sets;
  std::vector<GroupSpec> groups;
  std::optional<int> min_pods = {};
  std::optional<int> min_groups = {};
};

struct GangSpec {
  std::string name;
  std::string exclusive_kind;
  GroupSpec root;
};

struct Instance {
  std::vector<std::string> levels;  // of the one topology
  std::vector<NodeSpec> nodes;
  std::vector<GangSpec> gangs;  // in the order in which they ask
};

// A ready host that takes 110 pods, with its hostname label.
[[nodiscard]] NodeSpec make_node(const std::string& name);
// All or nothing, one GPU a pod.
[[nodiscard]] PodSetSpec make_pod_set(const std::string& name, int count, std::int64_t gpus = 1);

[[nodiscard]] Constraint required(int level);
[[nodiscard]] Constraint preferred(int level);
[[nodiscard]] Constraint sliced(std::vector<Slice> slices);

// Depth first, a group's own before those of its nested groups.
[[nodiscard]] std::vector<const PodSetSpec*> pod_sets(const GroupSpec& root);
[[nodiscard]] std::vector<PodSetSpec*> pod_sets(GroupSpec& root);

}  // namespace gantree::test
