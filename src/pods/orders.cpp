// Decisions to writes, and what becomes of them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "engine/domain_tree.h"
#include "live/notices.h"
#include "live/parsed.h"
#include "pods/pod_family.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFirstBackoff = seconds(1);
constexpr milliseconds kLongestBackoff = seconds(60);
// A binding is tried so often before its room is given up: other pods of the gang may be bound already.
constexpr int kBindAttempts = 5;

milliseconds backoff(int failures) {
  return std::min(kLongestBackoff, kFirstBackoff * (1 << std::min(failures - 1, 6)));
}

// The names of the lowest domain in which all of these lie, from the top; empty where they have none in common.
std::vector<std::string> common_path(const DomainTree& tree, const std::set<NodeId>& hosts) {
  for (int level = tree.topology_levels() - 1; level >= 0; --level) {
    std::optional<std::uint32_t> common;
    bool one = true;
    for (const NodeId node : hosts) {
      const std::uint32_t host = tree.host_of(node);
      if (host == DomainTree::kNowhere) {
        return {};
      }
      const std::uint32_t domain = tree.ancestor(tree.host_level(), host, level);
      one = one && common.value_or(domain) == domain;
      common = domain;
    }
    if (one && common) {
      return tree.path({level, *common});
    }
  }
  return {};
}

std::string placed_message(const Decision& decision, Cluster& cluster) {
  std::set<NodeId> hosts;
  int pods = 0;
  std::optional<TopologyId> topology;
  for (const PodSetDecision& set : decision.pod_sets) {
    pods += set.count;
    topology = set.count > 0 ? set.topology : topology;
    for (const HostShare& share : set.hosts) {
      hosts.insert(share.node);
    }
  }
  std::string message = fmt::format("{} pod{} placed on ", pods, pods == 1 ? "" : "s");
  if (hosts.size() == 1) {
    return message + fmt::format("host {}", cluster.inventory().node(*hosts.begin()).name);
  }
  message += fmt::format("{} hosts", hosts.size());
  const auto path = topology ? common_path(cluster.engine().tree(*topology), hosts) : std::vector<std::string>();
  return path.empty() ? message : message + fmt::format(" in {}", fmt::join(path, "/"));
}

}  // namespace

// Its room there is booked.
void PodFamily::settle_on(const std::string& pod, const std::string& node, Time now) {
  table_.change_pod(pod, now, [&](LivePod& changed) {
    changed.assumed = true;
    changed.node = node;
    changed.text = with_node(changed.text, node);
  });
}

std::vector<std::string> PodFamily::assume(const Decision& decision, Time now) {
  std::vector<std::string> keys;
  for (const PodSetDecision& set : decision.pod_sets) {
    GANTREE_CHECK(set.pods.size() >= static_cast<std::size_t>(set.count));
    std::size_t next = 0;
    for (const HostShare& share : set.hosts) {
      const std::string& node = cluster_.inventory().node(share.node).name;
      for (int i = 0; i < share.count; ++i) {
        const std::string& name = set.pods[next++];
        std::string key = name.find('/') == std::string::npos ? decision.key.ns + "/" + name : name;
        cluster_.name_assumed({.key = key, .node = node, .requests = set.requests});
        const LivePod* pod = table_.find_pod(key);
        GANTREE_CHECK(pod != nullptr && pod->waits());
        settle_on(key, node, now);
        keys.push_back(std::move(key));
      }
    }
  }
  tell_places(decision, keys);
  return keys;
}

void PodFamily::grant(Waiter& waiter, const Decision& decision, Time now, Step& step) {
  auto& gangs = static_cast<GangWaiter&>(waiter);
  const Bundle bundle = gangs.bundle;
  Time since = now;
  for (const std::string& id : bundle) {
    if (const LiveGang* gang = table_.find(id); gang != nullptr && gang->waiting > 0) {
      since = std::min(since, gang->waiting_since);
    }
  }
  gangs.verdict.reset();
  for (const std::string& key : take_over(gangs, decision, now)) {
    order_pod(step, {.verb = WriteVerb::kBind, .pod = key});
  }
  step.figures.waits.push_back(now - since);
  tell(bundle, {.state = GangState::kPlaced, .reason = {}, .message = placed_message(decision, cluster_)}, now, step);
  // Others of its pods may join those that start.
  dirty_.insert(bundle.front());
  step.wake_by(now);
}

std::vector<std::string> PodFamily::take_over(GangWaiter& waiter, const Decision& decision, Time now) {
  const std::string& front = waiter.bundle.front();
  waiter.asks = false;
  waiter.used = decision.used;
  quota_use_.grant(front, decision.used);
  measured_.erase(front);
  if (is_of_queues(front)) {
    unmeasured_.insert(front);
  }
  return assume(decision, now);
}

void PodFamily::answered(std::uint64_t id, Answer answer, std::string_view, Time now) {
  const auto it = open_.find(id);
  if (it == open_.end()) {
    return;
  }
  const OpenOrder open = std::move(it->second);
  open_.erase(it);
  if (open.pod.empty()) {
    report_answered(open, answer, now);
  } else if (open.verb == WriteVerb::kBind) {
    binding_answered(open, answer, now);
  } else if (answer != Answer::kDone && answer != Answer::kWithdrawn) {
    // A budget may forbid it for now. It is given up when nobody waits for it any more.
    again_.emplace(now + backoff(open.attempts), open);
  }
}

void PodFamily::report_answered(const OpenOrder& open, Answer answer, Time now) {
  if (answer != Answer::kDone && told_queues_.erase(open.queue) > 0) {
    figures_changed_ = true;
  }
  if (open.cluster && answer != Answer::kDone) {
    reported_structure_.reset();
    cluster_reported_at_ = now + kLongestBackoff;
  }
  LiveGang* gang = table_.find(open.gang);
  if (gang != nullptr && answer == Answer::kDone) {
    gang->report_failures = 0;
  } else if (gang != nullptr) {
    // It may never work: the kind may have no status of its own.
    ++gang->report_failures;
    gang->reported_at = now + backoff(gang->report_failures) - kFirstBackoff;
    unreported_.insert(open.gang);
  }
}

void PodFamily::binding_answered(const OpenOrder& open, Answer answer, Time now) {
  LiveGang* gang = table_.find(open.gang);
  const LivePod* pod = table_.find_pod(open.pod);
  const bool assumed = pod != nullptr && pod->uid == open.uid && pod->assumed;
  // What may have been done once is not undone by a later refusal.
  const bool uncertain = answer == Answer::kUncertain || (answer == Answer::kRefused && open.uncertain);
  switch (uncertain ? Answer::kUncertain : answer) {
    case Answer::kDone:
      if (gang != nullptr) {
        gang->failures = 0;
      }
      return;
    case Answer::kUncertain:
      // Asking again does no harm: where it was done, the server says that the pod has its node. So it is asked until
      // the answer is clear, or the pod's own event tells; its room is kept.
      if (assumed) {
        again_.emplace(now + backoff(open.attempts), open)->second.uncertain = true;
      }
      return;
    case Answer::kRefused:
      if (assumed && open.attempts < kBindAttempts) {
        again_.emplace(now + backoff(open.attempts), open);
        return;
      }
      if (gang != nullptr) {
        ++gang->failures;
        gang->retry_at = now + backoff(gang->failures);
      }
      [[fallthrough]];
    case Answer::kWithdrawn:
      if (assumed && !open.uncertain) {
        forget(open.pod, now);
      }
      return;
  }
}

void PodFamily::order_pod(Step& step, OpenOrder open) {
  const LivePod& pod = *table_.find_pod(open.pod);
  open.uid = pod.uid;
  open.gang = pod.gang;
  Write write{.verb = open.verb,
              .object = pod_ref(open.pod, pod.uid),
              .node = open.verb == WriteVerb::kBind ? pod.node : "",
              .body = open.verb == WriteVerb::kBind ? pod.hint : open.body};
  order(step, Urgency::kBinding, std::move(write), std::move(open));
}

void PodFamily::order_again(Time now, Step& step) {
  while (!again_.empty() && again_.begin()->first <= now) {
    OpenOrder open = std::move(again_.begin()->second);
    again_.erase(again_.begin());
    const LivePod* pod = table_.find_pod(open.pod);
    const auto evicted = [&](const auto& item) {
      return item.second.pods.contains(open.pod) && account_.is_waited_for(item.first);
    };
    const bool wanted = pod != nullptr && pod->uid == open.uid &&
                        (open.verb == WriteVerb::kBind ? pod->assumed
                                                       : !pod->deleting && !pod->ended() &&
                                                             (is_given_back(pod->gang) ||
                                                              std::any_of(evicted_.begin(), evicted_.end(), evicted)));
    if (!wanted) {
      continue;
    }
    // Another scheduler may have taken the room meanwhile.
    if (open.verb == WriteVerb::kBind && !open.uncertain && !still_good({open.pod})) {
      forget(open.pod, now);
      continue;
    }
    ++open.attempts;
    order_pod(step, std::move(open));
  }
  if (!again_.empty()) {
    step.wake_by(again_.begin()->first);
  }
}

void PodFamily::forget(const std::string& key, Time now) {
  cluster_.remove_pod(key);
  table_.change_pod(key, now, [](LivePod& pod) {
    pod.assumed = false;
    pod.text = without_node(pod.text, pod.node);
    pod.node.clear();
    pod.hint.clear();
    pod.rank = -1;
  });
  account_.room_changed = true;
  const LivePod& pod = *table_.find_pod(key);
  touch(pod.gang);
  if (pod.queued && promises_ != nullptr) {
    queued_.insert(key);
    promises_->returned(key);
  }
}

void PodFamily::forget_assumed(const std::set<std::string>& pods, Time now) {
  for (const std::string& key : pods) {
    if (const LivePod* pod = table_.find_pod(key); pod != nullptr && pod->assumed) {
      forget(key, now);
    }
  }
}

void PodFamily::stop_leading(Time now) {
  // What may have been done stays booked until its event tells. So does what was answered: the answer may have been
  // faster than the event.
  std::set<std::string> undone;
  account_.lines.clear(*this);
  for (const auto& [front, waiter] : std::exchange(waiters_, {})) {
    undone.insert(waiter.held.begin(), waiter.held.end());
  }
  holding_.clear();
  changed_.clear();
  untold_.clear();
  asks_with_.clear();
  evicted_.clear();
  for (const auto& [time, open] : std::exchange(again_, {})) {
    if (open.verb == WriteVerb::kBind && !open.uncertain) {
      undone.insert(open.pod);
    }
  }
  look_again_.clear();
  half_bound_.clear();
  restores_ = true;
  forget_assumed(undone, now);
}

void PodFamily::note_under_way() {
  under_way_.clear();
  for (auto& [id, open] : open_) {
    if (open.verb == WriteVerb::kBind) {
      under_way_.insert(open.pod);
      // Where it is refused, it is not tried again as it was decided then.
      open.attempts = kBindAttempts;
    }
  }
}

void PodFamily::start_leading(Time now) {
  std::erase_if(again_, [&](const auto& item) {
    const OpenOrder& open = item.second;
    return open.verb != WriteVerb::kBind || !open.uncertain || !under_way_.contains(open.pod);
  });
  std::set<std::string> unseen;
  for (const auto& [id, gang] : table_.gangs()) {
    for (const std::string& key : gang.pods) {
      if (table_.find_pod(key)->assumed && !under_way_.contains(key)) {
        unseen.insert(key);
      }
    }
  }
  under_way_.clear();
  restores_ = true;
  forget_assumed(unseen, now);
}

void PodFamily::stand_by() {
  dirty_.clear();
  unreported_.clear();
  stood_by_ = true;
}

void PodFamily::order(Step& step, Urgency urgency, Write write, OpenOrder open) {
  const std::uint64_t id = ++account_.orders;
  if (urgency != Urgency::kEvent) {
    open_.emplace(id, std::move(open));
  }
  step.orders.push_back({.id = id, .urgency = urgency, .write = std::move(write)});
}

}  // namespace gantree
