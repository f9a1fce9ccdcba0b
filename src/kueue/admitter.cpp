#include "kueue/admitter.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "cycle/cycle.h"
#include "kueue/submissions.h"

namespace gantree::kueue {

namespace {

// So many of a queue are tried in one round.
constexpr std::size_t kAtOnce = 32;

// So many are tried in one step. The others come in the next ones, so that whatever happens meanwhile is seen, and
// whoever comes meanwhile stands in line with them.
constexpr int kMostTries = 512;

// What one of a line was told is true of those that come to it so soon after.
constexpr std::chrono::seconds kStillTrue{1};

// It waits for hosts, whatever the quota: that it is short of that too says nothing.
bool is_too_large(const Entry& entry) {
  return entry.verdict && entry.verdict->reason == Reason::kTopologyTooLarge;
}

// Another has to go first.
bool is_blocked(const Entry& entry) {
  return entry.verdict &&
         (entry.verdict->reason == Reason::kQueueBlocked || entry.verdict->reason == Reason::kPodsNotReady);
}

bool is_before(const Entry* a, const Entry* b) {
  return a->place->rank < b->place->rank;
}

// Has those for whom others may have to go come before those behind them in their queue.
class InTurn final : public CycleObserver {
 public:
  InTurn(Ledger& ledger, Precedence& precedence) : ledger_(ledger), precedence_(precedence) {}

  void before(const Submission&, Cluster&, const Quota&) override {}
  void after(const Submission& submission, const Decision& decision, Cluster&, const Quota&) override {
    if (decision.state == GangState::kPlaced) {
      started_.insert(&entry_of(submission));
    }
  }
  [[nodiscard]] bool holds_up(const Submission& submission, const Decision& decision) override {
    Entry& entry = entry_of(submission);
    const Verdict verdict{.state = decision.state, .reason = decision.reason, .message = {}};
    return precedence_.claim(entry, verdict, started_);
  }

 private:
  Entry& entry_of(const Submission& submission) {
    return ledger_.entries.at(submission.key.ns + "/" + submission.key.name);
  }

  Ledger& ledger_;
  Precedence& precedence_;
  std::set<const Entry*> started_;
};

}  // namespace

// Whether the job is not ready to be started: it was by somebody else, so that its pods would go anywhere; or a write
// of ours to it was not seen yet, and what it asks for by now may be something else; or its Workload was not told how
// many of its pods are over. It is stopped, or seen, first.
bool Admitter::is_unsettled(const Entry& entry, Time now) const {
  const JobEntry* job = ledger_.job_of(entry);
  return job != nullptr && (!job->progress.suspended || job->guard.closed(job->resource_version, now) ||
                            pods_over(entry.object, *job) != entry.object.reclaimable);
}

// Whether there is quota for so many of its kind.
bool Admitter::within_quota(const Entry& entry, int count) const {
  const auto fits = [&](const QuotaDemand& least) {
    return ledger_.quota.fits(count == 1 ? least : Quota::sum({least}, {count}), entry.submission->borrowing);
  };
  return entry.least.empty() || some_are_allowed(entry.least, std::ref(fits));
}

// Why it cannot be tried now, though it waits.
bool Admitter::put_off(Entry& entry, Time now) {
  if (entry.stays_out(now)) {
    if (entry.pauses(now)) {
      ledger_.later.add(*entry.object.requeue_at, entry.key());
    }
    return true;  // whatever ends that has it put again
  }
  if (entry.guard.closed(entry.object.resource_version, now) || is_unsettled(entry, now)) {
    entry.missed = true;
    return true;
  }
  return false;
}

// Victims are looked for when it is turned down. What its queue would have it evict others for, rather than start in
// another way, is left for that, unless it was in vain the last time, or can be nothing else.
Submission Admitter::without_evictions(const Entry& entry) const {
  Submission submission = *entry.submission;
  const bool evicts_first = submission.evicts_before_next || submission.evicts_before_borrowing;
  submission.evicts_later =
      evicts_first && entry.fruitless == 0 && may_evict(ledger_, entry) && precedence_.evictions_could_help(entry);
  submission.may_evict = false;
  return submission;
}

Place Admitter::place_of(const Entry& entry) const {
  const Submission& submission = *entry.submission;
  // What a strict queue cannot take at all, as it is set up, holds up nobody.
  const bool in_order = submission.queue && ledger_.quota.rules(*submission.queue).strict && !submission.rejection;
  return {.line = {.queue = submission.queue, .in_order = in_order, .shape = in_order ? 0 : entry.shape},
          .rank = rank_of(submission)};
}

void Admitter::sort_in(Time now) {
  for (const std::string& key : std::exchange(ledger_.waiting_changed, {})) {
    Entry* entry = ledger_.workload(key);
    if (entry == nullptr) {
      continue;
    }
    if (!entry->waits() || (entry->verdict && entry->verdict->state != GangState::kWaiting)) {
      ledger_.lines.take_out(*entry);
      continue;
    }
    static_cast<void>(submission_for(*entry, ledger_));
    const Place place = place_of(*entry);
    // In a strict queue whoever cannot be tried for a moment holds up the others all the same; not whoever stays out.
    if ((!place.line.in_order || entry->stays_out(now)) && put_off(*entry, now)) {
      ledger_.lines.set_aside(*entry);
    } else {
      ledger_.lines.put(*entry, place);
    }
  }
}

void Admitter::reopen(Time now) {
  WaitingLines& lines = ledger_.lines;
  const bool room = std::exchange(ledger_.room_changed, false);
  std::map<std::optional<QueueId>, std::map<Rank, LineKey>> first_of_many;
  for (const LineKey& key : std::set(room || !owed_.empty() ? lines.short_of_room() : std::set<LineKey>())) {
    if (!under_way_.contains(key.queue)) {
      if (room || owed_.contains(key.queue)) {
        lines.open(key);
      }
    } else if (room) {
      // The first ones at once, so that those behind them do not get what came free; the others when their queue has
      // been gone through.
      owed_.insert(key.queue);
      auto& first = first_of_many[key.queue];
      first.emplace(lines.find(key)->first().place->rank, key);
      if (first.size() > kAtOnce) {
        first.erase(std::prev(first.end()));
      }
    }
  }
  for (const auto& [queue, first] : first_of_many) {
    for (const auto& [rank, key] : first) {
      lines.open(key);
    }
  }
  std::erase_if(owed_, [&](const std::optional<QueueId>& queue) { return !under_way_.contains(queue); });
  const std::set<QuotaId> freed = std::exchange(ledger_.freed_quota, {});
  for (auto it = lines.lines().begin(); !freed.empty() && it != lines.lines().end();) {
    const std::optional<QueueId> queue = it->first.queue;
    const std::vector<QuotaId> cells = queue ? ledger_.quota.cells_of(*queue) : std::vector<QuotaId>();
    const bool concerned =
        std::any_of(cells.begin(), cells.end(), [&](QuotaId cell) { return freed.contains(ledger_.root_of(cell)); });
    const Line* first = nullptr;
    for (; it != lines.lines().end() && it->first.queue == queue; ++it) {
      const Hope hope = it->second.hope;
      if (hope != Hope::kSetup && (first == nullptr || is_before(&it->second.first(), &first->first()))) {
        first = &it->second;
      }
      if (concerned && (hope == Hope::kRoom || hope == Hope::kQuota) && within_quota(it->second.first(), 1)) {
        lines.open(it->first);
      }
    }
    // With what came free victims may be enough that were not before.
    if (concerned && first != nullptr) {
      Entry& entry = first->first();
      precedence_.claim_again(entry, entry.place->line.in_order ? entry.verdict : first->verdict, now);
    }
  }
}

// Whether what was told last is what one who comes now would be told.
bool Admitter::is_known(const LineKey& key, const Line& line, Time now) {
  if (!line.verdict) {
    return false;
  }
  // The first one holds up the others, and not itself.
  return key.in_order ? line.verdict->reason == Reason::kQueueBlocked && line.head == line.entries.begin()->first &&
                            line.first().verdict.has_value()
                      : now - line.tried_at < kStillTrue;
}

// Those at the front of a line that may start now, in order; or those by whom it shows why nobody does.
std::vector<Entry*> Admitter::front_of(const LineKey& key, Time now, const Rank*& left) {
  const Line& line = *ledger_.lines.find(key);
  const bool known = is_known(key, line, now);
  std::vector<Entry*> front;
  std::vector<Entry*> aside;
  const bool tried = line.hope != Hope::kTurn && (known || !key.in_order);
  for (auto it = line.entries.begin(); !tried && it != line.entries.end() && front.size() < kAtOnce; ++it) {
    Entry& entry = *it->second;
    if (put_off(entry, now)) {
      if (key.in_order) {
        break;  // whoever cannot be tried holds up the others all the same
      }
      aside.push_back(&entry);
      continue;
    }
    const int count = key.in_order ? 1 : static_cast<int>(front.size()) + 1;
    // Whoever comes to be the first was told of the one before it, which says nothing of its own chances.
    const bool told = key.in_order ? line.fresh.empty() && !(&entry == &line.first() && is_blocked(entry))
                                   : (line.verdict && entry.verdict) || !front.empty();
    const bool explained = known || told;
    if (explained && !is_too_large(entry) && !within_quota(entry, count)) {
      left = &it->first;
      break;
    }
    front.push_back(&entry);
  }
  // What is true of one is true of all that ask for the same.
  if (front.empty() && !known && !key.in_order) {
    const auto it = std::find_if(line.fresh.begin(), line.fresh.end(),
                                 [&](const auto& item) { return !put_off(*item.second, now); });
    if (it != line.fresh.end()) {
      front.push_back(it->second);
    }
  }
  for (Entry* entry : aside) {
    ledger_.lines.set_aside(*entry);
  }
  return front;
}

void Admitter::admit(Time now, Step& step) {
  precedence_.begin();
  sort_in(now);
  if (const Entry* starting = held_up_by()) {
    hold_up(*starting, now);
    return;
  }
  precedence_.release_kept();
  reopen(now);
  step.figures.decided = step.figures.decided || !ledger_.lines.open_lines().empty();
  if (one_by_one_) {
    // The others are tried when it is ready.
    try_until_one_starts(now, step);
    held_up_by_.clear();
    precedence_.note_kept();
    return;
  }
  std::set<LineKey> held_back;
  const int before = step.figures.gangs_tried;
  bool more = true;
  while (more && step.figures.gangs_tried - before < kMostTries) {
    more = try_fronts(held_back, now, step);
  }
  under_way_.clear();
  for (const LineKey& key : more ? ledger_.lines.open_lines() : std::set<LineKey>()) {
    if (!held_back.contains(key)) {
      under_way_.insert(key.queue);
    }
  }
  if (!under_way_.empty() || !owed_.empty()) {
    step.wake_by(now);
  }
  precedence_.note_kept();
}

const Entry* Admitter::held_up_by() const {
  if (!one_by_one_) {
    return nullptr;
  }
  for (const auto& [key, entry] : ledger_.holders) {
    if (!entry->leaves() && !entry->object.deleting && !(entry->object.holds(kPodsReady) && !entry->assumed)) {
      return entry;
    }
  }
  return nullptr;
}

// What changed meanwhile stays to be looked at.
void Admitter::hold_up(const Entry& starting, Time now) {
  const Verdict verdict{.state = GangState::kWaiting,
                        .reason = Reason::kPodsNotReady,
                        .message = "the pods of workload " + starting.key() + " have to be ready first"};
  const bool another = std::exchange(held_up_by_, starting.key()) != starting.key();
  for (const LineKey& key : ledger_.lines.open_lines()) {
    const Line& line = *ledger_.lines.find(key);
    for (const auto& [rank, entry] : std::map(another ? line.entries : line.fresh)) {
      tell(*entry, verdict, now);
    }
  }
}

// The first ones of each queue, in order; without those behind one that comes first.
std::map<std::optional<QueueId>, std::vector<Entry*>> Admitter::fronts(std::set<LineKey>& held_back, Time now,
                                                                       std::size_t most) {
  WaitingLines& lines = ledger_.lines;
  std::map<std::optional<QueueId>, std::vector<Entry*>> fronts;
  std::map<QueueId, const Rank*> bounds;
  const auto bound = [&](QueueId queue, const Rank& rank) {
    const Rank*& known = bounds[queue];
    known = known == nullptr || rank < *known ? &rank : known;
  };
  for (const LineKey& key : std::set(lines.open_lines())) {
    if (held_back.contains(key)) {
      continue;
    }
    const Rank* left = nullptr;
    const std::vector<Entry*> front = front_of(key, now, left);
    std::vector<Entry*>& merged = fronts[key.queue];
    merged.insert(merged.end(), front.begin(), front.end());
    // It is the first of its line in the next round: then it shows whether others may have to go for it.
    if (!front.empty() && left != nullptr && key.queue && ledger_.quota.rules(*key.queue).evicts()) {
      bound(*key.queue, *left);
    }
    if (front.empty() && lines.find(key) != nullptr) {
      Entry& first = lines.find(key)->first();
      precedence_.claim(first, first.verdict);
      close(key, nullptr, now);
      held_back.insert(key);
    }
  }
  for (auto& [queue, front] : fronts) {
    // There may be a line for every job that waits.
    const auto last_one = front.begin() + static_cast<std::ptrdiff_t>(std::min(most, front.size()));
    std::partial_sort(front.begin(), last_one, front.end(), is_before);
    front.erase(last_one, front.end());
    if (const Entry* first = queue ? precedence_.first_of(*queue) : nullptr) {
      bound(*queue, first->place->rank);
    }
    if (const auto last = queue ? bounds.find(*queue) : bounds.end(); last != bounds.end()) {
      front.erase(std::upper_bound(front.begin(), front.end(), *last->second,
                                   [](const Rank& rank, const Entry* entry) { return rank < entry->place->rank; }),
                  front.end());
    }
  }
  return fronts;
}

// Where the first of a line is turned down, so are those behind it: the first ones are enough.
void Admitter::try_until_one_starts(Time now, Step& step) {
  std::vector<Submission> submissions;
  std::set<LineKey> tried;
  for (const auto& [queue, front] : fronts(tried, now, std::numeric_limits<std::size_t>::max())) {
    for (const Entry* entry : front) {
      if (tried.insert(entry->place->line).second) {
        submissions.push_back(without_evictions(*entry));
      }
    }
  }
  precedence_.let_stand_by(submissions);
  InTurn in_turn(ledger_, precedence_);
  const Plan plan = run_until_one_starts(ledger_.cluster, ledger_.quota, std::move(submissions), &in_turn);
  for (const Decision& decision : plan.decisions) {
    if (const auto line = settle(decision, now, step)) {
      close(*line, &entry_of(decision), now);
    }
  }
}

// One round: where somebody is turned down, so are all that stand behind in the same line.
bool Admitter::try_fronts(std::set<LineKey>& held_back, Time now, Step& step) {
  std::vector<Submission> batch;
  for (const auto& [queue, front] : fronts(held_back, now, kAtOnce)) {
    for (const Entry* entry : front) {
      batch.push_back(without_evictions(*entry));
    }
  }
  if (batch.empty()) {
    return false;
  }
  precedence_.let_stand_by(batch);
  InTurn in_turn(ledger_, precedence_);
  const Plan plan = run_cycle(ledger_.cluster, ledger_.quota, std::move(batch), &in_turn);
  std::map<LineKey, const Entry*> refused;
  for (const Decision& decision : plan.decisions) {
    if (const auto line = settle(decision, now, step)) {
      refused[*line] = &entry_of(decision);
    }
  }
  for (const auto& [key, entry] : refused) {
    close(key, entry, now);
    held_back.insert(key);
  }
  return true;
}

// Those that are left of a line wait, and are told what the last one of it was told. `refused`: that one; nullptr where
// nobody was tried.
void Admitter::close(const LineKey& key, const Entry* refused, Time now) {
  WaitingLines& lines = ledger_.lines;
  Line& line = *lines.find(key);
  if (refused != nullptr) {
    line.verdict = refused->verdict;
    line.head = line.entries.begin()->first;
    line.tried_at = now;
  }
  if (refused != nullptr || is_known(key, line, now)) {
    // What was told of one whose pods had to be ready first is no longer so.
    for (const auto& [rank, entry] : std::map(held_up_by_.empty() ? line.fresh : line.entries)) {
      tell(*entry, *line.verdict, now);
    }
  }
  const Entry& first = line.first();
  const bool rejected = first.submission->rejection.has_value();
  const bool room = is_too_large(first) || within_quota(first, 1);
  lines.close(key, rejected ? Hope::kSetup : room ? Hope::kRoom : Hope::kQuota);
  if (key.in_order && first.guard.closed(first.object.resource_version, now)) {
    lines.open(key);  // those behind it are looked at again, whatever becomes of it
  }
  if (refused != nullptr && refused->verdict->state != GangState::kWaiting) {
    for (const auto& [rank, entry] : std::map(line.entries)) {
      lines.take_out(*entry);  // they do not wait for anything
    }
  }
}

void Admitter::tell(Entry& entry, const Verdict& verdict, Time now) {
  ledger_.refused = true;
  entry.waits_since = now;
  entry.verdict = verdict;
  ledger_.lines.told(entry);
  ledger_.dirty.insert(entry.key());
}

Entry& Admitter::entry_of(const Decision& decision) {
  return ledger_.entries.at(decision.key.ns + "/" + decision.key.name);
}

std::optional<LineKey> Admitter::settle(const Decision& decision, Time now, Step& step) {
  ++step.figures.gangs_tried;
  Entry& entry = entry_of(decision);
  if (decision.state != GangState::kPlaced) {
    const Time since = entry.verdict ? entry.waits_since : now;
    tell(entry, {.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)}, now);
    entry.waits_since = since;
    return entry.place->line;
  }
  ledger_.dirty.insert(entry.key());
  const LineKey line = entry.place->line;
  grants_.assume(entry, decision);
  if (ledger_.lines.find(line) != nullptr) {
    ledger_.lines.open(line);  // where one starts, so may the next
  }
  ++step.figures.gangs_placed;
  for (const PodSetDecision& set : decision.pod_sets) {
    step.figures.pods_placed += set.count;
  }
  grants_.write(entry, now, step);
  return std::nullopt;
}

}  // namespace gantree::kueue
