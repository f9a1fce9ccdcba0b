// Who has to go for whom.
//
// Victims are whole Workloads, chosen for the domain that is to be cleared. The one they go for is given its place at
// once, so that nobody else gets it, and admitted when the last of them has left.
#include <fmt/format.h>

#include <algorithm>

#include "base/timestamp.h"
#include "cycle/cycle.h"
#include "dialects/kueue/submit.h"
#include "kueue/controller.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

// So many are tried, so often: the search for victims is dear.
constexpr std::size_t kMostTried = 16;
constexpr std::chrono::milliseconds kEvery{250};

std::string_view preempted_reason(EvictionReason reason) {
  return reason == EvictionReason::kReclaimed ? "InCohortReclamation" : "InClusterQueue";
}

}  // namespace

std::optional<RunningGang> Controller::running_gang(const Entry& entry) {
  const auto queue = setup_.cluster_queues.find(entry.object.admission ? entry.object.admission->cluster_queue : "");
  if (queue == setup_.cluster_queues.end() || entry.leaves() || entry.object.holds(kFinished)) {
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
  const auto pods = pods_of_.find(entry.key());
  for (const SetAssignment& set : entry.object.admission->sets) {
    const auto wanted = std::find_if(request.pod_sets.begin(), request.pod_sets.end(),
                                     [&](const PodSetRequest& one) { return one.name == set.name; });
    if (wanted == request.pod_sets.end()) {
      continue;
    }
    // What is booked for it, neither more nor less: pods that are over hold nothing.
    std::map<std::string, int> counts;
    const std::string prefix = fmt::format("{}#{}#", entry.key(), set.name);
    for (const std::string& key : entry.placeholders) {
      if (key.starts_with(prefix)) {
        ++counts[std::string(cluster_.node_of(key))];
      }
    }
    for (const std::string& key : pods == pods_of_.end() ? std::set<std::string>() : pods->second) {
      const StartedPod& pod = pods_.at(key);
      if (pod.set == set.name && !pod.node.empty() && !pod.ended) {
        ++counts[pod.node];
      }
    }
    for (const auto& [node, count] : counts) {
      if (const auto id = cluster_.inventory().find(node)) {
        gang.holdings.push_back({.node = *id, .requests = wanted->shape.requests, .count = count});
      }
    }
  }
  return gang;
}

// Those that wait for room or quota, and whose queues let others be evicted for them.
std::vector<Entry*> Controller::crowded_out(Time now, Step& step) {
  std::vector<Entry*> asking;
  for (auto& [key, entry] : entries_) {
    const bool room = entry.verdict && (entry.verdict->reason == Reason::kTopologyBusy ||
                                        entry.verdict->reason == Reason::kQuotaExceeded ||
                                        entry.verdict->reason == Reason::kSearchLimit);
    if (!room || !entry.waits() || !entry.submission || !entry.submission->may_evict || !entry.submission->queue ||
        entry.guard.closed(entry.object.resource_version, now)) {
      continue;
    }
    const QueueRules& rules = quota_.rules(*entry.submission->queue);
    if (rules.within == WithinRule::kNever && rules.reclaim == ReclaimRule::kNever && !rules.evicts_to_borrow) {
      continue;
    }
    if (entry.preempts_at > now) {
      step.wake_by(entry.preempts_at);
    } else {
      asking.push_back(&entry);
    }
  }
  std::sort(asking.begin(), asking.end(),
            [](const Entry* a, const Entry* b) { return goes_before(*a->submission, *b->submission); });
  return asking;
}

void Controller::preempt(Time now, Step& step) {
  // What is leaving already may be enough.
  for (const auto& [key, entry] : entries_) {
    const auto waits_for_it = [&](const std::string& held) { return entries_.at(held).blockers.contains(key); };
    if (entry.leaves() && std::none_of(held_.begin(), held_.end(), waits_for_it)) {
      return;
    }
  }
  const std::vector<Entry*> asking = crowded_out(now, step);
  if (asking.empty()) {
    return;
  }
  if (now < preempts_at_) {
    step.wake_by(preempts_at_);
    return;
  }
  preempts_at_ = now + kEvery;
  std::map<GangKey, RunningGang> running;
  for (const auto& [key, entry] : entries_) {
    if (auto gang = running_gang(entry)) {
      running.emplace(gang->key, *gang);
      cluster_.add_running(std::move(*gang));
    }
  }
  for (std::size_t i = 0; i < std::min(kMostTried, asking.size()); ++i) {
    preempt_for(*asking[i], running, now, step);
  }
  if (asking.size() > kMostTried) {
    step.wake_by(preempts_at_);
  }
  cluster_.forget_running();
}

void Controller::preempt_for(Entry& entry, const std::map<GangKey, RunningGang>& running, Time now, Step& step) {
  const Plan plan = run_cycle(cluster_, quota_, {*entry.submission});
  const Decision& decision = plan.decisions.front();
  // Victims hold what they have until they are gone.
  for (const Eviction& eviction : plan.evictions) {
    const RunningGang& victim = running.at(eviction.key);
    cluster_.engine().restore(victim);
    quota_.take(victim.used);
  }
  if (decision.state != GangState::kPlaced) {
    entry.verdict =
        Verdict{.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)};
    // Little changes for it from one moment to the next, and looking is dear.
    entry.fruitless = std::min(entry.fruitless + 1, 5);
    entry.preempts_at = now + kEvery * (1 << entry.fruitless);
    return;
  }
  entry.fruitless = 0;
  assume(entry, decision);
  std::string who;
  for (const Eviction& eviction : plan.evictions) {
    Entry& victim = entries_.at(eviction.key.ns + "/" + eviction.key.name);
    entry.blockers.insert(victim.key());
    who += fmt::format("{}{}", who.empty() ? "" : ", ", victim.key());
    evict(victim,
          {.reason = "Preempted",
           .message = fmt::format("Preempted for workload {} (UID: {}): {}", entry.key(), entry.object.ref.uid,
                                  eviction.message),
           .preempted = preempted_reason(eviction.reason)},
          now, step);
  }
  entry.verdict =
      Verdict{.state = GangState::kWaiting,
              .reason = Reason::kPreempting,
              .message = fmt::format("{} {} to make room", who, plan.evictions.size() == 1 ? "has" : "have")};
  held_.insert(entry.key());
  dirty_.insert(entry.key());
}

void Controller::hold(Entry& entry, Time now, Step& step) {
  std::erase_if(entry.blockers, [&](const std::string& key) {
    const auto victim = entries_.find(key);
    // One that left may have been admitted anew since.
    return victim == entries_.end() || !victim->second.leaves() || victim->second.object.holds(kFinished);
  });
  if (entry.blockers.empty()) {
    held_.erase(entry.key());
    entry.verdict.reset();
    write_admitted(entry, now, step);
    return;
  }
  tell_waiting(entry, now, step);
}

void Controller::evict(Entry& entry, Removal removal, Time now, Step& step) {
  if (entry.leaves()) {
    return;
  }
  ++step.figures.gangs_evicted;
  step.news.push_back(fmt::format("evicting workload \"{}\": {}", entry.key(), removal.message));
  const std::string reason = fmt::format("EvictedDueTo{}", removal.reason);
  notify(step,
         {.about = entry.object.ref, .warning = true, .reason = reason, .action = "Evict", .note = removal.message},
         now);
  entry.evicting = std::move(removal);
  dirty_.insert(entry.key());
}

}  // namespace gantree::kueue
