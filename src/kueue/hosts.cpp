#include "kueue/hosts.h"

#include <algorithm>

#include "dialects/gangs.h"

namespace gantree::kueue {

namespace {

bool tolerates_all(const Node& node, const std::vector<Toleration>& tolerations, TaintEffect effect) {
  return std::all_of(node.taints.begin(), node.taints.end(),
                     [&](const Taint& taint) { return taint.effect != effect || tolerates(tolerations, taint); });
}

}  // namespace

std::string node_named(const Inventory& inventory, const std::string& hostname) {
  const auto key = inventory.strings().find(kHostnameLabel);
  const auto carries = [&](NodeId id) {
    const StringId* label = key ? label_value(inventory.node(id).labels, *key) : nullptr;
    return inventory.alive(id) && label != nullptr && inventory.strings().text(*label) == hostname;
  };
  if (const auto id = inventory.find(hostname); id && carries(*id)) {
    return hostname;
  }
  for (std::uint32_t i = 0; i < inventory.size(); ++i) {
    if (carries(NodeId{i})) {
      return inventory.node(NodeId{i}).name;
    }
  }
  return hostname;  // it is gone: its pods hold nothing
}

std::string hostname_of(const Inventory& inventory, NodeId node) {
  const auto key = inventory.strings().find(kHostnameLabel);
  const StringId* label = key ? label_value(inventory.node(node).labels, *key) : nullptr;
  return label == nullptr ? inventory.node(node).name : std::string(inventory.strings().text(*label));
}

std::vector<std::string> domain_of(const Inventory& inventory, const std::string& node,
                                   const TopologyAssignment& assignment) {
  const auto id = inventory.find(node);
  std::vector<std::string> values;
  for (const std::string& level : assignment.levels) {
    const auto key = inventory.strings().find(level);
    const StringId* value = key && id ? label_value(inventory.node(*id).labels, *key) : nullptr;
    if (value == nullptr) {
      return {};
    }
    values.emplace_back(inventory.strings().text(*value));
  }
  return values;
}

bool is_by_host(const SetAssignment& set) {
  return set.topology && !set.topology->levels.empty() && set.topology->levels.back() == kHostnameLabel;
}

bool takes_pods(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node) {
  const Inventory& inventory = ledger.cluster.inventory();
  const auto id = inventory.find(node);
  if (!id || !inventory.alive(*id)) {
    return false;
  }
  const Node& host = inventory.node(*id);
  const PodSetRequest* request = entry.pod_set(set.name);
  if (request == nullptr) {
    return true;
  }
  std::vector<Toleration> tolerations = request->shape.tolerations;
  for (const auto& [resource, name] : set.flavors) {
    if (const auto flavor = ledger.setup.flavors.find(name); flavor != ledger.setup.flavors.end()) {
      const std::vector<Toleration>& more = flavor->second.tolerations;
      tolerations.insert(tolerations.end(), more.begin(), more.end());
    }
  }
  return host.ready && !host.unschedulable && tolerates_all(host, tolerations, TaintEffect::kNoExecute) &&
         tolerates_all(host, tolerations, TaintEffect::kNoSchedule);
}

bool is_lost(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node) {
  const Inventory& inventory = ledger.cluster.inventory();
  const auto id = inventory.find(node);
  if (!id || !inventory.alive(*id)) {
    return true;
  }
  if (takes_pods(ledger, entry, set, node)) {
    return false;
  }
  // As long as its pods run there they may run on.
  const std::set<std::string>& pods = ledger.pods_of(entry.key());
  return std::none_of(pods.begin(), pods.end(), [&](const std::string& key) {
    const StartedPod& pod = ledger.pods.at(key);
    return pod.set == set.name && pod.node == node && !pod.ended && !pod.deleting;
  });
}

}  // namespace gantree::kueue
