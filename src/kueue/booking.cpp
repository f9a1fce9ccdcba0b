#include "kueue/booking.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/quantity.h"
#include "kueue/hosts.h"

namespace gantree::kueue {

namespace {

// How the names of the placeholders of a pod set begin.
std::string prefix_of(const Entry& entry, const std::string& set) {
  return fmt::format("{}#{}#", entry.key(), set);
}

// Room for so many is held, and no more.
void drop_excess(int most, std::vector<HostCount>& held) {
  for (HostCount& host : held) {
    host.count = std::clamp(most, 0, host.count);
    most -= host.count;
  }
}

}  // namespace

QuotaDemand Booking::quota_of(const Admission& admission, const std::map<std::string, int>& given_back) const {
  QuotaDemand used;
  const auto queue = ledger_.setup.cluster_queues.find(admission.cluster_queue);
  if (queue == ledger_.setup.cluster_queues.end()) {
    return used;
  }
  const ResourceNames& names = ledger_.cluster.inventory().resources();
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
std::vector<HostCount> Booking::hosts_of(const Entry& entry, const SetAssignment& set) const {
  if (const auto known = entry.hosts.find(set.name); known != entry.hosts.end()) {
    return known->second;
  }
  std::vector<HostCount> hosts;
  if (!set.topology || set.topology->levels.empty()) {
    return hosts;
  }
  if (set.topology->levels.back() == kHostnameLabel) {
    for (const AssignedDomain& domain : set.topology->domains) {
      hosts.push_back({.node = node_named(ledger_.cluster.inventory(), domain.values.back()), .count = domain.count});
    }
    return hosts;
  }
  const PodSetRequest* request = entry.pod_set(set.name);
  const Inventory& inventory = ledger_.cluster.inventory();
  std::map<std::string, int> bound;
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    bound[pod.node] += pod.set == set.name && !pod.ended ? 1 : 0;
  }
  for (const AssignedDomain& domain : set.topology->domains) {
    int left = domain.count;
    for (const bool running : {true, false}) {
      for (std::uint32_t i = 0; request != nullptr && i < inventory.size(); ++i) {
        const std::string& node = inventory.node(NodeId{i}).name;
        if (left > 0 && inventory.alive(NodeId{i}) && domain_of(inventory, node, *set.topology) == domain.values) {
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

void Booking::unbook(Entry& entry) {
  ledger_.quota.give(entry.used);
  entry.used.clear();
  for (const std::string& key : entry.placeholders) {
    ledger_.cluster.remove_pod(key);
  }
  entry.placeholders.clear();
}

void Booking::unbook_all() {
  for (auto& [key, entry] : ledger_.entries) {
    unbook(entry);
  }
}

void Booking::book(Entry& entry) {
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
  ledger_.quota.take(entry.used);
  for (const SetAssignment& set : admission->sets) {
    if (set.topology && entry.pod_set(set.name) != nullptr) {
      const auto given_back = reclaimed.find(set.name);
      book_set(entry, set, given_back == reclaimed.end() ? 0 : given_back->second);
    }
  }
}

// Fewer than it was given where its user has made it smaller since it runs.
int Booking::pods_wanted(const Entry& entry, const SetAssignment& set) const {
  const JobEntry* job = ledger_.job_of(entry);
  if (job != nullptr && !job->progress.suspended) {
    for (const auto& [name, wanted] : job->progress.wants) {
      if (name == set.name && wanted < set.count) {
        return wanted;
      }
    }
  }
  return std::numeric_limits<int>::max();
}

void Booking::book_set(Entry& entry, const SetAssignment& set, int given_back) {
  std::map<std::string_view, int> bound;
  std::map<std::string_view, int> over;
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    if (pod.set == set.name && !pod.node.empty() && (pod.succeeded || !pod.ended)) {
      ++(pod.ended ? over : bound)[pod.node];
    }
  }
  const int running =
      std::accumulate(bound.begin(), bound.end(), 0, [](int sum, const auto& one) { return sum + one.second; });
  // Pods that are over and will not be replaced need no room any more.
  int spare = given_back;
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
  const Inventory& inventory = ledger_.cluster.inventory();
  for (const auto& [node, elsewhere] : bound) {
    int count = elsewhere;
    const std::vector<std::string> domain = domain_of(inventory, std::string(node), *set.topology);
    for (HostCount& host : held) {
      if (count > 0 && host.count > 0 && domain_of(inventory, host.node, *set.topology) == domain) {
        const int less = std::min(count, host.count);
        host.count -= less;
        count -= less;
      }
    }
  }
  drop_excess(pods_wanted(entry, set) - running, held);
  for (const HostCount& host : held) {
    for (int i = 0; i < host.count; ++i) {
      hold(entry, set.name, host.node, entry.pod_set(set.name)->shape.requests, false);
    }
  }
}

void Booking::hold(Entry& entry, const std::string& set, const std::string& node, const Amounts& requests, bool taken) {
  std::string key = fmt::format("{}{}#{}", prefix_of(entry, set), node, entry.placeholders.size());
  if (taken) {
    ledger_.cluster.name_assumed({.key = key, .node = node, .requests = requests});
  } else {
    ledger_.cluster.upsert_pod({.key = key, .node = node, .requests = requests});
  }
  entry.placeholders.push_back(std::move(key));
}

std::map<std::string, int> Booking::held_by_node(const Entry& entry, const SetAssignment& set) const {
  std::map<std::string, int> counts;
  const std::string prefix = prefix_of(entry, set.name);
  for (const std::string& key : entry.placeholders) {
    if (key.starts_with(prefix)) {
      ++counts[std::string(ledger_.cluster.node_of(key))];
    }
  }
  return counts;
}

void Booking::book_changed() {
  for (const std::string& key : std::exchange(ledger_.unbooked, {})) {
    if (Entry* entry = ledger_.workload(key)) {
      book(*entry);
    }
  }
}

void Booking::book_all() {
  for (auto& [key, entry] : ledger_.entries) {
    book(entry);
  }
  ledger_.unbooked.clear();
}

}  // namespace gantree::kueue
