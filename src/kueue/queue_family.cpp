#include "kueue/queue_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/timestamp.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "kueue/submissions.h"

namespace gantree::kueue {

namespace {

// The usual grace of pods, twice.
constexpr std::chrono::seconds kPatience{60};

Entry& entry_of(Waiter& waiter) {
  return static_cast<Entry&>(waiter);
}
const Entry& entry_of(const Waiter& waiter) {
  return static_cast<const Entry&>(waiter);
}

// The reason of the condition Preempted, and the same in words. `to_borrow`: as Eviction has it.
struct Cause {
  std::string_view reason;
  std::string_view words;
};
Cause cause_of(const Eviction& eviction) {
  switch (eviction.reason) {
    case EvictionReason::kPreempted:
      break;
    case EvictionReason::kReclaimed:
      return eviction.to_borrow
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

// The labels that pods of a pod set have, as far as their template tells.
LabelMap labels_of(const PodSetRequest& set) {
  json::Reader read(kNoFile, set.at, "template");
  const json::Value metadata = read.object(read.object(set.at, "template"), "metadata");
  LabelMap labels = read_labels(read, metadata, "labels");
  return read.ok() ? labels : LabelMap();
}

}  // namespace

QueueFamily::QueueFamily(Ledger& ledger, Booking& booking, Grants& grants, Evictions& evictions, Announcer& announcer,
                         bool one_by_one)
    : ledger_(ledger),
      booking_(booking),
      grants_(grants),
      evictions_(evictions),
      announcer_(announcer),
      one_by_one_(one_by_one) {
  ledger_.family = this;
  ledger_.account.families.push_back(this);
}

QueueFamily::~QueueFamily() {
  std::erase(ledger_.account.families, this);
  ledger_.lines.clear(*this);
}

std::vector<Waiter*> QueueFamily::take_changed() {
  std::vector<Waiter*> changed;
  for (const std::string& key : std::exchange(ledger_.waiting_changed, {})) {
    if (Entry* entry = ledger_.workload(key)) {
      changed.push_back(entry);
    }
  }
  return changed;
}

void QueueFamily::prepare(Waiter& waiter) {
  static_cast<void>(submission_for(entry_of(waiter), ledger_));
}

bool QueueFamily::waits(const Waiter& waiter) const {
  return entry_of(waiter).waits();
}

bool QueueFamily::stays_out(const Waiter& waiter, Time now) const {
  return entry_of(waiter).stays_out(now);
}

bool QueueFamily::is_busy(const Waiter& waiter, Time now) const {
  const Entry& entry = entry_of(waiter);
  return entry.guard.closed(entry.object.resource_version, now);
}

// Whether the job is not ready to be started: it was by somebody else, so that its pods would go anywhere; or a write
// of ours to it was not seen yet, and what it asks for by now may be something else; or its Workload was not told how
// many of its pods are over; or a pod of its group may be released at any moment to where the last admission sent it.
// It is stopped, or seen, first.
bool QueueFamily::is_unsettled(const Entry& entry, Time now) const {
  if (ledger_.releasing.contains(entry.key())) {
    return true;
  }
  const JobEntry* job = ledger_.job_of(entry);
  return job != nullptr && (!job->progress.suspended || job->guard.closed(job->resource_version, now) ||
                            pods_over(entry.object, *job) != entry.object.reclaimable);
}

bool QueueFamily::put_off(Waiter& waiter, Time now) {
  Entry& entry = entry_of(waiter);
  if (entry.stays_out(now)) {
    if (entry.pauses(now)) {
      ledger_.later.add(*entry.object.requeue_at, entry.key());
    }
    return true;
  }
  if (is_busy(entry, now) || is_unsettled(entry, now)) {
    entry.missed = true;
    return true;
  }
  return false;
}

std::optional<Verdict> QueueFamily::held_up() const {
  if (!one_by_one_) {
    return std::nullopt;
  }
  for (const auto& [key, entry] : ledger_.holders) {
    if (!entry->leaves() && !entry->object.deleting && !(entry->object.holds(kPodsReady) && !entry->assumed)) {
      return Verdict{.state = GangState::kWaiting,
                     .reason = Reason::kPodsNotReady,
                     .message = "the pods of workload " + key + " have to be ready first"};
    }
  }
  return std::nullopt;
}

void QueueFamily::told(Waiter& waiter, Time, Step&) {
  ledger_.dirty.insert(waiter.id);
}

void QueueFamily::grant(Waiter& waiter, const Decision& decision, Time now, Step& step) {
  Entry& entry = entry_of(waiter);
  ledger_.dirty.insert(entry.key());
  grants_.assume(entry, decision);
  grants_.write(entry, now, step);
}

void QueueFamily::hold(Waiter& waiter, const Decision& decision, Time) {
  grants_.assume(entry_of(waiter), decision);
  ledger_.held.insert(waiter.id);
}

std::set<std::string> QueueFamily::held_hosts(const Waiter& waiter) const {
  std::set<std::string> hosts;
  for (const std::string& placeholder : entry_of(waiter).placeholders) {
    hosts.emplace(ledger_.cluster.node_of(placeholder));
  }
  return hosts;
}

std::optional<RunningGang> QueueFamily::running_gang(const Entry& entry) const {
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

bool QueueFamily::waits_for(const std::string& leaver) const {
  return std::any_of(ledger_.held.begin(), ledger_.held.end(), [&](const std::string& key) {
    const Entry* entry = ledger_.workload(key);
    return entry != nullptr && entry->blockers.contains(leaver);
  });
}

void QueueFamily::add_victims(std::int64_t, std::vector<Victim>& victims) {
  for (const auto& [key, entry] : ledger_.holders) {
    auto gang = rests_ ? std::nullopt : running_gang(*entry);
    if (!gang) {
      continue;
    }
    Victim& victim = victims.emplace_back(Victim{.family = this, .gang = std::move(*gang)});
    if (!ledger_.budgets.any_in(entry->object.ref.ns)) {
      continue;
    }
    for (const SetAssignment& set : entry->object.admission->sets) {
      const PodSetRequest* wanted = entry->pod_set(set.name);
      const int pods = set.count - entry->object.given_back(set);
      if (wanted != nullptr && pods > 0) {
        victim.labels.emplace_back(labels_of(*wanted), pods);
      }
    }
  }
}

void QueueFamily::add_usage(std::vector<RunningGang>& running, std::vector<QuotaDemand>& leaving) const {
  for (const auto& [key, departed] : ledger_.departed) {
    for (const Departed& gone : departed) {
      leaving.push_back(gone.used);
    }
  }
  for (const auto& [key, entry] : ledger_.holders) {
    if (entry->leaves()) {
      leaving.push_back(entry->used);
      continue;
    }
    const auto queue =
        ledger_.setup.cluster_queues.find(entry->object.admission ? entry->object.admission->cluster_queue : "");
    if (queue == ledger_.setup.cluster_queues.end() || entry->object.holds(kFinished)) {
      continue;
    }
    RunningGang& gang = running.emplace_back();
    gang.dialect = "kueue";
    gang.priority = entry->object.request.priority.value_or(0);
    gang.created_seconds = entry->object.request.created_seconds;
    gang.queue = queue->second.id;
    gang.used = entry->used;
  }
}

void QueueFamily::add_leavers(Time now, std::vector<Leaver>& leavers) {
  for (auto& [key, departed] : ledger_.departed) {
    for (Departed& gone : departed) {
      gone.since = gone.since.value_or(now);
      if (*gone.since + kPatience <= now) {
        continue;
      }
      Leaver& leaver = leavers.emplace_back(Leaver{.id = key, .used = gone.used});
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
      leavers.push_back(leaver_of(*entry));
    }
  }
}

Leaver QueueFamily::leaver_of(const Entry& entry) const {
  Leaver leaver{.id = entry.id, .used = entry.used, .pods = entry.placeholders};
  for (const std::string& pod : ledger_.pods_of(leaver.id)) {
    if (!ledger_.pods.at(pod).ended && !ledger_.cluster.node_of(pod).empty()) {
      leaver.pods.push_back(pod);
    }
  }
  return leaver;
}

// One that left may have been admitted anew since. Of one that was deleted there may be pods.
bool QueueFamily::still_leaves(const std::string& id) const {
  const Entry* entry = ledger_.workload(id);
  return (entry != nullptr && entry->leaves()) || ledger_.departed.contains(id);
}

Leaver QueueFamily::evict(const RunningGang& victim, const Waiter& by, const Eviction& eviction, Time now, Step& step) {
  Entry& entry = ledger_.entries.at(victim.key.ns + "/" + victim.key.name);
  entry.gave_way = ledger_.account.ended;
  const Cause cause = cause_of(eviction);
  const std::string message = by.family == this ? fmt::format("Preempted for workload {} ({}): {}", by.id,
                                                              ids_of(entry_of(by).object), cause.words)
                                                : fmt::format("Preempted for {}, of higher priority", by.id);
  evictions_.evict(entry, {.reason = "Preempted", .message = message, .preempted = cause.reason}, now, step);
  announcer_.tell_workload(entry, {.warning = false, .reason = "Preempted", .action = "Evict", .note = message}, now,
                           step);
  return leaver_of(entry);
}

void QueueFamily::told_of_victim(const Waiter& by, const std::string& victim, const Eviction& eviction, Time now,
                                 Step& step) {
  const Entry* entry = ledger_.workload(victim);
  const std::string who = entry == nullptr ? victim : fmt::format("Workload {} ({})", victim, ids_of(entry->object));
  announcer_.tell_workload(entry_of(by),
                           {.warning = false,
                            .reason = "PreemptedWorkload",
                            .action = "Evict",
                            .note = fmt::format("{} goes for it: {}", who, cause_of(eviction).words)},
                           now, step);
}

}  // namespace gantree::kueue
