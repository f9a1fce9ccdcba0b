#include "kueue/hosts.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "dialects/gangs.h"

namespace gantree::kueue {

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

std::vector<std::string> domain_selected(const StartedPod& pod, const TopologyAssignment& assignment) {
  std::vector<std::string> values;
  for (const std::string& level : assignment.levels) {
    const auto it = pod.selector.find(level);
    if (it == pod.selector.end()) {
      return {};
    }
    values.push_back(it->second);
  }
  return values;
}

std::map<std::vector<std::string>, int> pods_on_their_way(const Ledger& ledger, const Entry& entry,
                                                          const SetAssignment& set) {
  const std::vector<AssignedDomain>& domains = set.topology->domains;
  std::map<std::vector<std::string>, int> coming;
  for (const std::string& key : ledger.pods_of(entry.key())) {
    const StartedPod& pod = ledger.pods.at(key);
    if (pod.set != set.name || pod.ended || pod.deleting || !ledger.node_of(key, pod).empty()) {
      continue;
    }
    if (pod.slot && *pod.slot < domains.size()) {
      ++coming[domains[*pod.slot].values];
    } else if (!pod.gated) {
      ++coming[domain_selected(pod, *set.topology)];
    }
  }
  coming.erase(std::vector<std::string>());
  return coming;
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
  const PodSetRequest* request = entry.pod_set(set.name);
  if (request == nullptr) {
    return true;
  }
  PodShape shape = request->shape;
  for (const auto& [resource, name] : set.flavors) {
    if (const auto flavor = ledger.setup.flavors.find(name); flavor != ledger.setup.flavors.end()) {
      const auto& [labels, tolerations] = std::tie(flavor->second.node_labels, flavor->second.tolerations);
      shape.node_selector.insert(shape.node_selector.end(), labels.begin(), labels.end());
      shape.tolerations.insert(shape.tolerations.end(), tolerations.begin(), tolerations.end());
    }
  }
  return eligibility(shape, inventory.node(*inventory.find(node)), inventory.strings()) == Ineligible::kNo;
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

int pods_wanted(const Ledger& ledger, const Entry& entry, const SetAssignment& set) {
  const JobEntry* job = ledger.job_of(entry);
  if (job != nullptr && !job->progress.suspended) {
    for (const auto& [name, wanted] : job->progress.wants) {
      if (name == set.name && wanted < set.count) {
        return wanted;
      }
    }
  }
  return std::numeric_limits<int>::max();
}

int over_for_good(const Ledger& ledger, const Entry& entry, const SetAssignment& set) {
  return std::max(0, entry.object.given_back(set) - std::max(0, set.count - pods_wanted(ledger, entry, set)));
}

int over_on(const Ledger& ledger, const Entry& entry, const SetAssignment& set, const std::string& node) {
  const std::set<std::string>& pods = ledger.pods_of(entry.key());
  const auto over = std::count_if(pods.begin(), pods.end(), [&](const std::string& key) {
    const StartedPod& pod = ledger.pods.at(key);
    return pod.set == set.name && pod.node == node && pod.succeeded;
  });
  return std::min(over_for_good(ledger, entry, set), static_cast<int>(over));
}

}  // namespace gantree::kueue
