// Room in domains of several hosts, in which kube-scheduler chooses.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "kueue/booking.h"
#include "kueue/hosts.h"

namespace gantree::kueue {

namespace {

// What is free on a host, and no more than that much of anything.
Amounts free_part(const Inventory& inventory, NodeId node, const Amounts& most) {
  Amounts part;
  for (const auto& [resource, amount] : most.entries()) {
    if (const std::int64_t free = std::min(amount, inventory.free(node, resource)); free > 0) {
      part.set(resource, free);
    }
  }
  return part;
}

bool is_by_domain(const SetAssignment& set) {
  return set.topology && !is_by_host(set);
}

}  // namespace

Booking::Domains Booking::pods_to_come(const Entry& entry, const SetAssignment& set) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  Domains wanted;
  for (const AssignedDomain& domain : set.topology->domains) {
    wanted[domain.values] += domain.count;
  }
  int running = 0;
  std::vector<std::vector<std::string>> ended;  // domains of pods that have succeeded
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    const std::string node(ledger_.node_of(key, pod));
    // One that is lost went with its host, and nobody has told of it yet.
    const bool lost = !pod.ended && !is_there(ledger_, node);
    if (pod.set != set.name || node.empty() || lost || (pod.ended && !pod.succeeded)) {
      continue;
    }
    const std::vector<std::string> domain = domain_of(inventory, node, *set.topology);
    if (pod.ended) {
      ended.push_back(domain);
      continue;
    }
    ++running;
    if (const auto here = wanted.find(domain); here != wanted.end() && here->second > 0) {
      --here->second;
    }
  }
  Domains coming = pods_on_their_way(ledger_, entry, set);
  // Those that are over and will not be replaced need no room: those that no other was sent in place of.
  int spare = over_for_good(ledger_, entry, set);
  Domains over;  // and have successors
  for (const std::vector<std::string>& domain : ended) {
    const auto here = wanted.find(domain);
    if (here == wanted.end()) {
      continue;
    }
    const bool gone = spare > 0 && here->second > coming[domain];
    here->second -= gone ? 1 : 0;
    spare -= gone ? 1 : 0;
    over[domain] += gone ? 0 : 1;
  }
  int most = pods_wanted(ledger_, entry, set) - running;
  Domains kept;
  const auto keep = [&](Domains likes) {
    for (auto& [domain, count] : wanted) {
      const int more = std::clamp(std::min(most, likes[domain]), 0, count);
      count -= more;
      kept[domain] += more;
      most -= more;
    }
  };
  keep(coming);
  keep(over);
  keep(wanted);
  std::erase_if(kept, [](const auto& item) { return item.second == 0; });
  return kept;
}

void Booking::book_domains(Entry& entry, const SetAssignment& set) {
  const Inventory& inventory = ledger_.cluster.inventory();
  const Amounts& requests = entry.pod_set(set.name)->shape.requests;
  Domains wanted = pods_to_come(entry, set);
  const std::vector<std::string> leaving = lend_blockers(entry);
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
  for (const std::string& pod : leaving) {
    ledger_.cluster.take_back(pod);
  }
}

// Where others have still to leave, the room is there when they have: their pods count as gone until they are taken
// back.
std::vector<std::string> Booking::lend_blockers(const Entry& entry) {
  std::vector<std::string> lent;
  if (entry.blockers.empty()) {
    return lent;
  }
  for (const Leaver& leaver : ledger_.account.leavers(ledger_.stepped)) {
    if (entry.blockers.contains(leaver.id)) {
      lent.insert(lent.end(), leaver.pods.begin(), leaver.pods.end());
    }
  }
  std::erase_if(lent, [&](const std::string& pod) { return ledger_.cluster.node_of(pod).empty(); });
  for (const std::string& pod : lent) {
    ledger_.cluster.lend(pod);
  }
  return lent;
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

std::optional<std::set<std::string>> Booking::lost_hosts(const Entry& entry) const {
  if (!is_short_of_room(entry)) {
    return std::nullopt;
  }
  std::set<std::string> lost;
  for (const SetAssignment& set : entry.admission()->sets) {
    for (const HostCount& host : is_by_domain(set) ? hosts_of(entry, set) : std::vector<HostCount>()) {
      if (!takes_pods(ledger_, entry, set, host.node) && run_on(ledger_, entry, set, host.node) < host.count) {
        lost.insert(host.node);
      }
    }
  }
  return lost.empty() && !is_overpromised(entry) ? std::nullopt : std::optional(std::move(lost));
}

bool Booking::is_overpromised(const Entry& entry) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  const auto promised = [&](NodeId host, ResourceId resource) {
    std::int64_t sum = 0;
    for (const auto& [key, holder] : ledger_.holders) {
      if (!holder->admission() || holder->leaves()) {
        continue;  // it was taken back in this step, or will be soon
      }
      for (const SetAssignment& set : holder->admission()->sets) {
        const PodSetRequest* request = holder->pod_set(set.name);
        const auto taken = taken_by_node(*holder, set);
        const auto here = taken.find(inventory.node(host).name);
        sum += request == nullptr || here == taken.end() ? 0 : request->shape.requests.get(resource) * here->second;
      }
      for (const auto& [piece, amounts] : holder->pieces) {
        sum += ledger_.cluster.node_of(piece) == inventory.node(host).name ? amounts.get(resource) : 0;
      }
    }
    return sum;
  };
  for (const SetAssignment& set : entry.admission()->sets) {
    for (const auto& [domain, count] : is_by_domain(set) ? pods_to_come(entry, set) : Domains()) {
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
    hold_in_pieces(entry, set, hosts);
  }
}

// A pod that fits nowhere waits until one of the hosts has room for it. What is free on them meanwhile is not for
// others: all of them together were promised no more than there is.
void Booking::hold_in_pieces(Entry& entry, const SetAssignment& set, const std::vector<NodeId>& hosts) {
  const Inventory& inventory = ledger_.cluster.inventory();
  Amounts left = entry.pod_set(set.name)->shape.requests;
  const auto hold_piece = [&](NodeId node, const Amounts& piece) {
    const std::string& name = inventory.node(node).name;
    std::string key = fmt::format("{}!{}#{}#{}", entry.key(), set.name, name, entry.placeholders_made++);
    ledger_.cluster.upsert_pod({.key = key, .node = name, .requests = piece});
    for (const auto& [resource, amount] : piece.entries()) {
      left.add(resource, -amount);
    }
    entry.pieces.emplace(key, piece);
    entry.placeholders.push_back(std::move(key));
  };
  for (const NodeId node : hosts) {
    if (const Amounts piece = free_part(inventory, node, left); !piece.empty()) {
      hold_piece(node, piece);
    }
  }
  if (const Amounts missing = left; !missing.empty()) {
    hold_piece(hosts.front(), missing);
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
