#include "kueue/precedence.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "queue/own_quota.h"
#include "queue/victims.h"

namespace gantree::kueue {

namespace {

// So long after victims were looked for in vain nobody waits for another look: looking is dear.
constexpr std::chrono::seconds kLooksAgainAfter{1};

bool waits_for_room(const std::optional<Verdict>& verdict) {
  return verdict && (verdict->reason == Reason::kTopologyBusy || verdict->reason == Reason::kQuotaExceeded ||
                     verdict->reason == Reason::kSearchLimit);
}

}  // namespace

bool may_evict(const Ledger& ledger, const Entry& entry) {
  return entry.waits() && entry.submission && entry.submission->may_evict && entry.submission->queue &&
         ledger.quota.rules(*entry.submission->queue).evicts();
}

bool asks_for_room(const Ledger& ledger, const Entry& entry, const std::optional<Verdict>& verdict) {
  return waits_for_room(verdict) && may_evict(ledger, entry);
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
  if (!entry.place || !entry.place->line.queue || !is_first_of_line(entry, started) || !has_hope(entry, verdict)) {
    return false;
  }
  if (entry.place->line.in_order) {
    ledger_.refused = true;  // nobody behind it is tried in any case: it is looked at with all the others
    hopes_[entry.key()] = true;
    return true;
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

bool Precedence::has_hope(const Entry& entry, const std::optional<Verdict>& verdict) {
  return entry.fruitless == 0 && asks_for_room(ledger_, entry, verdict) && evictions_could_help(entry);
}

std::vector<Entry*> Precedence::keepers() {
  std::vector<Entry*> keepers = all();
  for (const LineKey& key : ledger_.lines.in_order()) {
    Entry& first = ledger_.lines.lines().at(key).first();
    if (!waits_for_room(first.verdict)) {
      continue;
    }
    bool keeps = keeps_quota(ledger_.quota.rules(*key.queue));
    if (!keeps && first.fruitless == 0) {
      const auto [known, is_new] = hopes_.try_emplace(first.key(), false);
      if (is_new) {
        known->second = has_hope(first, first.verdict);
      }
      keeps = known->second;
    }
    if (keeps) {
      keepers.push_back(&first);
    }
  }
  return keepers;
}

std::map<QueueId, QuotaDemand> Precedence::kept_now() {
  std::map<QueueId, QuotaDemand> kept;
  for (const Entry* keeper : keepers()) {
    if (keeper->submission && keeper->submission->queue) {
      kept.emplace(*keeper->submission->queue, kept_quota(ledger_.quota, *keeper->submission));
    }
  }
  return kept;
}

void Precedence::release_kept() {
  if (kept_.empty()) {
    return;
  }
  const std::map<QueueId, QuotaDemand> now = kept_now();
  for (const auto& [queue, sum] : kept_) {
    const auto still = now.find(queue);
    if (still != now.end() && still->second == sum) {
      continue;
    }
    for (const auto& [cell, amount] : sum) {
      // What administrators set up may be another by now: then everything is looked at anyway.
      if (cell.index() < ledger_.quota.size()) {
        ledger_.freed_quota.insert(ledger_.root_of(cell));
      }
    }
  }
}

void Precedence::let_stand_by(std::vector<Submission>& submissions) {
  std::set<std::string_view> trees;
  std::set<GangKey> known;
  for (const Submission& submission : submissions) {
    if (submission.queue) {
      trees.insert(ledger_.quota.rules(*submission.queue).tree);
    }
    known.insert(submission.key);
  }
  for (const Entry* keeper : keepers()) {
    const std::optional<Submission>& submission = keeper->submission;
    if (submission && submission->queue && !known.contains(submission->key) &&
        trees.contains(ledger_.quota.rules(*submission->queue).tree)) {
      submissions.push_back(*submission);
      submissions.back().stands_by = true;
    }
  }
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
