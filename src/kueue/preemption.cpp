#include "kueue/preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/timestamp.h"
#include "cycle/cycle.h"
#include "dialects/kueue/submit.h"
#include "live/notices.h"
#include "queue/victims.h"

namespace gantree::kueue {

namespace {

// So many are tried, so often: the search for victims is dear.
constexpr std::size_t kMostTried = 16;
constexpr std::chrono::milliseconds kEvery{250};

// The usual grace of pods, twice.
constexpr std::chrono::seconds kPatience{60};

std::string_view preempted_reason(EvictionReason reason) {
  switch (reason) {
    case EvictionReason::kPreempted:
      return "InClusterQueue";
    case EvictionReason::kReclaimed:
      return "InCohortReclamation";
    case EvictionReason::kFairShare:
      return "InCohortFairSharing";
  }
  return "InClusterQueue";
}

}  // namespace

std::optional<RunningGang> Preemption::running_gang(const Entry& entry) const {
  const auto queue =
      ledger_.setup.cluster_queues.find(entry.object.admission ? entry.object.admission->cluster_queue : "");
  if (queue == ledger_.setup.cluster_queues.end() || entry.leaves() || entry.object.holds(kFinished)) {
    return std::nullopt;
  }
  const JobRequest& request = entry.object.request;
  RunningGang gang;
  gang.key = request.key;
  gang.dialect = "kueue";
  gang.priority = request.priority.value_or(0);
  gang.created_seconds = request.created_seconds;
  if (const Condition* reserved = entry.object.condition(kQuotaReserved)) {
    gang.started_seconds = parse_time(reserved->since).value_or(0);
  }
  gang.queue = queue->second.id;
  gang.used = entry.used;
  for (const SetAssignment& set : entry.object.admission->sets) {
    const PodSetRequest* wanted = entry.pod_set(set.name);
    if (wanted == nullptr) {
      continue;
    }
    // What is booked for it, neither more nor less: pods that are over hold nothing.
    std::map<std::string, int> counts = booking_.held_by_node(entry, set);
    for (const std::string& key : ledger_.pods_of(entry.key())) {
      const StartedPod& pod = ledger_.pods.at(key);
      const std::string_view node = ledger_.node_of(key, pod);
      if (pod.set == set.name && !node.empty() && !pod.ended) {
        ++counts[std::string(node)];
      }
    }
    for (const auto& [node, count] : counts) {
      if (const auto id = ledger_.cluster.inventory().find(node)) {
        gang.holdings.push_back({.node = *id, .requests = wanted->shape.requests, .count = count});
      }
    }
  }
  return gang;
}

// Those that wait for room or quota, and whose queues let others be evicted for them.
std::vector<Entry*> Preemption::crowded_out(Time now) {
  std::vector<Entry*> asking;
  for (auto& [key, entry] : ledger_.entries) {
    const bool room = entry.verdict && (entry.verdict->reason == Reason::kTopologyBusy ||
                                        entry.verdict->reason == Reason::kQuotaExceeded ||
                                        entry.verdict->reason == Reason::kSearchLimit);
    if (!room || !entry.waits() || !entry.submission || !entry.submission->may_evict || !entry.submission->queue) {
      continue;
    }
    const QueueRules& rules = ledger_.quota.rules(*entry.submission->queue);
    if (rules.within == WithinRule::kNever && rules.reclaim == ReclaimRule::kNever && !rules.evicts_to_borrow) {
      continue;
    }
    if (entry.preempts_at > now) {
      look_at(entry.preempts_at);
    } else if (entry.guard.closed(entry.object.resource_version, now)) {
      look_at(now + kEvery);
    } else {
      asking.push_back(&entry);
    }
  }
  return asking;
}

// What is leaving already, for nobody in particular, may be enough. One whose pods do not go is not waited for.
bool Preemption::enough_is_leaving(Time now) const {
  const auto hangs = [&](const Entry& entry) {
    const Condition* evicted = entry.object.condition(kEvicted);
    return evicted != nullptr && evicted->holds &&
           Time(std::chrono::seconds(parse_time(evicted->since).value_or(0))) + kPatience < now;
  };
  return std::any_of(ledger_.entries.begin(), ledger_.entries.end(), [&](const auto& item) {
    if (!item.second.leaves() || hangs(item.second)) {
      return false;
    }
    const auto waits_for_it = [&](const std::string& held) {
      return ledger_.entries.at(held).blockers.contains(item.first);
    };
    return std::none_of(ledger_.held.begin(), ledger_.held.end(), waits_for_it);
  });
}

// Whether another of its queue waits that could evict it; of importance where shares count.
bool Preemption::is_outranked(const Entry& entry) const {
  const Submission& own = *entry.submission;
  if (ledger_.quota.share_strategies(*own.queue).empty()) {
    return false;
  }
  return std::any_of(ledger_.entries.begin(), ledger_.entries.end(), [&](const auto& item) {
    const Entry& other = item.second;
    return other.waits() && other.submission && !other.submission->rejection && other.submission->queue == own.queue &&
           outranks(ledger_.quota.rules(*own.queue), *other.submission, own);
  });
}

void Preemption::preempt(Time now, Step& step) {
  if (std::exchange(ledger_.refused, false)) {
    look_at(now);
  }
  if (due_ && std::max(*due_, next_) <= now) {
    due_.reset();
    look(now, step);
  }
  if (due_) {
    step.wake_by(std::max(*due_, next_));
  }
}

void Preemption::look_at(Time when) {
  due_ = std::min(due_.value_or(when), when);
}

void Preemption::look(Time now, Step& step) {
  std::vector<Entry*> asking = crowded_out(now);
  if (asking.empty()) {
    return;
  }
  next_ = now + kEvery;
  if (enough_is_leaving(now)) {
    look_at(next_);
    return;
  }
  const std::size_t tried = std::min(kMostTried, asking.size());
  std::partial_sort(asking.begin(), asking.begin() + static_cast<std::ptrdiff_t>(tried), asking.end(),
                    [](const Entry* a, const Entry* b) { return goes_before(*a->submission, *b->submission); });
  std::map<GangKey, RunningGang> running;
  for (const auto& [key, entry] : ledger_.entries) {
    if (auto gang = running_gang(entry)) {
      running.emplace(gang->key, *gang);
      ledger_.cluster.add_running(std::move(*gang));
    }
  }
  for (std::size_t i = 0; i < tried; ++i) {
    asking[i]->submission->may_evict_by_share = asking[i]->gave_way != ledger_.ended && !is_outranked(*asking[i]);
    preempt_for(*asking[i], running, now, step);
  }
  if (asking.size() > tried) {
    look_at(next_);
  }
  ledger_.cluster.forget_running();
}

void Preemption::preempt_for(Entry& entry, const std::map<GangKey, RunningGang>& running, Time now, Step& step) {
  const Plan plan = run_cycle(ledger_.cluster, ledger_.quota, {*entry.submission});
  const Decision& decision = plan.decisions.front();
  // Victims hold what they have until they are gone.
  for (const Eviction& eviction : plan.evictions) {
    const RunningGang& victim = running.at(eviction.key);
    ledger_.cluster.engine().restore(victim);
    ledger_.quota.take(victim.used);
  }
  if (decision.state != GangState::kPlaced) {
    entry.verdict =
        Verdict{.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)};
    // Little changes for it from one moment to the next, and looking is dear.
    entry.fruitless = std::min(entry.fruitless + 1, 5);
    entry.preempts_at = now + kEvery * (1 << entry.fruitless);
    look_at(entry.preempts_at);
    return;
  }
  entry.fruitless = 0;
  grants_.assume(entry, decision);
  std::string who;
  for (const Eviction& eviction : plan.evictions) {
    Entry& victim = ledger_.entries.at(eviction.key.ns + "/" + eviction.key.name);
    entry.blockers.insert(victim.key());
    victim.gave_way = ledger_.ended;
    who += fmt::format("{}{}", who.empty() ? "" : ", ", victim.key());
    evictions_.evict(victim,
                     {.reason = "Preempted",
                      .message = fmt::format("Preempted for workload {} (UID: {}): {}", entry.key(),
                                             entry.object.ref.uid, eviction.message),
                      .preempted = preempted_reason(eviction.reason)},
                     now, step);
  }
  entry.verdict =
      Verdict{.state = GangState::kWaiting,
              .reason = Reason::kPreempting,
              .message = fmt::format("{} {} to make room", who, plan.evictions.size() == 1 ? "has" : "have")};
  ledger_.held.insert(entry.key());
  ledger_.dirty.insert(entry.key());
}

}  // namespace gantree::kueue
