#include "kueue/admitter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "cycle/cycle.h"
#include "kueue/submissions.h"

namespace gantree::kueue {

// Whether the job was started by somebody else. It is stopped first: as it is, its pods would go anywhere.
bool Admitter::past_its_queue(const Entry& entry) const {
  const JobEntry* job = ledger_.job_of(entry);
  return job != nullptr && !job->progress.suspended;
}

bool Admitter::within_quota(const Entry& entry) const {
  return entry.least.empty() || std::any_of(entry.least.begin(), entry.least.end(), [&](const QuotaDemand& least) {
           return ledger_.quota.fits(least, entry.submission->borrowing);
         });
}

// What was turned down is not tried again before something has come free that it lacked.
bool Admitter::worth_trying(const Entry& entry) const {
  if (!entry.verdict) {
    return true;
  }
  return entry.verdict->state == GangState::kWaiting && entry.tried_with_room != room_ && within_quota(entry);
}

bool Admitter::strict(const Entry& entry) const {
  return entry.submission->queue && ledger_.quota.rules(*entry.submission->queue).strict;
}

std::vector<Entry*> Admitter::candidates(Time now) {
  std::vector<Entry*> found;
  for (auto& [key, entry] : ledger_.entries) {
    if (!entry.waits()) {
      continue;
    }
    if (entry.object.requeue_at && *entry.object.requeue_at > now) {
      ledger_.later.emplace(*entry.object.requeue_at, key);
      entry.missed = true;
      continue;
    }
    if (entry.guard.closed(entry.object.resource_version, now) || past_its_queue(entry)) {
      entry.missed = true;
      continue;
    }
    static_cast<void>(submission_for(entry, ledger_));
    // Whoever stands in a strict queue is looked at with all before him.
    if (worth_trying(entry) || strict(entry)) {
      found.push_back(&entry);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Entry* a, const Entry* b) { return goes_before(*a->submission, *b->submission); });
  return found;
}

void Admitter::admit(Time now, Step& step) {
  if (!ledger_.room_changed && ledger_.waiting_changed.empty()) {
    return;
  }
  room_ += ledger_.room_changed ? 1 : 0;
  ledger_.room_changed = false;
  ledger_.waiting_changed.clear();
  std::vector<Entry*> waiting = candidates(now);
  if (!waiting.empty()) {
    step.figures.decided = true;
    try_all(std::move(waiting), now, step);
  }
}

// The first of every queue, then the next as long as there is quota for them: where very many wait, nearly all of them
// for the same quota, only those are looked at closely that have a chance.
void Admitter::try_all(std::vector<Entry*> waiting, Time now, Step& step) {
  constexpr int kAtOnce = 32;
  while (!waiting.empty()) {
    std::vector<Submission> batch;
    std::vector<Entry*> rest;
    std::map<std::optional<QueueId>, int> taken;
    for (Entry* entry : waiting) {
      const bool in_order = strict(*entry);
      if (entry->verdict && !in_order && !within_quota(*entry)) {
        entry->tried_with_room = room_;
      } else if (in_order || ++taken[entry->submission->queue] <= kAtOnce) {
        entry->tried_with_room = room_;
        batch.push_back(*entry->submission);
        batch.back().may_evict = false;
      } else {
        rest.push_back(entry);
      }
    }
    const Plan plan = batch.empty() ? Plan() : run_cycle(ledger_.cluster, ledger_.quota, std::move(batch));
    for (const Decision& decision : plan.decisions) {
      settle(decision, now, step);
    }
    waiting = std::move(rest);
  }
}

void Admitter::settle(const Decision& decision, Time now, Step& step) {
  ++step.figures.gangs_tried;
  const std::string key = decision.key.ns + "/" + decision.key.name;
  Entry& entry = ledger_.entries.at(key);
  ledger_.dirty.insert(key);
  if (decision.state != GangState::kPlaced) {
    entry.waits_since = entry.verdict ? entry.waits_since : now;
    entry.verdict =
        Verdict{.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)};
    return;
  }
  grants_.assume(entry, decision);
  ++step.figures.gangs_placed;
  for (const PodSetDecision& set : decision.pod_sets) {
    step.figures.pods_placed += set.count;
  }
  grants_.write(entry, now, step);
}

}  // namespace gantree::kueue
