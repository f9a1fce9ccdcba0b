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

bool is_there(const Ledger& ledger, const std::string& node) {
  const auto id = ledger.cluster.inventory().find(node);
  return id && ledger.cluster.inventory().alive(*id);
}

bool takes_pods(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node) {
  if (!is_there(ledger, node)) {
    return false;
  }
  const Inventory& inventory = ledger.cluster.inventory();
  const Node& host = inventory.node(*inventory.find(node));
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

int run_on(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node) {
  if (!is_there(ledger, node)) {
    return 0;
  }
  const std::set<std::string>& pods = ledger.pods_of(entry.key());
  return static_cast<int>(std::count_if(pods.begin(), pods.end(), [&](const std::string& key) {
    const StartedPod& pod = ledger.pods.at(key);
    return pod.set == set.name && pod.node == node && pod.runs();
  }));
}

}  // namespace gantree::kueue
