#include "kueue/admitter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cycle/cycle.h"
#include "kueue/submissions.h"

namespace gantree::kueue {

namespace {

// So many of a queue are tried in one round.
constexpr std::size_t kAtOnce = 32;

bool is_before(const Entry* a, const Entry* b) {
  return goes_before(*a->submission, *b->submission);
}

}  // namespace

// Whether the job was started by somebody else. It is stopped first: as it is, its pods would go anywhere.
bool Admitter::past_its_queue(const Entry& entry) const {
  const JobEntry* job = ledger_.job_of(entry);
  return job != nullptr && !job->progress.suspended;
}

bool Admitter::strict(const Entry& entry) const {
  return entry.submission->queue && ledger_.quota.rules(*entry.submission->queue).strict;
}

// Whether there is quota for so many of its kind.
bool Admitter::within_quota(const Entry& entry, int count) const {
  return entry.least.empty() || std::any_of(entry.least.begin(), entry.least.end(), [&](const QuotaDemand& least) {
           return ledger_.quota.fits(count == 1 ? least : Quota::sum({least}, {count}), entry.submission->borrowing);
         });
}

// Why it cannot be tried now, though it waits.
bool Admitter::put_off(Entry& entry, Time now) {
  if (entry.object.requeue_at && *entry.object.requeue_at > now) {
    ledger_.later.add(*entry.object.requeue_at, entry.key());
    entry.missed = true;
    return true;
  }
  if (entry.guard.closed(entry.object.resource_version, now) || past_its_queue(entry)) {
    entry.missed = true;
    return true;
  }
  return false;
}

Admitter::Lines Admitter::lines(Time now) {
  Lines lines;
  for (auto& [key, entry] : ledger_.entries) {
    if (!entry.waits()) {
      continue;
    }
    static_cast<void>(submission_for(entry, ledger_));
    const bool tried = entry.verdict && (entry.verdict->state != GangState::kWaiting || entry.tried_with_room == room_);
    const bool in_order = strict(entry);
    if (!in_order && (tried || put_off(entry, now))) {
      continue;
    }
    Line& line = lines[{entry.submission->queue, in_order ? 0 : entry.shape}];
    line.in_order = in_order;
    line.fresh = line.fresh || !entry.verdict;
    line.entries.push_back(&entry);
  }
  return lines;
}

// Those at the front of a line that may start now, in order.
std::vector<Entry*> Admitter::front_of(Line& line, Time now) {
  const std::size_t left = line.entries.size() - line.next;
  const auto from = line.entries.begin() + static_cast<std::ptrdiff_t>(line.next);
  const auto to = from + static_cast<std::ptrdiff_t>(std::min(left, kAtOnce));
  std::partial_sort(from, to, line.entries.end(), is_before);
  std::vector<Entry*> front;
  for (auto it = from; it != to; ++it) {
    Entry& entry = **it;
    // In a strict queue whoever cannot be tried holds up the others all the same.
    if (line.in_order && put_off(entry, now)) {
      held_back_ = held_back_ || entry.guard.closed(entry.object.resource_version, now);
      break;
    }
    const int count = line.in_order ? 1 : static_cast<int>(front.size()) + 1;
    const bool explained = line.in_order ? !line.fresh : entry.verdict.has_value() || !front.empty();
    if (explained && !within_quota(entry, count)) {
      break;
    }
    front.push_back(&entry);
  }
  return front;
}

void Admitter::admit(Time now, Step& step) {
  // Whoever stands behind one that was being written to is looked at again, whatever becomes of that one.
  if (!std::exchange(held_back_, false) && !ledger_.room_changed && ledger_.waiting_changed.empty()) {
    return;
  }
  if (const Entry* starting = held_up_by()) {
    hold_up(*starting, now);
    return;
  }
  room_ += ledger_.room_changed ? 1 : 0;
  ledger_.room_changed = false;
  ledger_.waiting_changed.clear();
  Lines open = lines(now);
  step.figures.decided = step.figures.decided || !open.empty();
  if (one_by_one_) {
    // The others are tried when it is ready.
    ledger_.room_changed = try_until_one_starts(open, now, step);
    return;
  }
  while (!open.empty()) {
    try_fronts(open, now, step);
  }
}

const Entry* Admitter::held_up_by() const {
  if (!one_by_one_) {
    return nullptr;
  }
  for (const auto& [key, entry] : ledger_.entries) {
    if (entry.admission() && !entry.leaves() && !entry.object.deleting && !entry.object.holds(kFinished) &&
        !(entry.object.holds(kPodsReady) && !entry.assumed)) {
      return &entry;
    }
  }
  return nullptr;
}

// What changed meanwhile stays to be looked at.
void Admitter::hold_up(const Entry& starting, Time now) {
  for (auto& [key, entry] : ledger_.entries) {
    if (!entry.waits() || entry.verdict) {
      continue;
    }
    entry.waits_since = now;
    entry.verdict = Verdict{.state = GangState::kWaiting,
                            .reason = Reason::kQueueBlocked,
                            .message = "the pods of workload " + starting.key() + " have to be ready first"};
    ledger_.dirty.insert(key);
  }
}

bool Admitter::try_until_one_starts(Lines& open, Time now, Step& step) {
  std::vector<Submission> submissions;
  for (auto& [key, line] : open) {
    std::sort(line.entries.begin(), line.entries.end(), is_before);
    for (Entry* entry : line.entries) {
      // In a strict queue whoever cannot be tried holds up the others all the same.
      if (line.in_order && put_off(*entry, now)) {
        break;
      }
      submissions.push_back(*entry->submission);
      submissions.back().may_evict = false;
    }
  }
  const Plan plan = run_until_one_starts(ledger_.cluster, ledger_.quota, std::move(submissions));
  for (const Decision& decision : plan.decisions) {
    ledger_.entries.at(decision.key.ns + "/" + decision.key.name).tried_with_room = room_;
    settle(decision, now, step);
  }
  return !plan.decisions.empty() && plan.decisions.back().state == GangState::kPlaced;
}

// One round: where somebody is turned down, so are all that stand behind in the same line.
void Admitter::try_fronts(Lines& open, Time now, Step& step) {
  std::map<std::optional<QueueId>, std::vector<Entry*>> fronts;
  std::map<const Entry*, Line*> line_of;
  for (auto it = open.begin(); it != open.end();) {
    const std::vector<Entry*> front = front_of(it->second, now);
    for (Entry* entry : front) {
      line_of.emplace(entry, &it->second);
      fronts[it->first.first].push_back(entry);
    }
    it = front.empty() ? close(open, it) : std::next(it);
  }
  std::vector<Submission> batch;
  for (auto& [queue, front] : fronts) {
    std::sort(front.begin(), front.end(), is_before);
    for (std::size_t i = 0; i < std::min(front.size(), kAtOnce); ++i) {
      ++line_of.at(front[i])->next;
      front[i]->tried_with_room = room_;
      batch.push_back(*front[i]->submission);
      batch.back().may_evict = false;
    }
  }
  const Plan plan = batch.empty() ? Plan() : run_cycle(ledger_.cluster, ledger_.quota, std::move(batch));
  for (const Decision& decision : plan.decisions) {
    settle(decision, now, step);
    if (decision.state != GangState::kPlaced) {
      const Entry* refused = &ledger_.entries.at(decision.key.ns + "/" + decision.key.name);
      line_of.at(refused)->refused = refused;
    }
  }
  for (auto it = open.begin(); it != open.end();) {
    const Line& line = it->second;
    it = line.refused != nullptr || line.next == line.entries.size() ? close(open, it) : std::next(it);
  }
}

// Those that are left of a line wait, and are told what the last one of it was told.
Admitter::Lines::iterator Admitter::close(Lines& open, Lines::iterator it) {
  const Line& line = it->second;
  const Entry* like = line.refused;
  for (std::size_t i = line.next; i < line.entries.size(); ++i) {
    Entry& entry = *line.entries[i];
    entry.tried_with_room = room_;
    like = like == nullptr && !line.in_order && entry.verdict ? &entry : like;
    if (!entry.verdict && like != nullptr) {
      entry.verdict = like->verdict;
      entry.waits_since = like->waits_since;
      ledger_.dirty.insert(entry.key());
    }
  }
  return open.erase(it);
}

void Admitter::settle(const Decision& decision, Time now, Step& step) {
  ++step.figures.gangs_tried;
  const std::string key = decision.key.ns + "/" + decision.key.name;
  Entry& entry = ledger_.entries.at(key);
  ledger_.dirty.insert(key);
  if (decision.state != GangState::kPlaced) {
    ledger_.refused = true;
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
