#include "kueue/ungater.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "dialects/core/metadata.h"
#include "dialects/gangs.h"
#include "dialects/kueue/names.h"
#include "kueue/hosts.h"
#include "kueue/pod_rank.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

bool selects(const StartedPod& pod, const TopologyAssignment& assignment, const AssignedDomain& domain) {
  for (std::size_t level = 0; level < assignment.levels.size(); ++level) {
    const auto it = pod.selector.find(assignment.levels[level]);
    if (it == pod.selector.end() || it->second != domain.values[level]) {
      return false;
    }
  }
  return true;
}

Write ungating(const std::string& key, const StartedPod& pod, const TopologyAssignment& assignment,
               const AssignedDomain& domain) {
  json::Out selector = json::Out::object();
  for (std::size_t level = 0; level < assignment.levels.size(); ++level) {
    selector.add(assignment.levels[level], domain.values[level]);
  }
  json::Out gate = json::Out::object();
  gate.add("$patch", "delete").add("name", kTopologyGate);
  json::Out spec = json::Out::object();
  spec.add("nodeSelector", std::move(selector)).add("schedulingGates", json::Out::Array{std::move(gate)});
  json::Out body = json::Out::object();
  body.add("metadata", std::move(json::Out::object().add("uid", pod.uid))).add("spec", std::move(spec));
  return {.verb = WriteVerb::kPatch, .object = pod_ref(key, pod.uid), .node = {}, .body = body.to_json(false)};
}

constexpr std::string_view kStranded = "The host that it was sent to is of no use any more";

// The conditions by which policies of Jobs tell such failures from others: Kueue's own, and that of all disruptions.
Write failing(const ObjectRef& pod, Time now) {
  json::Out::Array conditions;
  for (const std::string_view type : {std::string_view("TerminatedByKueue"), std::string_view("DisruptionTarget")}) {
    json::Out condition = json::Out::object();
    condition.add("type", type).add("status", "True").add("reason", "UnschedulableOnAssignedNode");
    condition.add("message", kStranded).add("lastTransitionTime", rfc3339(now));
    conditions.push_back(std::move(condition));
  }
  json::Out body = json::Out::object();
  body.add("metadata", std::move(json::Out::object().add("uid", pod.uid)));
  body.add("status", std::move(json::Out::object().add("phase", "Failed").add("conditions", std::move(conditions))));
  return {.verb = WriteVerb::kPatchStatus, .object = pod, .node = {}, .body = body.to_json(false)};
}

}  // namespace

// The places of an assignment while they are given out. Positions are those of its domains.
struct Ungater::Slots {
  std::vector<int> left = {};
  std::vector<std::size_t> by_rank = {};
  std::vector<int> leaving = {};    // taken by pods that are on their way out
  std::set<std::size_t> lost = {};  // on hosts that take no pods any more

  [[nodiscard]] std::optional<std::size_t> any() const {
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] > 0 && !lost.contains(i)) {
        return i;
      }
    }
    return std::nullopt;
  }
};

void Ungater::remove_stranded(const Entry& entry, Time now, Step& step) {
  for (const SetAssignment& set : entry.object.admission->sets) {
    if (!set.topology) {
      continue;
    }
    const std::set<std::string> strays = is_by_host(set) ? strays_of(entry, set) : std::set<std::string>();
    for (const std::string& key : ledger_.pods_of(entry.key())) {
      StartedPod& pod = ledger_.pods.at(key);
      if (pod.set != set.name || pod.gated || pod.ended || pod.deleting || pod.asked) {
        continue;
      }
      const bool sent = pod.node.empty() && pod.selector.contains(set.topology->levels.back());
      if (strays.contains(key) || (sent && !has_place(entry, set, pod))) {
        remove(key, pod, now, step);
      }
    }
  }
}

// Pods that run on a host of which their pod set has nothing, or nothing any more, or less than that: it was gone or
// took no pods, and was replaced before it came back, with pods that were there or got there all the same. Where some
// of them may stay, they are those whose rank is there.
std::set<std::string> Ungater::strays_of(const Entry& entry, const SetAssignment& set) const {
  std::map<std::vector<std::string>, int> left;
  std::vector<std::size_t> by_rank;
  for (std::size_t i = 0; i < set.topology->domains.size(); ++i) {
    const AssignedDomain& domain = set.topology->domains[i];
    left[domain.values] += domain.count;
    by_rank.insert(by_rank.end(), static_cast<std::size_t>(domain.count), i);
  }
  std::map<std::vector<std::string>, std::vector<std::string>> here;  // pods by host
  for (const std::string& key : ledger_.pods_of(entry.key())) {
    const StartedPod& pod = ledger_.pods.at(key);
    if (pod.set == set.name && pod.runs() && is_there(ledger_, pod.node)) {
      here[domain_of(ledger_.cluster.inventory(), pod.node, *set.topology)].push_back(key);
    }
  }
  const PodSetRequest* request = entry.pod_set(set.name);
  const auto belongs = [&](const std::string& key, const std::vector<std::string>& host) {
    const auto rank = request == nullptr ? std::nullopt : rank_in_set(ledger_.pods.at(key), *request);
    return rank && static_cast<std::size_t>(*rank) < by_rank.size() &&
           set.topology->domains[by_rank[static_cast<std::size_t>(*rank)]].values == host;
  };
  std::set<std::string> strays;
  for (auto& [host, pods] : here) {
    const auto places = static_cast<std::size_t>(left[host]);
    if (!host.empty() && pods.size() > places) {
      std::stable_partition(pods.begin(), pods.end(), [&](const std::string& key) { return belongs(key, host); });
      strays.insert(pods.begin() + static_cast<std::ptrdiff_t>(places), pods.end());
    }
  }
  return strays;
}

// Whether a pod that was sent somewhere can still get there. Where others of its pod set run on a host that takes no
// pods any more, or have come to their end there, what is assigned to it is theirs.
bool Ungater::has_place(const Entry& entry, const SetAssignment& set, const StartedPod& pod) const {
  int assigned = 0;
  for (const AssignedDomain& domain : set.topology->domains) {
    assigned += selects(pod, *set.topology, domain) ? domain.count : 0;
  }
  if (assigned == 0 || !is_by_host(set)) {
    return assigned > 0;
  }
  const std::string node = ledger_.hostnames.node_named(pod.selector.find(kHostnameLabel)->second);
  return takes_pods(ledger_, entry, set, node) ||
         run_on(ledger_, entry, set, node) + over_on(ledger_, entry, set, node) < assigned;
}

void Ungater::remove(const std::string& key, StartedPod& pod, Time now, Step& step) {
  pod.asked = true;
  const ObjectRef about = pod_ref(key, pod.uid);
  // Of one that runs its kubelet tells how far it is.
  const bool to_fail = ledger_.groups.group_of_pod(key) == nullptr && pod.node.empty();
  outbox_.order(
      step, Urgency::kBinding,
      to_fail ? failing(about, now) : Write{.verb = WriteVerb::kDelete, .object = about, .node = {}, .body = {}},
      {.pod = key});
  outbox_.notify(
      step,
      {.about = about, .warning = true, .reason = "PodTerminatedByKueue", .action = "Terminate", .note = kStranded},
      now);
}

void Ungater::ungate(const Entry& entry, Step& step) {
  const std::set<std::string>& pods = ledger_.pods_of(entry.key());
  // As long as it is on its way to other hosts it has neither these nor those for certain.
  if (pods.empty() || !entry.object.admission || entry.assumed || !entry.object.holds(kAdmitted) ||
      !entry.object.active || entry.leaves()) {
    return;
  }
  const bool has_to_leave = booking_.lost_hosts(entry).has_value();
  for (const SetAssignment& set : entry.object.admission->sets) {
    std::vector<std::string> members;
    bool gated = false;
    for (const std::string& pod : pods) {
      const StartedPod& one = ledger_.pods.at(pod);
      const bool stranger = one.held && one.group != entry.object.owner_uid;
      // Whoever takes the place of a pod that is on its way out waits until that has left its room.
      const bool counts = one.spent || (!one.ended && !one.deleting) || (set.topology && one.leaves());
      if (one.set == set.name && !stranger && counts) {
        members.push_back(pod);
        gated = gated || (one.gated && !one.asked);
      }
    }
    leave_earlier(entry, set, members);
    if (gated && set.topology && !is_by_host(set) && has_to_leave) {
      continue;  // they would wait there for nothing
    }
    if (gated && set.topology) {
      ungate_set(entry, set, members, step);
    } else if (gated) {
      releaser_.release_set(entry, set, members, step);
    }
  }
}

// Pods of a group that were over before it was admitted have no part in what it was given.
void Ungater::leave_earlier(const Entry& entry, const SetAssignment& set, std::vector<std::string>& members) const {
  int earlier = entry.object.asked_of(set.name, set.count) - set.count;
  const auto is_elsewhere = [&](const StartedPod& pod) {
    const auto domain =
        set.topology ? domain_of(ledger_.cluster.inventory(), pod.node, *set.topology) : std::vector<std::string>();
    return set.topology && std::none_of(set.topology->domains.begin(), set.topology->domains.end(),
                                        [&](const AssignedDomain& one) { return one.values == domain; });
  };
  for (const bool elsewhere : {true, false}) {
    std::erase_if(members, [&](const std::string& key) {
      const StartedPod& pod = ledger_.pods.at(key);
      return pod.spent && earlier > 0 && (!elsewhere || is_elsewhere(pod)) && earlier-- > 0;
    });
  }
}

Ungater::Slots Ungater::slots_of(const Entry& entry, const SetAssignment& set) const {
  const TopologyAssignment& assignment = *set.topology;
  Slots slots;
  for (std::size_t i = 0; i < assignment.domains.size(); ++i) {
    const AssignedDomain& domain = assignment.domains[i];
    slots.left.push_back(domain.count);
    slots.leaving.push_back(0);
    slots.by_rank.insert(slots.by_rank.end(), static_cast<std::size_t>(domain.count), i);
    if (is_by_host(set) && !takes_pods(ledger_, entry, set, ledger_.hostnames.node_named(domain.values.back()))) {
      slots.lost.insert(i);
    }
  }
  return slots;
}

void Ungater::ungate_set(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members,
                         Step& step) {
  const TopologyAssignment& assignment = *set.topology;
  Slots slots = slots_of(entry, set);
  const std::vector<std::string> gated = take_used(assignment, members, slots);
  leave_given_back(entry, set, members, slots);
  for (const std::string& key : give_by_rank(entry, set, gated, slots)) {
    const auto free = slots.any();
    if (!free) {
      break;  // more pods than were asked for: they wait
    }
    --slots.left[*free];
    ledger_.pods.at(key).slot = free;
  }
  for (const std::string& key : members) {
    StartedPod& pod = ledger_.pods.at(key);
    if (pod.gated && pod.slot && !pod.asked && pod.held) {
      releaser_.release(key, entry, set, &assignment.domains[*pod.slot], step);
    } else if (pod.gated && pod.slot && !pod.asked) {
      pod.asked = true;
      outbox_.order(step, Urgency::kBinding, ungating(key, pod, assignment, assignment.domains[*pod.slot]),
                    {.pod = key});
    }
  }
}

// Takes out what pods have already that are on their way or there; the others are those that are to be told.
std::vector<std::string> Ungater::take_used(const TopologyAssignment& assignment,
                                            const std::vector<std::string>& members, Slots& slots) const {
  std::map<std::vector<std::string>, std::vector<std::size_t>> positions;  // a domain may come twice
  for (std::size_t i = 0; i < assignment.domains.size(); ++i) {
    positions[assignment.domains[i].values].push_back(i);
  }
  const Inventory& inventory = ledger_.cluster.inventory();
  std::vector<std::string> gated;
  for (const std::string& key : members) {
    const StartedPod& pod = ledger_.pods.at(key);
    if (pod.gated && !pod.slot) {
      gated.push_back(key);
      continue;
    }
    std::vector<std::size_t> here;
    if (pod.slot) {
      here = {*pod.slot};
    } else if (const auto id = inventory.find(pod.node); pod.node.empty() || (id && inventory.alive(*id))) {
      const auto at = positions.find(pod.node.empty() ? domain_selected(pod, assignment)
                                                      : domain_of(inventory, pod.node, assignment));
      here = at == positions.end() ? here : at->second;
    }
    const auto free = std::find_if(here.begin(), here.end(),
                                   [&](std::size_t i) { return i < slots.left.size() && slots.left[i] > 0; });
    if (free != here.end()) {
      --slots.left[*free];
      slots.leaving[*free] += pod.leaves() ? 1 : 0;
    }
  }
  return gated;
}

// Every pod whose rank has a place of its own gets that. Returns the others, which get what is left.
std::vector<std::string> Ungater::give_by_rank(const Entry& entry, const SetAssignment& set,
                                               const std::vector<std::string>& gated, Slots& slots) {
  const PodSetRequest* request = entry.pod_set(set.name);
  std::vector<std::string> others;
  for (const std::string& key : gated) {
    StartedPod& pod = ledger_.pods.at(key);
    const auto rank = request == nullptr ? std::nullopt : rank_in_set(pod, *request);
    const bool known = rank && static_cast<std::size_t>(*rank) < slots.by_rank.size();
    const std::size_t slot = known ? slots.by_rank[static_cast<std::size_t>(*rank)] : 0;
    if (known && slots.lost.contains(slot)) {
      continue;  // it will be given another place
    }
    if (known && slots.left[slot] > 0) {
      pod.slot = slot;
      --slots.left[slot];
    } else if (known && slots.leaving[slot] > 0) {
      --slots.leaving[slot];  // it has its place when the one before it is gone
    } else {
      others.push_back(key);
    }
  }
  return others;
}

// Room that pods have left which are over, or which are not wanted any more, is no longer the Workload's: takes it out
// of what is left of its places.
void Ungater::leave_given_back(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members,
                               Slots& slots) const {
  if (booking_.is_short_of_room(entry)) {
    return;  // whatever is held, it is for less than they need
  }
  const Inventory& inventory = ledger_.cluster.inventory();
  std::map<std::vector<std::string>, int> theirs;
  for (const auto& [node, count] : booking_.held_by_node(entry, set)) {
    theirs[domain_of(inventory, node, *set.topology)] += count;
  }
  for (const std::string& key : members) {
    const std::string node(ledger_.node_of(key, ledger_.pods.at(key)));
    ++theirs[domain_of(inventory, node, *set.topology)];
  }
  for (std::size_t i = 0; i < slots.left.size(); ++i) {
    const AssignedDomain& domain = set.topology->domains[i];
    int& here = theirs[domain.values];
    const int kept = std::min(here, domain.count);
    here -= kept;
    slots.left[i] -= domain.count - kept;
  }
}

}  // namespace gantree::kueue
