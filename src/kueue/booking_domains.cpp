// Room in domains of several hosts, in which kube-scheduler chooses.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "kueue/booking.h"
#include "kueue/hosts.h"

namespace gantree::kueue {

namespace {

// How much of what a pod asks for is free on a host.
double share_of(const Inventory& inventory, NodeId node, const Amounts& requests) {
  double share = std::numeric_limits<double>::max();
  for (const auto& [resource, amount] : requests.entries()) {
    if (amount > 0) {
      share = std::min(share, static_cast<double>(inventory.free(node, resource)) / static_cast<double>(amount));
    }
  }
  return share;
}

bool is_by_domain(const SetAssignment& set) {
  return set.topology && !is_by_host(set);
}

}  // namespace

Booking::Domains Booking::pods_to_come(const Entry& entry, const SetAssignment& set, int given_back) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  Domains wanted;
  for (const AssignedDomain& domain : set.topology->domains) {
    wanted[domain.values] += domain.count;
  }
  int running = 0;
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    const std::string node(ledger_.node_of(key, pod));
    if (pod.set != set.name || node.empty() || (pod.ended && (!pod.succeeded || given_back == 0))) {
      continue;
    }
    running += pod.ended ? 0 : 1;
    const auto domain = wanted.find(domain_of(inventory, node, *set.topology));
    if (domain != wanted.end() && domain->second > 0) {
      --domain->second;
      given_back -= pod.ended ? 1 : 0;
    }
  }
  int most = pods_wanted(entry, set) - running;
  for (auto& [domain, count] : wanted) {
    count = std::clamp(most, 0, count);
    most -= count;
  }
  std::erase_if(wanted, [](const auto& item) { return item.second == 0; });
  return wanted;
}

void Booking::book_domains(Entry& entry, const SetAssignment& set, int given_back) {
  const Inventory& inventory = ledger_.cluster.inventory();
  const Amounts& requests = entry.pod_set(set.name)->shape.requests;
  Domains wanted = pods_to_come(entry, set, given_back);
  // On the hosts for which they were planned as long as they fit there, else wherever they do.
  for (const HostCount& planned : hosts_of(entry, set)) {
    const auto domain = wanted.find(domain_of(inventory, planned.node, *set.topology));
    if (domain == wanted.end() || !takes_pods(ledger_, entry, set, planned.node)) {
      continue;
    }
    const std::int64_t room = inventory.room(*inventory.find(planned.node), requests);
    for (std::int64_t i = std::min<std::int64_t>(planned.count, room); i > 0 && domain->second > 0; --i) {
      hold(entry, set.name, planned.node, requests, false);
      --domain->second;
    }
  }
  std::erase_if(wanted, [](const auto& item) { return item.second == 0; });
  for (const auto& [domain, count] : wanted) {
    hold_among(entry, set, hosts_in(entry, set, domain), count);
  }
  if (!is_short_of_room(entry)) {
    plan_as_it_is(entry, set);
  }
}

std::vector<NodeId> Booking::hosts_in(const Entry& entry, const SetAssignment& set,
                                      const std::vector<std::string>& domain) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  std::vector<NodeId> hosts;
  for (std::uint32_t i = 0; i < inventory.size(); ++i) {
    const std::string& node = inventory.node(NodeId{i}).name;
    if (domain_of(inventory, node, *set.topology) == domain && takes_pods(ledger_, entry, set, node)) {
      hosts.push_back(NodeId{i});
    }
  }
  return hosts;
}

bool Booking::is_overpromised(const Entry& entry) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  const auto promised = [&](NodeId host, ResourceId resource) {
    std::int64_t sum = 0;
    for (const auto& [key, holder] : ledger_.holders) {
      for (const SetAssignment& set : holder->admission()->sets) {
        const PodSetRequest* request = holder->pod_set(set.name);
        const auto taken = taken_by_node(*holder, set);
        const auto here = taken.find(inventory.node(host).name);
        sum += request == nullptr || here == taken.end() ? 0 : request->shape.requests.get(resource) * here->second;
      }
    }
    return sum;
  };
  for (const SetAssignment& set : entry.admission()->sets) {
    const auto back = entry.object.reclaimable.find(set.name);
    const int given_back = back == entry.object.reclaimable.end() ? 0 : back->second;
    for (const auto& [domain, count] : is_by_domain(set) ? pods_to_come(entry, set, given_back) : Domains()) {
      const std::vector<NodeId> hosts = hosts_in(entry, set, domain);
      const auto too_much = [&](const auto& item) {
        std::int64_t left = 0;
        for (const NodeId host : hosts) {
          left += inventory.allocatable(host, item.first) - promised(host, item.first);
        }
        return left < 0;
      };
      const auto& requests = entry.pod_set(set.name)->shape.requests.entries();
      if (hosts.empty() || std::any_of(requests.begin(), requests.end(), too_much)) {
        return true;
      }
    }
  }
  return false;
}

// Where they are, or are expected, is where they are looked for next time.
void Booking::plan_as_it_is(Entry& entry, const SetAssignment& set) const {
  std::vector<HostCount>& plan = entry.hosts[set.name];
  plan.clear();
  for (const auto& [node, count] : taken_by_node(entry, set)) {
    plan.push_back({.node = node, .count = count});
  }
}

// Those that fit nowhere wait for room: it is held where least is missing.
void Booking::hold_among(Entry& entry, const SetAssignment& set, const std::vector<NodeId>& hosts, int count) {
  const Inventory& inventory = ledger_.cluster.inventory();
  const Amounts& requests = entry.pod_set(set.name)->shape.requests;
  for (const NodeId node : hosts) {
    for (std::int64_t room = inventory.room(node, requests); room > 0 && count > 0; --room, --count) {
      hold(entry, set.name, inventory.node(node).name, requests, false);
    }
  }
  if (count > 0) {
    short_of_room_.insert(entry.key());
  }
  for (; count > 0 && !hosts.empty(); --count) {
    const auto nearest = std::max_element(hosts.begin(), hosts.end(), [&](NodeId a, NodeId b) {
      return share_of(inventory, a, requests) < share_of(inventory, b, requests);
    });
    hold(entry, set.name, inventory.node(*nearest).name, requests, false);
  }
}

// What is held in domains of several hosts depends on where others are: where a host has changed, or others have chosen
// it, it is held elsewhere unless there is still room; and those for whom there was none look for it again.
void Booking::unbook_crowded() {
  if (ledger_.room_changed) {
    ledger_.unbooked.insert(short_of_room_.begin(), short_of_room_.end());
  }
  const std::set<std::string> changed = std::exchange(ledger_.places_changed, {});
  for (auto it = ledger_.holders.begin(); !changed.empty() && it != ledger_.holders.end(); ++it) {
    const Entry& entry = *it->second;
    const std::vector<SetAssignment>& sets = entry.admission()->sets;
    if (std::any_of(sets.begin(), sets.end(), is_by_domain) &&
        std::any_of(entry.placeholders.begin(), entry.placeholders.end(), [&](const std::string& placeholder) {
          return changed.contains(std::string(ledger_.cluster.node_of(placeholder)));
        })) {
      ledger_.unbooked.insert(it->first);
    }
  }
}

}  // namespace gantree::kueue
