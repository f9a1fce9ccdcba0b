#include "kueue/host_replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "dialects/gangs.h"
#include "dialects/kueue/alternatives.h"
#include "dialects/kueue/submit.h"
#include "kueue/hosts.h"
#include "kueue/pod_rank.h"
#include "kueue/submissions.h"

namespace gantree::kueue {

namespace {

// Where a queue that is stopped has no other hosts for what it lets run.
constexpr std::chrono::seconds kLooksAgain{30};

std::set<std::string> names_in(std::string_view list) {
  std::set<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    names.emplace(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return names;
}

// Whether a way to start some pod sets is with the flavors of the admission.
bool is_admitted_so(const Alternative& way, const Admission& admission) {
  const std::vector<const PodSet*> sets = pod_sets(way.gang.root);
  for (const SetAssignment& assigned : admission.sets) {
    std::set<std::string> flavors;
    for (const auto& [resource, flavor] : assigned.flavors) {
      flavors.insert(flavor);
    }
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const std::set<std::string> own = names_in(way.flavors[i]);
      if (sets[i]->name == assigned.name && !std::includes(own.begin(), own.end(), flavors.begin(), flavors.end())) {
        return false;
      }
    }
  }
  return true;
}

// The way to start it that it was admitted with: shapes with labels and tolerations of its flavors.
std::optional<Alternative> chosen(const Submission& submission, const Admission& admission) {
  std::vector<const Alternative*> ways;
  for (const std::vector<Alternative>& part : submission.parts) {
    const auto it =
        std::find_if(part.begin(), part.end(), [&](const Alternative& way) { return is_admitted_so(way, admission); });
    if (it == part.end()) {
      return std::nullopt;
    }
    ways.push_back(&*it);
  }
  return ways.empty() ? std::nullopt : std::optional(together(ways));
}

// Whether it needs more pods than those that are over, and those that are, or go, where there is nothing wrong. An
// empty host that goes takes nothing away.
bool misses_pods(const Ledger& ledger, const Entry& entry, const SetAssignment& set) {
  int there = entry.object.given_back(set);
  for (const std::string& key : ledger.pods_of(entry.key())) {
    const StartedPod& pod = ledger.pods.at(key);
    if (pod.set != set.name || pod.ended || pod.deleting || pod.gated) {
      continue;
    }
    const auto pinned = pod.selector.find(kHostnameLabel);
    const bool well = !pod.node.empty()
                          ? is_there(ledger, pod.node)
                          : pinned == pod.selector.end() ||
                                takes_pods(ledger, entry, set, ledger.hostnames.node_named(pinned->second));
    there += well ? 1 : 0;
  }
  return there < set.count;
}

// Ranks by host, of hosts that take no pods any more.
using ClosedHosts = std::map<std::string, std::set<int>, std::less<>>;

ClosedHosts closed_hosts(const Ledger& ledger, const Entry& entry, const SetAssignment& set) {
  ClosedHosts closed;
  int rank = 0;
  for (const AssignedDomain& domain : set.topology->domains) {
    const std::string node = ledger.hostnames.node_named(domain.values.back());
    const bool open = takes_pods(ledger, entry, set, node);
    for (const int end = rank + domain.count; rank < end; ++rank) {
      if (!open) {
        closed[node].insert(rank);
      }
    }
  }
  return closed;
}

// Leaves those ranks that need another host: pods that run where no others may come run on, and those that are over
// need none, unless room is held there for successors. A pod that tells no rank may have any.
void leave_lost(const Ledger& ledger, const Entry& entry, const SetAssignment& set,
                const std::map<std::string, int>& held, ClosedHosts& closed) {
  int over = over_for_good(ledger, entry, set);
  std::vector<std::set<int>*> unranked;
  std::map<std::string_view, std::vector<int>> ended;  // ranks by host
  const PodSetRequest* request = entry.pod_set(set.name);
  for (const std::string& key : ledger.pods_of(entry.key())) {
    const StartedPod& pod = ledger.pods.at(key);
    const auto host = closed.find(pod.node);
    const bool runs = pod.runs() && is_there(ledger, pod.node);
    if (pod.set != set.name || host == closed.end() || !(runs || (pod.succeeded && over-- > 0))) {
      continue;
    }
    const auto rank = request == nullptr ? std::nullopt : rank_in_set(pod, *request);
    const bool here = rank && host->second.erase(*rank) > 0;
    if (here && !runs) {
      ended[host->first].push_back(*rank);
    } else if (!here && (runs || !rank)) {
      unranked.push_back(&host->second);  // one that is over and whose rank has a place elsewhere takes none here
    }
  }
  for (std::set<int>* ranks : unranked) {
    if (!ranks->empty()) {
      ranks->erase(ranks->begin());
    }
  }
  for (auto& [node, ranks] : closed) {
    const auto room = held.find(node);
    for (const int rank : room == held.end() ? std::vector<int>() : ended[node]) {
      if (static_cast<int>(ranks.size()) < room->second) {
        ranks.insert(rank);
      }
    }
  }
}

}  // namespace

void HostReplacement::touch_users() {
  if (changed_.empty()) {
    return;
  }
  const std::set<std::string> nodes = std::exchange(changed_, {});
  for (const auto& [key, entry] : ledger_.holders) {
    for (const SetAssignment& set : entry->admission()->sets) {
      const std::vector<HostCount> hosts = booking_.hosts_of(*entry, set);
      if (std::any_of(hosts.begin(), hosts.end(), [&](const HostCount& host) { return nodes.contains(host.node); })) {
        ledger_.dirty.insert(key);
      }
    }
    if (booking_.is_short_of_room(*entry)) {
      ledger_.dirty.insert(key);  // it may have been waiting for room on any host of its domain
    }
    // One may have come back with pods that were given other hosts meanwhile.
    const std::set<std::string>& pods = ledger_.pods_of(key);
    if (std::any_of(pods.begin(), pods.end(),
                    [&](const std::string& pod) { return nodes.contains(ledger_.pods.at(pod).node); })) {
      ledger_.dirty.insert(key);
    }
  }
}

// Adds to `hosts` those that are of no use any more, and on which it needs pods.
LostRanks HostReplacement::lost_ranks(const Entry& entry, std::set<std::string>& hosts) const {
  LostRanks lost;
  const std::vector<SetAssignment>& sets = entry.object.admission->sets;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    ClosedHosts closed = is_by_host(sets[i]) ? closed_hosts(ledger_, entry, sets[i]) : ClosedHosts();
    if (closed.empty() || !misses_pods(ledger_, entry, sets[i])) {
      continue;
    }
    leave_lost(ledger_, entry, sets[i], booking_.held_by_node(entry, sets[i]), closed);
    for (const auto& [node, ranks] : closed) {
      if (!ranks.empty()) {
        lost[i].insert(ranks.begin(), ranks.end());
        hosts.insert(node);
      }
    }
  }
  return lost;
}

bool HostReplacement::mend(Entry& entry, Time now, Step& step) {
  Admission admission = *entry.object.admission;
  std::set<std::string> hosts;
  const LostRanks lost = lost_ranks(entry, hosts);
  entry.failed_hosts = hosts;
  if (lost.empty()) {
    return give_up(entry, now, step);
  }
  const Submission submission = asked_for(entry);
  // Its queue is stopped, or gone: what it has left it may keep. Not where its queue offers nothing any more that suits
  // it: it would stay where its pods cannot be.
  const bool stays =
      submission.rejection && submission.rejection->waits && submission.rejection->reason != Reason::kNoMatchingFlavor;
  const std::optional<Alternative> alternative = chosen(submission, admission);
  if (!alternative && stays) {
    return false;
  }
  booking_.unbook(entry);  // what it holds on hosts that stay is looked at anew with the rest
  const bool placed = alternative && place_again(*alternative, lost, admission, entry);
  if (!placed && stays) {
    booking_.book(entry);
    ledger_.later.add(now + kLooksAgain, entry.key());
    return false;
  }
  if (!placed) {
    booking_.book(entry);
    evict(entry, hosts, now, step);
    return true;
  }
  step.news.push_back(fmt::format("workload \"{}\" gets other hosts for {}", entry.key(), fmt::join(hosts, ", ")));
  entry.assumed = std::move(admission);
  entry.sent = false;
  entry.may_be_done = false;
  entry.under_way = false;
  entry.hosts.clear();
  booking_.book(entry);
  grants_.write(entry, now, step);
  return true;
}

// What it asks for of its queue. Other hosts are no admission: one that is stopped, and lets run what it has admitted,
// gives them too.
Submission HostReplacement::asked_for(Entry& entry) {
  Submission submission = submission_for(entry, ledger_);
  const LocalQueue* queue = queue_of(entry.object.request, ledger_.setup);
  if (submission.rejection && submission.rejection->reason == Reason::kQueueStopped && queue != nullptr &&
      queue->inactive.empty()) {
    auto ways = ways_in_queue(entry.object.request, *queue->cluster_queue, *ledger_.intake);
    submission.parts = ways ? std::move(*ways) : WaysByPart();
  }
  return submission;
}

void HostReplacement::evict(Entry& entry, const std::set<std::string>& hosts, Time now, Step& step) {
  evictions_.evict(
      entry,
      {.reason = "NodeFailures",
       .message = fmt::format("hosts are lost or closed to pods{}, and no others take theirs where they have to be",
                              hosts.empty() ? "" : fmt::format(" ({})", fmt::join(hosts, ", ")))},
      now, step);
  evictions_.write(entry, now, step);
}

// In a domain of several hosts kube-scheduler finds others for them, as long as there is one with room.
bool HostReplacement::give_up(Entry& entry, Time now, Step& step) {
  const std::optional<std::set<std::string>> gone = booking_.lost_hosts(entry);
  if (!gone) {
    return false;
  }
  evict(entry, *gone, now, step);
  return true;
}

// Places the lost pods beside those that stay, and writes it into the admission. The cluster is left as it was.
bool HostReplacement::place_again(const Alternative& alternative, const LostRanks& lost, Admission& admission,
                                  Entry& entry) {
  book_kept(entry, lost);
  const Remainder remainder(alternative, *entry.object.admission, lost, ledger_);
  const Outcome outcome = remainder.complete() ? ledger_.cluster.engine().place(remainder.gang()) : Outcome();
  booking_.unbook(entry);
  if (outcome.placement) {
    admission = remainder.mended(*outcome.placement);
  }
  return outcome.placement.has_value();
}

// Holds the room of the ranks that stay.
void HostReplacement::book_kept(Entry& entry, const LostRanks& lost) {
  std::optional<Admission> kept = entry.object.admission;
  for (const auto& [set, ranks] : lost) {
    kept->sets[set].topology = without_ranks(*kept->sets[set].topology, ranks);
  }
  std::swap(entry.assumed, kept);
  entry.hosts.clear();
  booking_.book(entry);
  std::swap(entry.assumed, kept);
}

}  // namespace gantree::kueue
