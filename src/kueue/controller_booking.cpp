// What has been given away: quota, and room on hosts.
#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "dialects/gangs.h"
#include "kueue/controller.h"

namespace gantree::kueue {

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

namespace {

// The domain of a host, by the levels of an assignment; empty where it is in none.
std::vector<std::string> labels_of(const Inventory& inventory, const std::string& node,
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

}  // namespace

QuotaDemand Controller::quota_of(const Admission& admission, const std::map<std::string, int>& given_back) const {
  QuotaDemand used;
  const auto queue = setup_.cluster_queues.find(admission.cluster_queue);
  if (queue == setup_.cluster_queues.end()) {
    return used;
  }
  const ResourceNames& names = cluster_.inventory().resources();
  for (const SetAssignment& set : admission.sets) {
    for (const auto& [resource, flavor] : set.flavors) {
      const auto usage = set.usage.find(resource);
      const auto id = names.find(resource);
      if (usage == set.usage.end() || !id) {
        continue;
      }
      auto amount = parse_quantity(usage->second, ResourceNames::unit(*id), Round::kUp);
      const auto back = given_back.find(set.name);
      if (amount && back != given_back.end() && set.count > 0) {
        *amount = *amount / set.count * std::max(0, set.count - back->second);
      }
      for (const ResourceGroup& group : queue->second.groups) {
        const auto covered = std::find(group.covered.begin(), group.covered.end(), *id);
        for (const FlavorQuota& entry : group.flavors) {
          if (amount && covered != group.covered.end() && entry.flavor_name == flavor) {
            used.emplace_back(entry.cells[static_cast<std::size_t>(covered - group.covered.begin())], *amount);
          }
        }
      }
    }
  }
  return Quota::sum({used}, {1});
}

// Where the pods of a pod set go, host by host. After a restart only the domains are known; where those are larger
// than a host, room is held on hosts that the engine would choose.
std::vector<HostCount> Controller::hosts_of(const Entry& entry, const SetAssignment& set) {
  if (const auto known = entry.hosts.find(set.name); known != entry.hosts.end()) {
    return known->second;
  }
  std::vector<HostCount> hosts;
  if (!set.topology || set.topology->levels.empty()) {
    return hosts;
  }
  if (set.topology->levels.back() == kHostnameLabel) {
    for (const AssignedDomain& domain : set.topology->domains) {
      hosts.push_back({.node = node_named(cluster_.inventory(), domain.values.back()), .count = domain.count});
    }
    return hosts;
  }
  const auto request = std::find_if(entry.object.request.pod_sets.begin(), entry.object.request.pod_sets.end(),
                                    [&](const PodSetRequest& one) { return one.name == set.name; });
  const Inventory& inventory = cluster_.inventory();
  std::map<std::string, int> bound;
  const auto pods = pods_of_.find(entry.key());
  for (const std::string& key : pods == pods_of_.end() ? std::set<std::string>() : pods->second) {
    const StartedPod& pod = pods_.at(key);
    bound[pod.node] += pod.set == set.name && !pod.ended ? 1 : 0;
  }
  for (const AssignedDomain& domain : set.topology->domains) {
    int left = domain.count;
    for (const bool running : {true, false}) {
      for (std::uint32_t i = 0; request != entry.object.request.pod_sets.end() && i < inventory.size(); ++i) {
        const std::string& node = inventory.node(NodeId{i}).name;
        if (left > 0 && inventory.alive(NodeId{i}) && labels_of(inventory, node, *set.topology) == domain.values) {
          const std::int64_t room = running ? bound[node] : inventory.room(NodeId{i}, request->shape.requests);
          const int here = static_cast<int>(std::clamp<std::int64_t>(room, 0, left));
          hosts.push_back({.node = node, .count = here});
          left -= here;
        }
      }
    }
  }
  return hosts;
}

void Controller::unbook(Entry& entry) {
  quota_.give(entry.used);
  entry.used.clear();
  for (const std::string& key : entry.placeholders) {
    cluster_.remove_pod(key);
  }
  entry.placeholders.clear();
}

void Controller::book(Entry& entry) {
  unbook(entry);
  const std::optional<Admission>& admission = entry.admission();
  if (!admission || entry.object.holds(kFinished)) {
    entry.hosts.clear();
    return;
  }
  // What was given back of an earlier start does not count for this one.
  const std::map<std::string, int> reclaimed =
      entry.object.admission ? entry.object.reclaimable : std::map<std::string, int>();
  entry.used = quota_of(*admission, reclaimed);
  quota_.take(entry.used);
  const std::string owner = entry.object.ref.ns + "/" + entry.object.ref.name;
  const auto pods = pods_of_.find(owner);
  for (const SetAssignment& set : admission->sets) {
    const auto request = std::find_if(entry.object.request.pod_sets.begin(), entry.object.request.pod_sets.end(),
                                      [&](const PodSetRequest& one) { return one.name == set.name; });
    if (!set.topology || request == entry.object.request.pod_sets.end()) {
      continue;
    }
    std::map<std::string_view, int> bound;
    std::map<std::string_view, int> over;
    for (const std::string& key : pods == pods_of_.end() ? std::set<std::string>() : pods->second) {
      const StartedPod& pod = pods_.at(key);
      if (pod.set == set.name && !pod.node.empty() && (pod.succeeded || !pod.ended)) {
        ++(pod.ended ? over : bound)[pod.node];
      }
    }
    // Pods that are over and will not be replaced need no room any more.
    const auto given_back = reclaimed.find(set.name);
    int spare = given_back == reclaimed.end() ? 0 : given_back->second;
    std::vector<HostCount> held = hosts_of(entry, set);
    for (HostCount& host : held) {
      int& here = bound[host.node];
      const int gone = std::min({spare, over[host.node], std::max(0, host.count - here)});
      const int left = std::max(0, host.count - here - gone);
      spare -= gone;
      here = std::max(0, here - host.count);
      host.count = left;
    }
    // In a domain of several hosts kube-scheduler may have chosen others of them.
    for (const auto& [node, elsewhere] : bound) {
      int count = elsewhere;
      const std::vector<std::string> domain = labels_of(cluster_.inventory(), std::string(node), *set.topology);
      for (HostCount& host : held) {
        if (count > 0 && host.count > 0 && labels_of(cluster_.inventory(), host.node, *set.topology) == domain) {
          const int less = std::min(count, host.count);
          host.count -= less;
          count -= less;
        }
      }
    }
    for (const HostCount& host : held) {
      for (int i = 0; i < host.count; ++i) {
        std::string key = fmt::format("{}#{}#{}#{}", owner, set.name, host.node, entry.placeholders.size());
        cluster_.upsert_pod({.key = key, .node = host.node, .requests = request->shape.requests});
        entry.placeholders.push_back(std::move(key));
      }
    }
  }
}

void Controller::book_all() {
  for (auto& [key, entry] : entries_) {
    book(entry);
  }
  unbooked_.clear();
}

}  // namespace gantree::kueue
