// Room on hosts to which pods are sent one by one.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "kueue/booking.h"
#include "kueue/hosts.h"

namespace gantree::kueue {

void Booking::book_hosts(Entry& entry, const SetAssignment& set) {
  std::map<std::string_view, int> bound;
  std::map<std::string_view, int> over;
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    const std::string_view node = ledger_.node_of(key, pod);
    if (pod.set == set.name && !node.empty() && (pod.succeeded || !pod.ended)) {
      ++(pod.ended ? over : bound)[node];
    }
  }
  const int running =
      std::accumulate(bound.begin(), bound.end(), 0, [](int sum, const auto& one) { return sum + one.second; });
  const int most = pods_wanted(ledger_, entry, set) - running;
  std::map<std::string, int> coming;  // by node
  for (const auto& [domain, count] : pods_on_their_way(ledger_, entry, set)) {
    coming[ledger_.hostnames.node_named(domain.back())] += count;
  }
  std::vector<HostCount> held = hosts_of(entry, set);
  std::vector<int> unclaimed;  // places by host to which nobody is on the way
  std::map<std::string, int> expected = coming;
  for (HostCount& host : held) {
    int& here = bound[host.node];
    const int free = std::max(0, host.count - here);
    const int taken = std::min(free, expected[host.node]);
    expected[host.node] -= taken;
    here = std::max(0, here - host.count);
    host.count = free;
    unclaimed.push_back(free - taken);
  }
  give_back_spare(entry, set, std::move(unclaimed), over, held);
  if (pods_wanted(ledger_, entry, set) < set.count) {
    entry.let_go.insert(set.name);
  } else if (entry.let_go.contains(set.name)) {
    keep_what_is_left(entry, set, held);
  }
  drop_unwanted(entry, set, {.coming = std::move(coming), .over = std::move(over)}, most, held);
  std::map<std::string, int, std::less<>> missing;
  for (const HostCount& host : held) {
    missing[host.node] += host.count;
  }
  const std::string prefix = prefix_of(entry, set.name);
  drop_placeholders(entry, [&](const std::string& key) {
    if (!key.starts_with(prefix)) {
      return false;
    }
    const auto here = missing.find(ledger_.cluster.node_of(key));
    return here == missing.end() || here->second-- <= 0;
  });
  for (const auto& [node, count] : missing) {
    for (int i = 0; i < count; ++i) {
      hold(entry, set.name, node, entry.pod_set(set.name)->shape.requests, false);
    }
  }
}

// Pods that are over and will not be replaced need no room any more: those that no other was sent in place of. First
// where there is none: what they left may be somebody else's by now. `unclaimed`: places by host to which nobody is on
// the way.
void Booking::give_back_spare(const Entry& entry, const SetAssignment& set, std::vector<int> unclaimed,
                              std::map<std::string_view, int>& over, std::vector<HostCount>& held) const {
  int spare = over_for_good(ledger_, entry, set);
  std::map<std::string, int> room = spare > 0 ? room_by_node(entry, set, held) : std::map<std::string, int>();
  const auto give_back = [&](const auto& most_of) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      const int gone = std::min({spare, over[held[i].node], most_of(held[i].node, unclaimed[i])});
      spare -= gone;
      over[held[i].node] -= gone;
      unclaimed[i] -= gone;
      held[i].count -= gone;
    }
  };
  give_back([&](const std::string& node, int places) {
    int& left = room[node];
    const int fits = std::min(left, places);
    left -= fits;
    return places - fits;
  });
  give_back([](const std::string&, int places) { return places; });
}

// For how many pods there is room, with what it holds already.
std::map<std::string, int> Booking::room_by_node(const Entry& entry, const SetAssignment& set,
                                                 const std::vector<HostCount>& hosts) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  std::map<std::string, int> room = held_by_node(entry, set);
  std::set<std::string> seen;
  for (const HostCount& host : hosts) {
    if (const auto id = inventory.find(host.node); id && seen.insert(host.node).second) {
      const std::int64_t more = inventory.room(*id, entry.pod_set(set.name)->shape.requests);
      room[host.node] += static_cast<int>(std::clamp<std::int64_t>(more, 0, set.count));
    }
  }
  return room;
}

// It wanted fewer pods for a while. The room of the others may be somebody else's by now: it gets what is left of it,
// with what it holds still; pods of its own that have come meanwhile have their part of that already.
void Booking::keep_what_is_left(const Entry& entry, const SetAssignment& set, std::vector<HostCount>& held) const {
  const Inventory& inventory = ledger_.cluster.inventory();
  const std::map<std::string, int> holds = held_by_node(entry, set);
  for (HostCount& host : held) {
    const auto id = inventory.find(host.node);
    const auto known = holds.find(host.node);
    const std::int64_t has = known == holds.end() ? 0 : known->second;
    for (const auto& [resource, amount] : entry.pod_set(set.name)->shape.requests.entries()) {
      const std::int64_t left = (id ? inventory.free(*id, resource) : 0) + has * amount;
      host.count = amount > 0 ? static_cast<int>(std::clamp<std::int64_t>(left / amount, 0, host.count)) : host.count;
    }
  }
}

// Holds room for so many pods and no more, where fewer are wanted than it was given. What it let go before may be
// somebody else's by now: so it keeps what it has, first where pods are on their way; then the places of others that
// are; then those where there is room, of pods that are over and have successors first; and the rest only if it must.
void Booking::drop_unwanted(const Entry& entry, const SetAssignment& set, Likely likely, int most,
                            std::vector<HostCount>& held) const {
  const int all =
      std::accumulate(held.begin(), held.end(), 0, [](int sum, const auto& one) { return sum + one.count; });
  if (all <= most) {
    return;
  }
  std::vector<HostCount> kept = held;
  std::for_each(kept.begin(), kept.end(), [](HostCount& host) { host.count = 0; });
  std::map<std::string, int> kept_on;  // by node
  const auto keep = [&](const auto& likes) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      const int more = std::clamp(std::min(most, likes(held[i].node)), 0, held[i].count);
      held[i].count -= more;
      kept[i].count += more;
      kept_on[held[i].node] += more;
      most -= more;
    }
  };
  std::map<std::string, int> has = held_by_node(entry, set);
  std::map<std::string, int> room = room_by_node(entry, set, held);
  const auto room_on = [&](const std::string& node) { return std::max(0, room[node] - kept_on[node]); };
  keep([&](const std::string& node) {
    const int both = std::min(has[node], likely.coming[node]);
    has[node] -= both;
    likely.coming[node] -= both;
    return both;
  });
  keep([&](const std::string& node) { return std::exchange(has[node], 0); });
  keep([&](const std::string& node) { return std::exchange(likely.coming[node], 0); });
  keep([&](const std::string& node) { return std::min(room_on(node), std::exchange(likely.over[node], 0)); });
  keep(room_on);
  keep([&](const std::string&) { return all; });
  held = std::move(kept);
}

}  // namespace gantree::kueue
