// Who may be evicted, who is, and room that is held until they have left.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "live/notices.h"
#include "live/parsed.h"
#include "pods/pod_family.h"
#include "queue/quota.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

// Pods may take as long as their grace to go.
constexpr milliseconds kHeldFor = minutes(30);
// Pods that should name the node where room is made for them, and do not, are told again.
constexpr milliseconds kToldAgain = std::chrono::seconds(30);

std::string pod_id(const std::string& key) {
  return "pod " + key;
}

const GangWaiter& gangs_of(const Waiter& waiter) {
  return static_cast<const GangWaiter&>(waiter);
}

}  // namespace

std::vector<Waiter*> PodFamily::take_changed() {
  std::vector<Waiter*> changed;
  for (const std::string& front : std::exchange(changed_, {})) {
    if (const auto it = waiters_.find(front); it != waiters_.end()) {
      changed.push_back(&it->second);
    }
  }
  return changed;
}

bool PodFamily::waits(const Waiter& waiter) const {
  return gangs_of(waiter).asks;
}

// Its pods are told once in a step, of the last word.
void PodFamily::told(Waiter& waiter, Time, Step&) {
  untold_.insert(gangs_of(waiter).bundle.front());
}

void PodFamily::tell_waiting(Time now, Step& step) {
  for (const std::string& front : std::exchange(untold_, {})) {
    const auto it = waiters_.find(front);
    if (it != waiters_.end() && it->second.verdict) {
      tell(it->second.bundle, *it->second.verdict, now, step);
    }
  }
}

void PodFamily::hold(Waiter& waiter, const Decision& decision, Time now) {
  auto& gangs = static_cast<GangWaiter&>(waiter);
  gangs.held = take_over(gangs, decision, now);
  gangs.held_since = now;
  holding_.insert(gangs.bundle.front());
  account_.lines.take_out(waiter);
}

std::set<std::string> PodFamily::held_hosts(const Waiter& waiter) const {
  std::set<std::string> hosts;
  for (const std::string& key : gangs_of(waiter).held) {
    hosts.emplace(cluster_.node_of(key));
  }
  return hosts;
}

bool PodFamily::waits_for(const std::string& leaver) const {
  return std::any_of(holding_.begin(), holding_.end(),
                     [&](const std::string& front) { return waiters_.at(front).blockers.contains(leaver); });
}

// The bundles all of whose pods are settled on nodes, of lower priority than that or in a queue, whose rules count
// instead; not what Kueue's queues have admitted, which goes as a whole or not at all. Of gangs with queues some pods
// may wait: if it is for more than its minimum is seen when it has been read.
std::vector<PodFamily::Bundle> PodFamily::evictable(std::int64_t below) {
  std::vector<Bundle> found;
  const auto lowest = table_.lowest_bound();
  if (!lowest || (*lowest >= below && !quota_use_.has_queues())) {
    return found;
  }
  // Their room is somebody's already, though nobody may have seen yet that they leave.
  std::set<std::string> leaving;
  for (const auto& [id, evicted] : evicted_) {
    for (const auto& [key, uid] : evicted.pods) {
      leaving.insert(key);
    }
  }
  const auto settled = [&](const std::string& key) {
    const LivePod& pod = *table_.find_pod(key);
    return !pod.assumed && !pod.deleting && !pod.queued && (pod.priority < below || is_of_queues(pod.gang)) &&
           !leaving.contains(key);
  };
  const auto all_settled = [&](const std::string& id) {
    const LiveGang* gang = table_.find(id);
    return gang == nullptr ||
           ((gang->waiting == 0 || is_of_queues(id)) && std::all_of(gang->pods.begin(), gang->pods.end(), settled));
  };
  for (const auto& [id, gang] : table_.gangs()) {
    if (gang.placed == 0 || !all_settled(id)) {
      continue;
    }
    Bundle bundle = gang.partners.empty() ? Bundle{id} : table_.bundle(id);
    // A bundle is found with the first of its gangs that has pods.
    const auto first = std::find_if(bundle.begin(), bundle.end(), [&](const std::string& member) {
      const LiveGang* one = table_.find(member);
      return one != nullptr && one->placed > 0;
    });
    if (*first == id && std::all_of(bundle.begin(), bundle.end(), all_settled) && !table_.one_sided(bundle)) {
      found.push_back(std::move(bundle));
    }
  }
  return found;
}

// What they hold, for those of which it is not known.
void PodFamily::read_running(const std::vector<Bundle>& bundles) {
  std::vector<Bundle> unread;
  std::map<std::string, std::shared_ptr<ReadRunning>> read;
  for (const Bundle& bundle : bundles) {
    const auto known = running_.find(bundle.front());
    const bool labels = account_.budgets.any_in(GangTable::namespace_of(bundle.front()));
    const bool fresh = known != running_.end() && !known->second->stale && (known->second->labelled || !labels);
    const bool whole = fresh && std::all_of(bundle.begin(), bundle.end(), [&](const std::string& id) {
                         const auto of_member = running_.find(id);
                         return of_member != running_.end() && of_member->second == known->second;
                       });
    if (whole) {
      continue;
    }
    unread.push_back(bundle);
    const auto one = std::make_shared<ReadRunning>();
    one->labelled = labels;
    for (const std::string& id : bundle) {
      read.emplace(id, one);
      running_.insert_or_assign(id, one);
      const LiveGang* gang = table_.find(id);
      for (const std::string& key : !labels || gang == nullptr ? std::set<std::string>() : gang->pods) {
        const auto parsed = parse(table_.find_pod(key)->text);
        json::Reader reader(kNoFile, key);
        one->labels.emplace_back(parsed ? read_labels(reader, parsed->object.metadata(), "labels") : LabelMap(), 1);
      }
    }
  }
  const auto take = [&](const std::vector<Bundle>& some) {
    Step step;
    Quota quota;
    std::vector<Error> faults;
    const bool could =
        take_in(readers_of(dialects_), documents_of(some, step), std::nullopt, cluster_, quota, &faults).has_value();
    for (const RunningGang& gang : could ? cluster_.running() : std::vector<RunningGang>()) {
      if (const auto it = read.find(GangTable::id_of(gang.key)); it != read.end()) {
        it->second->gang = gang;
        quota_use_.translate(*it->second->gang);
      }
    }
    cluster_.forget_running();
    return could;
  };
  if (!unread.empty() && !take(unread)) {
    // Who cannot be read is not evicted.
    for (const Bundle& bundle : unread) {
      static_cast<void>(take({bundle}));
    }
  }
}

// Budgets of several namespaces are not weighed against each other.
bool PodFamily::shielded(const Bundle& bundle) const {
  const std::string_view ns = GangTable::namespace_of(bundle.front());
  return std::any_of(bundle.begin(), bundle.end(), [&](const std::string& id) {
    return GangTable::namespace_of(id) != ns && account_.budgets.any_in(GangTable::namespace_of(id));
  });
}

void PodFamily::add_victims(std::int64_t below, std::vector<Victim>& victims) {
  const std::vector<Bundle> bundles = evictable(below);
  read_running(bundles);
  for (const Bundle& bundle : bundles) {
    const ReadRunning& known = *running_.at(bundle.front());
    const LiveGang* first = table_.find(bundle.front());
    const bool waits = first != nullptr && first->waiting > 0;
    if (!known.gang || (waits && !known.gang->has_minimum)) {
      continue;
    }
    Victim& victim = victims.emplace_back(Victim{.family = this, .gang = *known.gang, .labels = known.labels});
    victim.gang.evictable = victim.gang.evictable && !shielded(bundle);
  }
}

void PodFamily::add_leavers(Time now, std::vector<Leaver>& leavers) {
  std::set<std::string> counted;
  for (const auto& [id, evicted] : evicted_) {
    Leaver leaver{.id = id, .used = evicted.used ? *evicted.used : used_by_rest(evicted.gang)};
    for (const auto& [key, uid] : evicted.pods) {
      if (!cluster_.node_of(key).empty() && counted.insert(key).second) {
        leaver.pods.push_back(key);
      }
    }
    if (now < evicted.since + kHeldFor) {
      leavers.push_back(std::move(leaver));
    }
  }
  for (const auto& [key, since] : going_) {
    const bool stays = promises_ != nullptr && promises_->outlives(key);
    if (!stays && !counted.contains(key) && now < since + kHeldFor && !cluster_.node_of(key).empty()) {
      leavers.push_back({.id = pod_id(key), .used = {}, .pods = {key}});
    }
  }
  for (const auto& [key, nomination] : nominated_) {
    if (!nomination.cleared) {
      leavers.push_back({.id = "nomination " + key, .used = {}, .pods = {key}, .priority = nomination.priority});
    }
  }
}

bool PodFamily::still_leaves(const std::string& id) const {
  return evicted_.contains(id) || (id.starts_with("pod ") && going_.contains(id.substr(4)));
}

// Takes back what a plan gave away.
void PodFamily::undo(const Decision& decision) {
  for (const PodSetDecision& set : decision.pod_sets) {
    for (const HostShare& share : set.hosts) {
      cluster_.inventory().give(share.node, set.requests, share.count);
    }
  }
}

// Another pod may have come under the same name.
bool PodFamily::is_gone(const std::string& key, const std::string& uid) {
  const LivePod* pod = table_.find_pod(key);
  return pod == nullptr || pod->uid != uid || pod->node.empty() || pod->ended();
}

// Who has left; and who was to be evicted for somebody that does not wait for it any more, and stays.
void PodFamily::follow_evicted() {
  for (auto it = evicted_.begin(); it != evicted_.end();) {
    auto& [id, evicted] = *it;
    std::erase_if(evicted.pods, [&](const auto& pod) { return is_gone(pod.first, pod.second); });
    const bool leaves = std::any_of(evicted.pods.begin(), evicted.pods.end(),
                                    [&](const auto& pod) { return going_.contains(pod.first); });
    if (evicted.pods.empty() || (!leaves && !account_.is_waited_for(id))) {
      dirty_.insert(evicted.gang);
      it = evicted_.erase(it);
    } else {
      ++it;
    }
  }
}

// It may be long since the room was given: the API server binds to any node, whatever became of it.
bool PodFamily::still_good(const std::vector<std::string>& pods) const {
  const Inventory& inventory = cluster_.inventory();
  return std::all_of(pods.begin(), pods.end(), [&](const std::string& key) {
    const auto node = inventory.find(cluster_.node_of(key));
    if (!node || !inventory.alive(*node) || !inventory.node(*node).ready || inventory.node(*node).unschedulable) {
      return false;
    }
    for (std::size_t r = 0; r < inventory.resources().size(); ++r) {
      if (inventory.free(*node, make_id<ResourceTag>(r)) < 0) {
        return false;
      }
    }
    return true;
  });
}

void PodFamily::keep_held(Time now, Step& step) {
  for (auto it = holding_.begin(); it != holding_.end();) {
    GangWaiter& waiter = waiters_.at(*it);
    if (!keep_held(waiter, now, step)) {
      ++it;
      continue;
    }
    waiter.held.clear();
    waiter.blockers.clear();
    waiter.held_until.reset();
    touch(*it);
    it = holding_.erase(it);
  }
}

bool PodFamily::keep_held(GangWaiter& waiter, Time now, Step& step) {
  std::erase_if(waiter.blockers, [&](const std::string& id) { return !account_.still_leaves(id); });
  const bool whole = std::all_of(waiter.held.begin(), waiter.held.end(), [&](const std::string& key) {
    const LivePod* pod = table_.find_pod(key);
    return pod != nullptr && pod->assumed;
  });
  if (whole && waiter.blockers.empty() && still_good(waiter.held)) {
    for (const std::string& key : waiter.held) {
      order_pod(step, {.verb = WriteVerb::kBind, .pod = key});
    }
    ++step.figures.gangs_placed;
    step.figures.pods_placed += static_cast<int>(waiter.held.size());
    tell(waiter.bundle,
         {.state = GangState::kPlaced,
          .reason = {},
          .message = fmt::format("{} pods placed in room that others left", waiter.held.size())},
         now, step);
    return true;
  }
  const Time until = waiter.held_until.value_or(waiter.held_since + kHeldFor);
  if (whole && !waiter.blockers.empty() && now < until) {
    step.wake_by(until);
    if (waiter.verdict && std::any_of(waiter.held.begin(), waiter.held.end(), [&](const std::string& key) {
          const LivePod& pod = *table_.find_pod(key);
          return pod.nominated != pod.node && now - pod.told_at >= kToldAgain;
        })) {
      untold_.insert(waiter.bundle.front());
    }
    return false;
  }
  // A pod of it has gone, or the others do not go: it is looked at anew.
  for (const std::string& key : waiter.held) {
    if (const LivePod* pod = table_.find_pod(key); pod != nullptr && pod->assumed) {
      forget(key, now);
    }
  }
  return true;
}

}  // namespace gantree
