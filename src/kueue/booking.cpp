#include "kueue/booking.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "kueue/hosts.h"

namespace gantree::kueue {

std::string Booking::prefix_of(const Entry& entry, const std::string& set) {
  return fmt::format("{}#{}#", entry.key(), set);
}

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

std::vector<HostCount> Booking::hosts_of(const Entry& entry, const SetAssignment& set) const {
  if (const auto known = entry.hosts.find(set.name); known != entry.hosts.end()) {
    return known->second;
  }
  std::vector<HostCount> hosts;
  if (is_by_host(set)) {
    for (const AssignedDomain& domain : set.topology->domains) {
      hosts.push_back({.node = ledger_.hostnames.node_named(domain.values.back()), .count = domain.count});
    }
  }
  return hosts;
}

void Booking::unbook(Entry& entry) {
  note_freed(entry.used, {});
  give_back(entry);
}

// What is taken less of by now.
void Booking::note_freed(const QuotaDemand& before, const QuotaDemand& after) {
  for (const auto& [cell, amount] : before) {
    const auto left = std::find_if(after.begin(), after.end(), [&](const auto& one) { return one.first == cell; });
    if (left == after.end() || left->second < amount) {
      ledger_.freed_quota.insert(ledger_.root_of(cell));
    }
  }
}

void Booking::give_back(Entry& entry) {
  ledger_.holders.erase(entry.key());
  ledger_.quota.give(entry.used);
  entry.used.clear();
  drop_placeholders(entry, [](const std::string&) { return true; });
  short_of_room_.erase(entry.key());
}

void Booking::drop_placeholders(Entry& entry, const std::function<bool(const std::string& key)>& these) {
  std::erase_if(entry.placeholders, [&](const std::string& key) {
    const bool drop = these(key);
    if (drop) {
      ledger_.cluster.remove_pod(key);
      entry.pieces.erase(key);
    }
    return drop;
  });
}

void Booking::depart(Entry& entry) {
  const std::optional<Admission> admission = entry.object.holds(kFinished) ? std::nullopt : entry.object.admission;
  unbook(entry);
  Departed gone;
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    if (!pod.ended && !ledger_.node_of(key, pod).empty()) {
      gone.pods.emplace(key, pod.uid);
    }
  }
  if (!admission || gone.pods.empty()) {
    return;
  }
  gone.admission = *admission;
  gone.given_back = entry.object.given_back(*admission);
  gone.used = quota_of(gone.admission, gone.given_back);
  ledger_.quota.take(gone.used);
  ledger_.departed[entry.key()].push_back(std::move(gone));
}

void Booking::forget_departed(const std::string& workload) {
  const auto it = ledger_.departed.find(workload);
  if (it == ledger_.departed.end()) {
    return;
  }
  std::erase_if(it->second, [&](const Departed& gone) {
    const bool runs = std::any_of(gone.pods.begin(), gone.pods.end(), [&](const auto& item) {
      const auto pod = ledger_.pods.find(item.first);
      return pod != ledger_.pods.end() && pod->second.uid == item.second && !pod->second.ended;
    });
    if (!runs) {
      note_freed(gone.used, {});
      ledger_.quota.give(gone.used);
    }
    return !runs;
  });
  if (it->second.empty()) {
    ledger_.departed.erase(it);
  }
}

void Booking::unbook_all() {
  for (auto& [key, entry] : ledger_.entries) {
    unbook(entry);
  }
}

void Booking::book(Entry& entry) {
  const std::optional<Admission>& admission = entry.admission();
  if (!admission || entry.object.holds(kFinished)) {
    unbook(entry);
    entry.hosts.clear();
    entry.let_go.clear();
    return;
  }
  const QuotaDemand before = std::exchange(entry.used, {});
  ledger_.quota.give(before);
  ledger_.holders.insert_or_assign(entry.key(), &entry);
  short_of_room_.erase(entry.key());
  // Of those that were sent to hosts only what differs is booked anew: there may be very many.
  std::vector<std::string> stay;
  for (const SetAssignment& set : admission->sets) {
    if (is_by_host(set)) {
      stay.push_back(prefix_of(entry, set.name));
    }
  }
  drop_placeholders(entry, [&](const std::string& key) {
    return std::none_of(stay.begin(), stay.end(), [&](const std::string& prefix) { return key.starts_with(prefix); });
  });
  entry.used = quota_of(*admission, entry.object.given_back(*admission));
  ledger_.quota.take(entry.used);
  note_freed(before, entry.used);
  for (const SetAssignment& set : admission->sets) {
    if (set.topology && entry.pod_set(set.name) != nullptr) {
      is_by_host(set) ? book_hosts(entry, set) : book_domains(entry, set);
    }
  }
  // Where there is no room for one pod set it may be for what became of another: how all were planned is kept.
  for (const SetAssignment& set : is_short_of_room(entry) ? std::vector<SetAssignment>() : admission->sets) {
    if (set.topology && !is_by_host(set) && entry.pod_set(set.name) != nullptr) {
      plan_as_it_is(entry, set);
    }
  }
}

void Booking::hold(Entry& entry, const std::string& set, const std::string& node, const Amounts& requests, bool taken) {
  std::string key = fmt::format("{}{}#{}", prefix_of(entry, set), node, entry.placeholders_made++);
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

std::map<std::string, int> Booking::taken_by_node(const Entry& entry, const SetAssignment& set) const {
  std::map<std::string, int> counts = held_by_node(entry, set);
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    const std::string node(ledger_.node_of(key, pod));
    if (pod.set == set.name && !node.empty() && !pod.ended) {
      ++counts[node];
    }
  }
  return counts;
}

const std::string* Booking::held_for(const Entry& entry, const SetAssignment& set, const StartedPod& pod) const {
  const std::string prefix = prefix_of(entry, set.name);
  const std::vector<std::string>& levels = set.topology->levels;
  for (const std::string& key : entry.placeholders) {
    if (!key.starts_with(prefix)) {
      continue;
    }
    const std::vector<std::string> domain =
        domain_of(ledger_.cluster.inventory(), std::string(ledger_.cluster.node_of(key)), *set.topology);
    bool sent = domain.size() == levels.size();
    for (std::size_t i = 0; sent && i < levels.size(); ++i) {
      const auto selected = pod.selector.find(levels[i]);
      sent = selected != pod.selector.end() && selected->second == domain[i];
    }
    const std::string node(ledger_.cluster.node_of(key));
    if (sent && takes_pods(ledger_, entry, set, node) && is_free(node, entry.pod_set(set.name)->shape.requests)) {
      return &key;
    }
  }
  return nullptr;
}

// Whether a host has room for a pod beside those that are there, whatever is promised on it: pods of which nobody here
// decides may have taken that.
bool Booking::is_free(const std::string& node, const Amounts& requests) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  return std::all_of(requests.entries().begin(), requests.entries().end(), [&](const Amounts::Entry& asked) {
    std::int64_t free = inventory.free(*inventory.find(node), asked.first);
    if (free >= 0) {
      return true;  // all that is promised is there
    }
    for (const auto& [key, holder] : ledger_.holders) {
      for (const std::string& held : holder->placeholders) {
        free += ledger_.cluster.node_of(held) == node ? amount_held(*holder, held, asked.first) : 0;
      }
    }
    return free >= asked.second;
  });
}

// What a placeholder holds.
std::int64_t Booking::amount_held(const Entry& entry, const std::string& placeholder, ResourceId resource) const {
  if (const auto piece = entry.pieces.find(placeholder); piece != entry.pieces.end()) {
    return piece->second.get(resource);
  }
  for (const PodSetRequest& set : entry.object.request.pod_sets) {
    if (placeholder.starts_with(prefix_of(entry, set.name))) {
      return set.shape.requests.get(resource);
    }
  }
  return 0;
}

void Booking::let_go(Entry& entry, const std::string& placeholder) {
  ledger_.cluster.remove_pod(placeholder);
  std::erase(entry.placeholders, std::string(placeholder));
}

void Booking::book_changed() {
  const auto book_out_of_date = [&] {
    std::vector<Entry*> entries;
    for (const std::string& key : std::exchange(ledger_.unbooked, {})) {
      if (Entry* entry = ledger_.workload(key)) {
        entries.push_back(entry);
      }
      forget_departed(key);
    }
    book_in_turn(entries);
  };
  book_out_of_date();
  unbook_crowded();
  book_out_of_date();
}

// Those who may choose come last.
void Booking::book_in_turn(std::vector<Entry*>& entries) {
  std::stable_partition(entries.begin(), entries.end(), [&](const Entry* entry) {
    const std::optional<Admission>& admission = entry->admission();
    return !admission || std::none_of(admission->sets.begin(), admission->sets.end(), [&](const SetAssignment& set) {
      return set.topology && pods_wanted(ledger_, *entry, set) < set.count;
    });
  });
  for (Entry* entry : entries) {
    book(*entry);
  }
}

void Booking::book_all() {
  std::vector<Entry*> entries;
  for (auto& [key, entry] : ledger_.entries) {
    entries.push_back(&entry);
  }
  book_in_turn(entries);
  for (auto& [key, departed] : ledger_.departed) {
    for (Departed& gone : departed) {
      gone.used = quota_of(gone.admission, gone.given_back);
      ledger_.quota.take(gone.used);
    }
  }
  std::erase_if(ledger_.unbooked, [&](const std::string& key) { return !ledger_.departed.contains(key); });
}

}  // namespace gantree::kueue
