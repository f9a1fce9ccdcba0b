// State to decisions.
#include "live/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "base/check.h"
#include "cycle/cycle.h"
#include "dialects/topologies.h"
#include "engine/domain_tree.h"
#include "live/notices.h"
#include "live/parsed.h"
#include "queue/quota.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFirstBackoff = seconds(1);
constexpr milliseconds kLongestBackoff = seconds(60);
// A binding is tried so often before its room is given up: other pods of the gang may be bound already.
constexpr int kBindAttempts = 5;
constexpr milliseconds kTryAllEvery = seconds(30);

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

// Whether some pods must start, rather than as many as there is room for.
bool insists(const Group& group) {
  const auto at_least_one = [](const PodSet& set) { return set.min_count > 0; };
  return group.min_pods.value_or(0) > 0 || std::any_of(group.pod_sets.begin(), group.pod_sets.end(), at_least_one) ||
         std::any_of(group.groups.begin(), group.groups.end(), [](const Group& nested) { return insists(nested); });
}

bool insists(const Submission& submission) {
  return !submission.alternatives.empty() && insists(submission.alternatives.front().gang.root);
}

}  // namespace

LiveScheduler::LiveScheduler(SchedulerOptions options)
    : options_(std::move(options)), dialects_(live_dialects(options_.schedulers)) {}

LiveScheduler::~LiveScheduler() = default;

Step LiveScheduler::step(Time now) {
  Step step;
  if (std::exchange(stood_by_, false)) {
    room_grew_ = true;
    for (const auto& [id, gang] : table_.gangs()) {
      unreported_.insert(id);
    }
  }
  static_cast<void>(take_freed_nodes(now));
  if (const auto time = daemons_.next()) {
    step.wake_by(*time);
  }
  order_again(now, step);
  keep_reservations(now, step);
  read_config(step);
  bind_promised(now, step);
  std::vector<Bundle> bundles = choose(now, step);
  std::erase_if(bundles, [&](const Bundle& bundle) {
    auto verdict = obstacle(bundle);
    if (verdict) {
      tell(bundle, std::move(*verdict), now, step);
    }
    return verdict.has_value();
  });
  step.figures.decided = !bundles.empty();
  // Who names another that does not agree is read alone, so that the other is not drawn in.
  const auto lonely = std::stable_partition(bundles.begin(), bundles.end(),
                                            [&](const Bundle& bundle) { return !table_.one_sided(bundle); });
  const std::vector<Bundle> alone(std::make_move_iterator(lonely), std::make_move_iterator(bundles.end()));
  bundles.erase(lonely, bundles.end());
  if (!bundles.empty()) {
    decide(bundles, now, step);
  }
  for (const Bundle& bundle : alone) {
    decide({bundle}, now, step);
  }
  preempt(now, step);
  report(now, step);
  report_cluster(now, step);
  return step;
}

// What concerns the whole cluster is read also while no gang asks: its topologies are measured, its faults told.
void LiveScheduler::read_config(Step& step) {
  if (!std::exchange(config_changed_, false)) {
    return;
  }
  remarked_.clear();
  Quota quota;
  std::vector<Error> faults;
  static_cast<void>(hosts_only(cluster_.engine()));
  const auto reading = take_in(readers_of(dialects_), documents_of({}), std::nullopt, cluster_, quota, &faults);
  if (!reading) {
    faults.push_back(reading.error());
  }
  cluster_.forget_running();
  remark(step, faults);
}

void LiveScheduler::remark(Step& step, const std::vector<Error>& faults) {
  for (const Error& fault : faults) {
    if (remarked_.insert(fault.message).second) {
      step.remarks.push_back(without_places(fault.message));
    }
  }
}

std::vector<LiveScheduler::Bundle> LiveScheduler::choose(Time now, Step& step) {
  std::set<std::string> taken;
  std::vector<Bundle> bundles;
  const std::set<std::string> promised = promised_gangs();
  std::set<std::string> later;
  const auto take = [&](const std::string& id) {
    if (taken.contains(id)) {
      return;
    }
    Bundle bundle = table_.bundle(id);
    taken.insert(bundle.begin(), bundle.end());
    Time not_before = now;
    bool waits = false;
    for (const std::string& member : bundle) {
      if (const LiveGang* gang = table_.find(member)) {
        not_before = std::max(not_before, gang->retry_at);
        waits = waits || gang->waiting > 0;
      }
      if (promised.contains(member)) {
        return;
      }
    }
    if (not_before > now) {
      later.insert(id);
      step.wake_by(not_before);
    } else if (waits) {
      bundles.push_back(std::move(bundle));
    }
  };
  while (!look_again_.empty() && look_again_.begin()->first <= now) {
    dirty_.insert(look_again_.begin()->second);
    look_again_.erase(look_again_.begin());
  }
  if (!look_again_.empty()) {
    step.wake_by(look_again_.begin()->first);
  }
  // Something may have been overlooked: who waits is looked at now and then, whatever happens.
  if (now - all_tried_at_ >= kTryAllEvery) {
    room_grew_ = true;
  }
  if (room_grew_) {
    all_tried_at_ = now;
  }
  if (!table_.waiting().empty()) {
    step.wake_by(all_tried_at_ + kTryAllEvery);
  }
  for (const std::string& id : dirty_) {
    take(id);
  }
  if (room_grew_) {
    for (const std::string& id : table_.waiting()) {
      take(id);
    }
  }
  dirty_ = std::move(later);
  room_grew_ = false;
  return bundles;
}

std::optional<Verdict> LiveScheduler::obstacle(const Bundle& bundle) {
  for (const std::string& id : bundle) {
    const LiveGang* gang = table_.find(id);
    if (gang == nullptr || gang->waiting == 0) {
      continue;
    }
    for (const std::string& key : gang->pods) {
      const LivePod& pod = *table_.find_pod(key);
      if (!pod.waits() || !pod.needs) {
        continue;
      }
      if (!pod.needs->unsupported.empty()) {
        return Verdict{.state = GangState::kRejected,
                       .reason = Reason::kInvalidRequest,
                       .message = fmt::format("Pod \"{}\" asks for {}, which this scheduler does not look at", key,
                                              pod.needs->unsupported)};
      }
      if (std::string why = volumes_.obstacle(pod.needs->claims); !why.empty()) {
        return Verdict{.state = GangState::kWaiting,
                       .reason = Reason::kGangIncomplete,
                       .message = fmt::format("Pod \"{}\" waits for storage: {}", key, why)};
      }
    }
  }
  return std::nullopt;
}

std::vector<json::Document> LiveScheduler::documents_of(const std::vector<Bundle>& bundles) {
  std::vector<json::Document> documents;
  const auto add = [&](const std::string& text) {
    // What could be read when it came can be read again.
    if (auto parsed = parse(text)) {
      documents.push_back(std::move(parsed->document));
    }
  };
  for (const auto& [key, text] : config_) {
    add(text);
  }
  for (const Bundle& bundle : bundles) {
    for (const std::string& id : bundle) {
      const LiveGang* gang = table_.find(id);
      if (gang == nullptr) {
        continue;
      }
      if (!gang->object.empty()) {
        add(gang->object);
      }
      for (const std::string& key : gang->pods) {
        const LivePod& pod = *table_.find_pod(key);
        if (!pod.ended() && (!pod.node.empty() || pod.waits())) {
          const bool claims = pod.node.empty() && pod.needs && !pod.needs->claims.empty();
          add(claims ? volumes_.confined(pod.text, pod.needs->claims) : pod.text);
        }
      }
    }
  }
  return documents;
}

void LiveScheduler::decide(const std::vector<Bundle>& bundles, Time now, Step& step) {
  const std::vector<json::Document> documents = documents_of(bundles);
  Quota quota;
  std::vector<Error> faults;
  auto reading = take_in(readers_of(dialects_), documents, std::nullopt, cluster_, quota, &faults);
  remark(step, faults);
  if (!reading) {
    cluster_.forget_running();
    set_unreadable_aside(bundles, now, step);
    return;
  }
  std::map<std::string, const Bundle*> known;
  for (const Bundle& bundle : bundles) {
    for (const std::string& id : bundle) {
      known.emplace(id, &bundle);
    }
  }
  // A group goes by the first of its gangs, which may be one that is not there.
  const auto bundle_of = [&](const GangKey& key) -> const Bundle* {
    const auto it = known.find(GangTable::id_of(key));
    return it != known.end() ? it->second : bundles.size() == 1 ? &bundles.front() : nullptr;
  };
  // Whoever runs without its minimum, say because this process died while it bound a gang, holds room that is of no
  // use to it until the rest has come. Whoever lost a pod comes next.
  std::array<std::vector<Submission>, 3> queues;
  for (Submission& submission : reading->queue) {
    submission.may_evict = false;
    const Bundle* bundle = bundle_of(submission.key);
    if (bundle == nullptr) {
      // Its pods contradict each other about who belongs together.
      remark(step, {{.code = Errc::kInvalid,
                     .message = fmt::format("gang \"{}/{}\" is named by pods of another that does not know it",
                                            submission.key.ns, submission.key.name)}});
      continue;
    }
    const bool runs = std::any_of(bundle->begin(), bundle->end(), [&](const std::string& id) {
      const LiveGang* gang = table_.find(id);
      return gang != nullptr && gang->placed > 0;
    });
    queues[!runs ? 2U : insists(submission) ? 0U : 1U].push_back(std::move(submission));
  }
  for (std::vector<Submission>& queue : queues) {
    const Plan plan = run_cycle(cluster_, quota, std::move(queue));
    for (const Decision& decision : plan.decisions) {
      settle(decision, *bundle_of(decision.key), now, step);
    }
  }
  cluster_.forget_running();
}

// One of them cannot be read; the others shall not suffer. It is not looked at again for a while.
void LiveScheduler::set_unreadable_aside(const std::vector<Bundle>& bundles, Time now, Step& step) {
  std::vector<Bundle> good;
  for (const Bundle& bundle : bundles) {
    Quota quota;
    std::vector<Error> faults;
    const auto reading = take_in(readers_of(dialects_), documents_of({bundle}), std::nullopt, cluster_, quota, &faults);
    cluster_.forget_running();
    if (reading) {
      good.push_back(bundle);
      continue;
    }
    for (const std::string& id : bundle) {
      if (LiveGang* gang = table_.find(id)) {
        gang->retry_at = now + kLongestBackoff;
      }
    }
    tell(bundle,
         {.state = GangState::kRejected,
          .reason = Reason::kInvalidRequest,
          .message = without_places(reading.error().message)},
         now, step);
  }
  // Where each can be read by itself, all of them together cannot, for whatever reason: then one by one.
  if (good.size() == bundles.size()) {
    for (const Bundle& bundle : bundles.size() > 1 ? bundles : std::vector<Bundle>()) {
      decide({bundle}, now, step);
    }
  } else if (!good.empty()) {
    decide(good, now, step);
  }
}

void LiveScheduler::settle(const Decision& decision, const Bundle& bundle, Time now, Step& step) {
  ++step.figures.gangs_tried;
  if (decision.state == GangState::kPlaced) {
    bind(decision, bundle, now, step);
    return;
  }
  if (decision.reason == Reason::kTopologyBusy && outranks_somebody(bundle)) {
    crowded_out_.insert(bundle.front());
  }
  tell(bundle, {.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)}, now,
       step);
}

std::vector<std::string> LiveScheduler::assume(const Decision& decision, Time now) {
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
        table_.change_pod(key, now, [&](LivePod& changed) {
          changed.assumed = true;
          changed.node = node;
          changed.text = with_node(changed.text, node);
        });
        keys.push_back(std::move(key));
      }
    }
  }
  return keys;
}

void LiveScheduler::bind(const Decision& decision, const Bundle& bundle, Time now, Step& step) {
  Time since = now;
  for (const std::string& id : bundle) {
    if (const LiveGang* gang = table_.find(id); gang != nullptr && gang->waiting > 0) {
      since = std::min(since, gang->waiting_since);
    }
  }
  const std::vector<std::string> keys = assume(decision, now);
  for (const std::string& key : keys) {
    order_pod(step, WriteVerb::kBind, key, 1);
  }
  ++step.figures.gangs_placed;
  step.figures.pods_placed += static_cast<int>(keys.size());
  step.figures.waits.push_back(now - since);
  tell(bundle, {.state = GangState::kPlaced, .reason = {}, .message = placed_message(decision, cluster_)}, now, step);
}

void LiveScheduler::answered(std::uint64_t id, Answer answer, std::string_view, Time now) {
  const auto it = open_.find(id);
  if (it == open_.end()) {
    return;
  }
  const OpenOrder open = std::move(it->second);
  open_.erase(it);
  LiveGang* gang = table_.find(open.gang);
  if (open.pod.empty()) {
    if (open.cluster && answer != Answer::kDone) {
      reported_structure_.reset();
      cluster_reported_at_ = now + kLongestBackoff;
    }
    if (gang != nullptr && answer == Answer::kDone) {
      gang->report_failures = 0;
    } else if (gang != nullptr) {
      // It may never work: the kind may have no status of its own.
      ++gang->report_failures;
      gang->reported_at = now + backoff(gang->report_failures) - kFirstBackoff;
      unreported_.insert(open.gang);
    }
    return;
  }
  if (open.verb == WriteVerb::kEvict) {
    // A budget may forbid it for now. It is given up with the reservation.
    if (answer != Answer::kDone && answer != Answer::kWithdrawn) {
      again_.emplace(now + backoff(open.attempts), open);
    }
    return;
  }
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

void LiveScheduler::order_pod(Step& step, WriteVerb verb, const std::string& key, int attempts, bool uncertain) {
  const LivePod& pod = *table_.find_pod(key);
  order(step, Urgency::kBinding,
        {.verb = verb, .object = pod_ref(key, pod.uid), .node = verb == WriteVerb::kBind ? pod.node : "", .body = {}},
        {.verb = verb, .pod = key, .uid = pod.uid, .gang = pod.gang, .attempts = attempts, .uncertain = uncertain});
}

void LiveScheduler::order_again(Time now, Step& step) {
  while (!again_.empty() && again_.begin()->first <= now) {
    const OpenOrder open = std::move(again_.begin()->second);
    again_.erase(again_.begin());
    const LivePod* pod = table_.find_pod(open.pod);
    const auto waits_for_it = [&](const Reservation& one) { return one.blockers.contains(open.pod); };
    const bool wanted =
        pod != nullptr && pod->uid == open.uid &&
        (open.verb == WriteVerb::kBind ? pod->assumed
                                       : !pod->deleting && !pod->ended() &&
                                             std::any_of(reservations_.begin(), reservations_.end(), waits_for_it));
    if (wanted) {
      order_pod(step, open.verb, open.pod, open.attempts + 1, open.uncertain);
    }
  }
  if (!again_.empty()) {
    step.wake_by(again_.begin()->first);
  }
}

void LiveScheduler::forget(const std::string& key, Time now) {
  cluster_.remove_pod(key);
  table_.change_pod(key, now, [](LivePod& pod) {
    pod.assumed = false;
    pod.text = without_node(pod.text, pod.node);
    pod.node.clear();
  });
  room_grew_ = true;
  const LivePod& pod = *table_.find_pod(key);
  touch(pod.gang);
  if (pod.queued && promises_ != nullptr) {
    queued_.insert(key);
    promises_->returned(key);
  }
}

void LiveScheduler::stop_leading(Time now) {
  reservations_.clear();
  crowded_out_.clear();
  look_again_.clear();
  // What may have been done stays booked until its event tells.
  std::set<std::string> kept;
  for (const auto& [id, open] : open_) {
    kept.insert(open.pod);
  }
  for (const auto& [time, open] : std::exchange(again_, {})) {
    if (open.uncertain) {
      kept.insert(open.pod);
    }
  }
  std::vector<std::string> assumed;
  for (const auto& [id, gang] : table_.gangs()) {
    for (const std::string& key : gang.pods) {
      if (table_.find_pod(key)->assumed && !kept.contains(key)) {
        assumed.push_back(key);
      }
    }
  }
  for (const std::string& key : assumed) {
    forget(key, now);
  }
}

void LiveScheduler::stand_by() {
  dirty_.clear();
  unreported_.clear();
  stood_by_ = true;
}

void LiveScheduler::order(Step& step, Urgency urgency, Write write, OpenOrder open) {
  const std::uint64_t id = next_order_++;
  if (urgency != Urgency::kEvent) {
    open_.emplace(id, std::move(open));
  }
  step.orders.push_back({.id = id, .urgency = urgency, .write = std::move(write)});
}

}  // namespace gantree
