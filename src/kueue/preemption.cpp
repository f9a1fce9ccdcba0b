#include "kueue/preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/timestamp.h"
#include "cycle/cycle.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
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

// The reason of the condition Preempted, and the same in words. `to_borrow`: as Eviction has it.
struct Cause {
  std::string_view reason;
  std::string_view words;
};
Cause cause_of(EvictionReason reason, bool to_borrow) {
  switch (reason) {
    case EvictionReason::kPreempted:
      break;
    case EvictionReason::kReclaimed:
      return to_borrow
                 ? Cause{"InCohortReclaimWhileBorrowing", "by priority in the cohort, while borrowing"}
                 : Cause{"InCohortReclamation", "it used quota that another ClusterQueue of the cohort takes back"};
    case EvictionReason::kFairShare:
      return {"InCohortFairSharing", "by fair shares in the cohort"};
  }
  return {"InClusterQueue", "by priority in the ClusterQueue"};
}

// As Kueue's users look for them: the job by the label of its Workload.
std::string ids_of(const WorkloadObject& workload) {
  const json::Value label = text_at(map_at(map_at(workload.document.root(), "metadata"), "labels"), kJobUid);
  return fmt::format("UID: {}, JobUID: {}", workload.ref.uid, label ? label.text() : "UNKNOWN");
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
    // What is booked for it, neither more nor less.
    for (const auto& [node, count] : booking_.taken_by_node(entry, set)) {
      if (const auto id = ledger_.cluster.inventory().find(node)) {
        gang.holdings.push_back({.node = *id, .requests = wanted->shape.requests, .count = count});
      }
    }
  }
  for (const auto& [piece, amounts] : entry.pieces) {
    if (const auto id = ledger_.cluster.inventory().find(ledger_.cluster.node_of(piece))) {
      gang.holdings.push_back({.node = *id, .requests = amounts, .count = 1});
    }
  }
  return gang;
}

// Whether it takes nothing by share now, though others like it may: it gave way itself, and nothing has ended since.
bool Preemption::is_modest(const Entry& entry) const {
  return entry.gave_way == ledger_.ended && !ledger_.quota.share_strategies(*entry.submission->queue).empty();
}

// The one of a line that others may have to go for: those behind it have no better right.
Entry* Preemption::first_of(const LineKey& key, Time now) {
  const Line* line = ledger_.lines.find(key);
  if (line == nullptr || !asks_for_room(ledger_, line->first(), key.in_order ? line->first().verdict : line->verdict)) {
    return nullptr;
  }
  for (const auto& [rank, entry] : line->entries) {
    if (entry->preempts_at > now) {
      look_at(entry->preempts_at);
      if (!is_modest(*entry) || key.in_order) {
        return nullptr;
      }
      continue;
    }
    if (!entry->guard.closed(entry->object.resource_version, now)) {
      return entry;
    }
    look_at(now + kEvery);
    if (key.in_order) {
      return nullptr;
    }
  }
  return nullptr;
}

Preemption::Asking Preemption::crowded_out(Time now) {
  Asking asking;
  for (const auto& [key, line] : ledger_.lines.lines()) {
    if (Entry* entry = key.queue ? first_of(key, now) : nullptr) {
      asking.emplace(entry->place->rank, entry);
    }
  }
  for (const auto& [key, entry] : ledger_.lines.aside()) {
    if (!entry->stays_out(now) && asks_for_room(ledger_, *entry, entry->verdict)) {
      look_at(now + kEvery);
    }
  }
  return asking;
}

// One whose pods do not go is not waited for.
std::vector<Preemption::Leaver> Preemption::leavers(Time now) {
  std::vector<Leaver> leaving;
  for (auto& [key, departed] : ledger_.departed) {
    for (Departed& gone : departed) {
      gone.since = gone.since.value_or(now);
      if (*gone.since + kPatience <= now) {
        continue;
      }
      Leaver& leaver = leaving.emplace_back(Leaver{.key = key, .used = gone.used, .pods = {}});
      // One of the same name that was admitted since counts them as its own.
      const bool is_again = ledger_.holders.contains(key);
      for (const auto& [pod, uid] : is_again ? std::map<std::string, std::string>() : gone.pods) {
        const auto known = ledger_.pods.find(pod);
        if (known != ledger_.pods.end() && known->second.uid == uid && !known->second.ended &&
            !ledger_.cluster.node_of(pod).empty()) {
          leaver.pods.push_back(pod);
        }
      }
    }
  }
  const auto hangs = [&](const Entry& entry) {
    const Condition* evicted = entry.object.condition(kEvicted);
    return evicted != nullptr && evicted->holds &&
           Time(std::chrono::seconds(parse_time(evicted->since).value_or(0))) + kPatience <= now;
  };
  for (const auto& [key, entry] : ledger_.holders) {
    if (entry->leaves() && !hangs(*entry)) {
      leaving.push_back(leaver_of(*entry));
    }
  }
  return leaving;
}

Preemption::Leaver Preemption::leaver_of(const Entry& entry) const {
  Leaver leaver{.key = entry.key(), .used = entry.used, .pods = entry.placeholders};
  for (const std::string& pod : ledger_.pods_of(leaver.key)) {
    if (!ledger_.pods.at(pod).ended && !ledger_.cluster.node_of(pod).empty()) {
      leaver.pods.push_back(pod);
    }
  }
  return leaver;
}

// They are where it was given a place; or there is not enough quota without theirs, which is of the same tree.
void Preemption::wait_for(Entry& entry, const std::vector<Leaver>& leaving) {
  ledger_.quota.give(entry.used);
  const bool short_of_quota = !ledger_.quota.fits(entry.used, entry.submission->borrowing);
  ledger_.quota.take(entry.used);
  std::set<QuotaId> roots;
  for (const auto& [cell, amount] : short_of_quota ? entry.used : QuotaDemand()) {
    roots.insert(ledger_.root_of(cell));
  }
  std::set<std::string_view> hosts;
  for (const std::string& placeholder : entry.placeholders) {
    hosts.insert(ledger_.cluster.node_of(placeholder));
  }
  for (const Leaver& leaver : leaving) {
    const bool counts = std::any_of(leaver.used.begin(), leaver.used.end(),
                                    [&](const auto& one) { return roots.contains(ledger_.root_of(one.first)); }) ||
                        std::any_of(leaver.pods.begin(), leaver.pods.end(), [&](const std::string& pod) {
                          return hosts.contains(ledger_.cluster.node_of(pod));
                        });
    if (counts) {
      entry.blockers.insert(leaver.key);
    }
  }
}

// What others of its queue need that wait and could evict it; of importance where shares count.
std::vector<WayDemands> Preemption::outranked_by(const Entry& entry, Time now) const {
  const Submission& own = *entry.submission;
  std::vector<WayDemands> found;
  if (ledger_.quota.share_strategies(*own.queue).empty()) {
    return found;
  }
  const auto add = [&](const Entry& other) {
    if (other.waits() && !other.stays_out(now) && other.submission && !other.submission->rejection &&
        !other.least.empty() && other.submission->queue == own.queue &&
        outranks(ledger_.quota.rules(*own.queue), *other.submission, own)) {
      found.push_back(other.least);
    }
  };
  // Nobody in a line outranks whom its first one does not, and all of it ask for the same.
  const auto& lines = ledger_.lines.lines();
  for (auto it = ledger_.lines.begin_of(*own.queue); it != lines.end() && it->first.queue == own.queue; ++it) {
    add(it->second.first());
  }
  for (const auto& [key, other] : ledger_.lines.aside()) {
    add(*other);
  }
  return found;
}

void Preemption::preempt(Time now, Step& step) {
  if (std::exchange(ledger_.refused, false)) {
    look_at(now);
  }
  Asking asking = waited_for(now);
  const bool others_wait = !asking.empty();
  if (due_ && std::max(*due_, next_) <= now) {
    due_.reset();
    asking.merge(crowded_out(now));
    if (!asking.empty()) {
      next_ = now + kEvery;
    }
  }
  if (!asking.empty()) {
    look(std::move(asking), now, step);
  }
  if (others_wait) {
    step.wake_by(now);  // their turn has come
  }
  if (due_) {
    step.wake_by(std::max(*due_, next_));
  }
}

void Preemption::look_at(Time when) {
  due_ = std::min(due_.value_or(when), when);
}

Preemption::Asking Preemption::waited_for(Time now) {
  Asking asking;
  for (Entry* entry : precedence_.all()) {
    if (entry->guard.closed(entry->object.resource_version, now)) {
      look_at(now + kEvery);
    } else {
      asking.emplace(entry->place->rank, entry);
    }
  }
  return asking;
}

void Preemption::look(Asking asking, Time now, Step& step) {
  std::vector<Leaver> leaving = leavers(now);
  std::vector<std::pair<RunningGang, const Entry*>> gangs;
  for (const auto& [key, entry] : ledger_.holders) {
    if (auto gang = running_gang(*entry)) {
      gangs.emplace_back(std::move(*gang), entry);
    }
  }
  ledger_.budgets.shield(gangs);
  std::map<GangKey, RunningGang> running;
  for (auto& [gang, entry] : gangs) {
    running.emplace(gang.key, gang);
    ledger_.cluster.add_running(std::move(gang));
  }
  for (std::size_t tried = 0; tried < kMostTried && !asking.empty(); ++tried) {
    Entry& entry = *asking.begin()->second;
    asking.erase(asking.begin());
    const LineKey line = entry.place->line;
    const bool modest = is_modest(entry);
    entry.submission->may_evict_by_share = !modest;
    entry.submission->outranked_by = outranked_by(entry, now);
    preempt_for(entry, running, leaving, now, step);
    Entry* next = entry.place && !modest ? nullptr : first_of(line, now);
    if (next != nullptr) {
      asking.emplace(next->place->rank, next);
    }
  }
  if (!asking.empty()) {
    look_at(now + kEvery);
  }
  ledger_.cluster.forget_running();
}

void Preemption::evict(Entry& victim, const Entry& by, const Eviction& eviction, Time now, Step& step) {
  const Cause cause = cause_of(eviction.reason, eviction.to_borrow);
  const std::string message =
      fmt::format("Preempted for workload {} ({}): {}", by.key(), ids_of(by.object), cause.words);
  evictions_.evict(victim, {.reason = "Preempted", .message = message, .preempted = cause.reason}, now, step);
  announcer_.tell_workload(victim, {.warning = false, .reason = "Preempted", .action = "Evict", .note = message}, now,
                           step);
  announcer_.tell_workload(
      by,
      {.warning = false,
       .reason = "PreemptedWorkload",
       .action = "Evict",
       .note = fmt::format("Workload {} ({}) goes for it: {}", victim.key(), ids_of(victim.object), cause.words)},
      now, step);
}

void Preemption::preempt_for(Entry& entry, const std::map<GangKey, RunningGang>& running, std::vector<Leaver>& leaving,
                             Time now, Step& step) {
  std::vector<Submission> asks{*entry.submission};
  precedence_.let_stand_by(asks);
  for (const Leaver& leaver : leaving) {
    ledger_.quota.give(leaver.used);
    std::for_each(leaver.pods.begin(), leaver.pods.end(), [&](const auto& pod) { ledger_.cluster.lend(pod); });
  }
  entry.looked_at = now;
  const Plan plan = run_cycle(ledger_.cluster, ledger_.quota, std::move(asks));
  const Decision& decision = plan.decisions.front();
  // Victims, and what leaves, hold what they have until they are gone.
  for (const Eviction& eviction : plan.evictions) {
    const RunningGang& victim = running.at(eviction.key);
    ledger_.cluster.engine().restore(victim);
    ledger_.quota.take(victim.used);
  }
  for (const Leaver& leaver : leaving) {
    ledger_.quota.take(leaver.used);
    std::for_each(leaver.pods.begin(), leaver.pods.end(), [&](const auto& pod) { ledger_.cluster.take_back(pod); });
  }
  if (decision.state != GangState::kPlaced) {
    entry.verdict =
        Verdict{.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)};
    if (entry.fruitless == 0) {
      step.wake_by(now);  // what was kept for it until then others may have
    }
    // Little changes for it from one moment to the next, and looking is dear.
    entry.fruitless = std::min(entry.fruitless + 1, 5);
    entry.preempts_at = now + kEvery * (1 << entry.fruitless);
    look_at(entry.preempts_at);
    return;
  }
  entry.fruitless = 0;
  grants_.assume(entry, decision);
  step.wake_by(now);  // those that it held up may be tried
  for (const Eviction& eviction : plan.evictions) {
    Entry& victim = ledger_.entries.at(eviction.key.ns + "/" + eviction.key.name);
    entry.blockers.insert(victim.key());
    victim.gave_way = ledger_.ended;
    evict(victim, entry, eviction, now, step);
  }
  wait_for(entry, leaving);
  // What they leave over counts for the next one that asks.
  for (const Eviction& eviction : plan.evictions) {
    leaving.push_back(leaver_of(ledger_.entries.at(eviction.key.ns + "/" + eviction.key.name)));
  }
  if (plan.evictions.empty()) {
    entry.held_until = now + kPatience;
  }
  entry.verdict = Verdict{.state = GangState::kWaiting,
                          .reason = Reason::kPreempting,
                          .message = fmt::format("{} {} to make room", fmt::join(entry.blockers, ", "),
                                                 entry.blockers.size() == 1 ? "has" : "have")};
  ledger_.held.insert(entry.key());
  ledger_.dirty.insert(entry.key());
}

}  // namespace gantree::kueue
