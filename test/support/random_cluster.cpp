#include <fmt/format.h>

#include "support/random_instance.h"

namespace gantree::test {
namespace {

// Only the sizes of hosts differ: all that is left is the packing.
NodeSpec plain_node(Choices& choices, NodeSpec node, const Scale& scale) {
  return node.gpus(choices.up_to(scale.max_gpus)).cpu(2000 * scale.max_gpus).has("memory", 3 * scale.max_gpus);
}

NodeSpec at_random_place(Choices& choices, const Instance& cluster, const std::string& name) {
  NodeSpec node = make_node(name);
  for (int level = 0; level < levels_above_hosts(cluster); ++level) {
    const std::string& key = cluster.levels[static_cast<std::size_t>(level)];
    node.label(key, fmt::format("{}{}", key[0], choices.up_to(level == 0 ? 1 : 2)));
  }
  return node;
}

void run_random_pods(Choices& choices, NodeSpec& node) {
  for (int pods = choices.up_to(3); pods > 0; --pods) {
    AmountSpec request{{kGpu, choices.up_to(2)}, {"cpu", 500 * choices.up_to(2)}, {"memory", choices.up_to(2)}};
    std::erase_if(request, [](const auto& entry) { return entry.second == 0; });
    node.runs(request);
  }
}

}  // namespace

int levels_above_hosts(const Instance& cluster) {
  const auto levels = static_cast<int>(cluster.levels.size());
  return cluster.levels.back() == kHostnameLabel ? levels - 1 : levels;
}

NodeSpec random_node(Choices& choices, const Instance& cluster, const std::string& name, const Scale& scale) {
  NodeSpec node = at_random_place(choices, cluster, name);
  node.gpus(choices.one_in(3) ? choices.up_to(scale.max_gpus) : scale.max_gpus);
  node.cpu(1000 * (choices.one_in(3) ? choices.between(1, 4) : 2 * scale.max_gpus));
  node.has("memory", choices.one_in(3) ? choices.between(1, 6) : 3 * scale.max_gpus);
  if (choices.one_in(10)) {
    node.has("pods", choices.between(1, 3));
  }
  if (choices.one_in(2)) {
    run_random_pods(choices, node);
  }
  if (choices.one_in(10)) {
    const auto effects = std::vector{TaintEffect::kNoSchedule, TaintEffect::kPreferNoSchedule, TaintEffect::kNoExecute};
    node.taint("dedicated", choices.one_in(2) ? "x" : "y", choices.of(effects));
  }
  node.cordoned = choices.one_in(16);
  node.ready = !choices.one_in(20);
  if (choices.one_in(16)) {
    node.labels.erase(choices.of(cluster.levels));
  }
  if (choices.one_in(2)) {
    node.label("zone", choices.one_in(3) ? "b" : "a");
  }
  if (choices.one_in(3)) {
    node.label("gen", fmt::format("{}", choices.between(1, 4)));
  }
  return node;
}

Instance random_cluster(Choices& choices, const Scale& scale) {
  static const std::vector<std::string> kNames{"spine", "block", "rack", "cell"};
  Instance cluster;
  const int upper = choices.up_to(scale.max_upper_levels);
  cluster.levels.assign(kNames.begin(), kNames.begin() + upper);
  if (upper == 0 || choices.one_in(2)) {
    cluster.levels.emplace_back(kHostnameLabel);
  }
  const int hosts = choices.one_in(2) ? choices.between(scale.max_hosts / 2 + 1, scale.max_hosts)
                                      : choices.between(1, scale.max_hosts);
  const bool plain = choices.one_in(2);
  for (int i = 0; i < hosts; ++i) {
    const std::string name = fmt::format("n{}", i);
    cluster.nodes.push_back(plain ? plain_node(choices, at_random_place(choices, cluster, name), scale)
                                  : random_node(choices, cluster, name, scale));
  }
  return cluster;
}

}  // namespace gantree::test
