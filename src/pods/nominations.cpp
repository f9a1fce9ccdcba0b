// Room that pods name in their status as theirs: `nominatedNodeName`.
//
// While a gang waits for others to leave, each of its pods names the node where room is made for it. By that its room
// is held again after a restart. Pods of other schedulers name nodes, too: that room counts as taken, but for those
// of higher priority that have others evicted. On the nodes where these get room such pods lose their nomination.
#include <algorithm>
#include <tuple>

#include "dialects/core/pod.h"
#include "live/notices.h"
#include "live/parsed.h"
#include "pods/pod_family.h"
#include "pods/pod_fields.h"

namespace gantree {

namespace {

// The first attempt comes with the reason why the pod waits.
constexpr std::chrono::seconds kClearedAgain{30};

}  // namespace

void PodFamily::note_nomination(const std::string& key, const NamedObject& named, const PodRecord* pod) {
  const bool bound = pod != nullptr && pod->bound();
  // For pods of queues room is kept anyway.
  const bool queued = is_of_queue(named.object);
  const std::string node(pod == nullptr || bound || pod->deleting || queued ? std::string_view()
                                                                            : nominated_node(named.object.value));
  const auto known = nominated_.find(key);
  if (node.empty()) {
    if (known != nominated_.end() && !bound && !known->second.cleared) {
      cluster_.remove_pod(key);
      account_.room_changed = true;
    }
    nominated_.erase(key);
    return;
  }
  const std::string uid(text_in(named.object.metadata(), "uid"));
  if (known != nominated_.end() && known->second.cleared && known->second.uid == uid && known->second.node == node) {
    return;
  }
  cluster_.upsert_pod({.key = key, .node = node, .requests = pod->requests});
  nominated_.insert_or_assign(
      key, Nomination{.uid = uid, .node = node, .priority = priority_in(named.object.value["spec"]), .cleared = false});
}

void PodFamily::make_way(const std::set<std::string>& hosts, std::int64_t priority, Step& step) {
  for (auto& [key, nomination] : nominated_) {
    if (nomination.cleared || nomination.priority >= priority || !hosts.contains(nomination.node)) {
      continue;
    }
    nomination.cleared = true;
    cluster_.remove_pod(key);
    order(step, Urgency::kStatus, clear_nomination(pod_ref(key, nomination.uid)));
  }
}

void PodFamily::clear_own_nominations(Time now, Step& step) {
  for (const std::string& key : own_nominated_) {
    LivePod& pod = *table_.find_pod(key);
    if (!pod.waits() || pod.nominated.empty()) {
      continue;
    }
    if (const Time due = pod.told_at + kClearedAgain; now < due) {
      step.wake_by(due);
      continue;
    }
    pod.told_at = now;
    order(step, Urgency::kStatus, clear_nomination(pod_ref(key, pod.uid)));
  }
}

void PodFamily::restore_held(Time now, Step& step) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::string>> found;  // the highest priority first
  for (const std::string& id : table_.waiting()) {
    const LiveGang& gang = *table_.find(id);
    const bool nominated = std::any_of(gang.pods.begin(), gang.pods.end(), [&](const std::string& key) {
      const LivePod& pod = *table_.find_pod(key);
      return pod.waits() && !pod.queued && !pod.nominated.empty();
    });
    if (nominated) {
      found.emplace(-gang.priority, gang.created_seconds, table_.bundle(id).front());
    }
  }
  if (found.empty()) {
    return;
  }
  std::vector<Leaver> leaving = account_.leavers(now);
  std::erase_if(leaving, [](const Leaver& leaver) { return leaver.priority.has_value(); });
  const auto each = [&](const auto& change) {
    for (const Leaver& leaver : leaving) {
      std::for_each(leaver.pods.begin(), leaver.pods.end(), change);
    }
  };
  each([&](const std::string& pod) { cluster_.lend(pod); });
  for (const auto& [priority, created, front] : found) {
    const Bundle bundle = table_.bundle(front);
    const auto known = waiters_.find(front);
    if ((known == waiters_.end() || known->second.held.empty()) && !obstacle(bundle)) {
      restore_held(bundle, leaving, now, step);
    }
  }
  each([&](const std::string& pod) { cluster_.take_back(pod); });
}

// What leaves is lent out.
void PodFamily::restore_held(const Bundle& bundle, const std::vector<Leaver>& leaving, Time now, Step& step) {
  if (lacks_pods(bundle, false, step)) {
    return;
  }
  std::vector<std::string> held;
  for (const std::string& id : bundle) {
    const LiveGang* gang = table_.find(id);
    for (const std::string& key : gang == nullptr ? std::set<std::string>() : gang->pods) {
      if (assume_nominated(key, now)) {
        held.push_back(key);
      }
    }
  }
  if (held.empty() || !still_good(held) || lacks_pods(bundle, true, step)) {
    forget_assumed({held.begin(), held.end()}, now);
    return;
  }
  GangWaiter& waiter = waiter_of(bundle);
  waiter.held = std::move(held);
  waiter.held_since = now;
  holding_.insert(bundle.front());
  const std::set<std::string> hosts = held_hosts(waiter);
  for (const Leaver& leaver : leaving) {
    if (std::any_of(leaver.pods.begin(), leaver.pods.end(),
                    [&](const std::string& pod) { return hosts.contains(std::string(cluster_.node_of(pod))); })) {
      waiter.blockers.insert(leaver.id);
    }
  }
  step.details.push_back("gang \"" + bundle.front() + "\" has room held again where its pods are nominated");
}

bool PodFamily::assume_nominated(const std::string& key, Time now) {
  const LivePod& pod = *table_.find_pod(key);
  if (!pod.waits() || pod.nominated.empty() || !cluster_.inventory().find(pod.nominated)) {
    return false;
  }
  const auto parsed = parse(pod.text);
  if (!parsed) {
    return false;
  }
  const std::size_t slash = key.find('/');
  const NamedObject named{.object = parsed->object,
                          .ns = std::string_view(key).substr(0, slash),
                          .name = std::string_view(key).substr(slash + 1)};
  const auto record = read_pod(named, cluster_.inventory().resources());
  if (!record || !record->has_value()) {
    return false;
  }
  const std::string node = pod.nominated;
  cluster_.upsert_pod({.key = key, .node = node, .requests = (*record)->requests});
  settle_on(key, node, now);
  return true;
}

// Whether it could not start even if all its pods had nodes; or, `as_is`, with those that have one, be it only assumed.
bool PodFamily::lacks_pods(const Bundle& bundle, bool as_is, Step& step) {
  const Result<Reading> reading = read_alone(bundle, step);
  return !reading || std::any_of(reading->queue.begin(), reading->queue.end(), [&](const Submission& submission) {
    return submission.rejection || (as_is && submission.begun == Begun::kTooFew);
  });
}

}  // namespace gantree
