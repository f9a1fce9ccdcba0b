#include "kueue/precedence.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "queue/victims.h"

namespace gantree::kueue {

namespace {

// So long after victims were looked for in vain nobody waits for another look: looking is dear.
constexpr std::chrono::seconds kLooksAgainAfter{1};

}  // namespace

bool may_evict(const Ledger& ledger, const Entry& entry) {
  return entry.waits() && entry.submission && entry.submission->may_evict && entry.submission->queue &&
         ledger.quota.rules(*entry.submission->queue).evicts();
}

bool asks_for_room(const Ledger& ledger, const Entry& entry, const std::optional<Verdict>& verdict) {
  const bool room = verdict && (verdict->reason == Reason::kTopologyBusy || verdict->reason == Reason::kQuotaExceeded ||
                                verdict->reason == Reason::kSearchLimit);
  return room && may_evict(ledger, entry);
}

// Those behind the first of a line have no better right than that.
bool Precedence::is_first_of_line(const Entry& entry, const std::set<const Entry*>& started) const {
  const auto& entries = ledger_.lines.lines().find(entry.place->line)->second.entries;
  const auto first =
      std::find_if(entries.begin(), entries.end(), [&](const auto& item) { return !started.contains(item.second); });
  return first != entries.end() && first->second == &entry;
}

bool Precedence::still_comes_first(const Entry& entry, const Rank& rank) const {
  return entry.place && entry.place->rank == rank && !entry.place->line.in_order && entry.fruitless == 0 &&
         is_first_of_line(entry, {}) && may_evict(ledger_, entry);
}

bool Precedence::claim(Entry& entry, const std::optional<Verdict>& verdict, const std::set<const Entry*>& started) {
  if (!entry.place || !entry.place->line.queue || entry.place->line.in_order || entry.fruitless > 0 ||
      !is_first_of_line(entry, started) || !asks_for_room(ledger_, entry, verdict) || !evictions_could_help(entry)) {
    return false;
  }
  first_[*entry.place->line.queue].insert_or_assign(entry.place->rank, entry.key());
  return true;
}

bool Precedence::claim_again(Entry& entry, const std::optional<Verdict>& verdict, Time now) {
  if (entry.fruitless > 0 && now < entry.looked_at + kLooksAgainAfter) {
    return false;
  }
  const int fruitless = std::exchange(entry.fruitless, 0);
  const bool first = claim(entry, verdict);
  entry.fruitless = first ? 0 : fruitless;
  entry.preempts_at = first ? Time() : entry.preempts_at;
  return first;
}

Entry* Precedence::first_of(QueueId queue) {
  const auto found = first_.find(queue);
  if (found == first_.end()) {
    return nullptr;
  }
  auto& waiting = found->second;
  while (!waiting.empty()) {
    Entry* entry = ledger_.workload(waiting.begin()->second);
    if (entry != nullptr && still_comes_first(*entry, waiting.begin()->first) && entry->place->line.queue == queue) {
      return entry;
    }
    waiting.erase(waiting.begin());
  }
  first_.erase(found);
  return nullptr;
}

std::vector<Entry*> Precedence::all() {
  std::vector<QueueId> queues;
  for (const auto& [queue, waiting] : first_) {
    queues.push_back(queue);
  }
  std::vector<Entry*> entries;
  for (const QueueId queue : queues) {
    if (Entry* entry = first_of(queue)) {
      entries.push_back(entry);
    }
  }
  return entries;
}

void Precedence::count_running() {
  running_.emplace();
  leaving_.clear();
  for (const auto& [key, departed] : ledger_.departed) {
    for (const Departed& gone : departed) {
      leaving_.push_back(gone.used);
    }
  }
  for (const auto& [key, entry] : ledger_.holders) {
    if (entry->leaves()) {
      leaving_.push_back(entry->used);
      continue;
    }
    const auto queue =
        ledger_.setup.cluster_queues.find(entry->object.admission ? entry->object.admission->cluster_queue : "");
    if (queue == ledger_.setup.cluster_queues.end() || entry->object.holds(kFinished)) {
      continue;
    }
    RunningGang gang;
    gang.dialect = "kueue";
    gang.priority = entry->object.request.priority.value_or(0);
    gang.created_seconds = entry->object.request.created_seconds;
    gang.queue = queue->second.id;
    gang.used = entry->used;
    running_->push_back(std::move(gang));
  }
}

bool Precedence::evictions_could_help(const Entry& entry) {
  if (entry.least.size() != 1) {
    return entry.least.empty() || some_are_allowed(entry.least, [&](const QuotaDemand& least) {
             return ledger_.quota.could_fit(least, entry.submission->borrowing);
           });
  }
  if (!running_) {
    count_running();
  }
  Quota& quota = ledger_.quota;
  return std::any_of(entry.least.front().begin(), entry.least.front().end(), [&](const QuotaDemand& least) {
    const std::vector<VictimCandidate> candidates =
        victim_candidates(quota, *entry.submission, least, *running_, Offer::kAll);
    if (candidates.empty() && leaving_.empty()) {
      return false;
    }
    std::vector<const QuotaDemand*> gone;
    for (const QuotaDemand& used : leaving_) {
      gone.push_back(&used);
    }
    for (const VictimCandidate& candidate : candidates) {
      gone.push_back(&(*running_)[candidate.position].used);
    }
    std::for_each(gone.begin(), gone.end(), [&](const QuotaDemand* used) { quota.give(*used); });
    const bool fits = quota.fits(least, entry.submission->borrowing);
    std::for_each(gone.begin(), gone.end(), [&](const QuotaDemand* used) { quota.take(*used); });
    return fits;
  });
}

}  // namespace gantree::kueue
