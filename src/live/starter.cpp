#include "live/starter.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <utility>

#include "cycle/cycle.h"
#include "live/notices.h"

namespace gantree {

namespace {

// So many of a crowd are tried in one round.
constexpr std::size_t kAtOnce = 32;

// So many are tried in one step. The others come in the next ones, so that whatever happens meanwhile is seen, and
// gangs that come meanwhile stand in line with them.
constexpr int kMostTries = 512;

// What one of a line was told is true of those that come to it so soon after.
constexpr std::chrono::seconds kStillTrue{1};

// It waits for hosts, whatever the quota: that it is short of that too says nothing.
bool is_too_large(const Waiter& waiter) {
  return waiter.verdict && waiter.verdict->reason == Reason::kTopologyTooLarge;
}

// Another gang starts first.
bool is_blocked(const Waiter& waiter) {
  return waiter.verdict &&
         (waiter.verdict->reason == Reason::kQueueBlocked || waiter.verdict->reason == Reason::kPodsNotReady);
}

bool is_before(const Waiter* a, const Waiter* b) {
  return a->place->rank < b->place->rank;
}

}  // namespace

// Has those for whom others may be evicted come before those behind them in their crowd.
class Starter::InTurn final : public CycleObserver {
 public:
  InTurn(const Batch& batch, Precedence& precedence) : batch_(batch), precedence_(precedence) {}

  void before(const Submission&, Cluster&, const Quota&) override {}
  void after(const Submission& submission, const Decision& decision, Cluster&, const Quota&) override {
    if (decision.state == GangState::kPlaced) {
      started_.insert(&waiter_of(submission));
    }
  }
  [[nodiscard]] bool holds_up(const Submission& submission, const Decision& decision) override {
    const Verdict verdict{.state = decision.state, .reason = decision.reason, .message = {}};
    return precedence_.claim(waiter_of(submission), verdict, started_);
  }

 private:
  Waiter& waiter_of(const Submission& submission) { return *batch_.waiters.at({submission.dialect, submission.key}); }

  const Batch& batch_;
  Precedence& precedence_;
  std::set<const Waiter*> started_;
};

// Whether there is quota for so many of its kind.
bool Starter::within_quota(const Waiter& waiter, int count) const {
  const auto fits = [&](const QuotaDemand& least) {
    return account_.quota.fits(count == 1 ? least : Quota::sum({least}, {count}), waiter.submission->borrowing);
  };
  return waiter.least.empty() || some_are_allowed(waiter.least, std::ref(fits));
}

// Victims are looked for when it is turned down. What its queue would have it evict others for, rather than start in
// another way, is left for that, unless it was in vain the last time, or can be nothing else.
Submission Starter::without_evictions(const Waiter& waiter) const {
  Submission submission = *waiter.submission;
  const bool evicts_first = submission.evicts_before_next || submission.evicts_before_borrowing;
  submission.evicts_later =
      evicts_first && waiter.fruitless == 0 && may_evict(account_, waiter) && precedence_.evictions_could_help(waiter);
  submission.may_evict = false;
  submission.one_by_one = waiter.family->one_by_one();
  return submission;
}

Place Starter::place_of(const Waiter& waiter) const {
  const Submission& submission = *waiter.submission;
  // What a strict queue cannot take at all, as it is set up, is in nobody's way.
  const bool in_order = submission.queue && account_.quota.rules(*submission.queue).strict && !submission.rejection;
  return {.line = {.queue = submission.queue,
                   .ns = submission.queue ? "" : submission.key.ns,
                   .in_order = in_order,
                   .shape = in_order ? 0 : waiter.shape},
          .rank = rank_of(submission)};
}

void Starter::sort_in(Time now) {
  for (Family* family : account_.families) {
    for (Waiter* waiter : family->take_changed()) {
      if (!family->waits(*waiter) || (waiter->verdict && waiter->verdict->state != GangState::kWaiting)) {
        account_.lines.take_out(*waiter);
        continue;
      }
      family->prepare(*waiter);
      const Place place = place_of(*waiter);
      // A gang that cannot be tried for a moment still blocks a strict queue; one that stays out does not.
      if ((!place.line.in_order || family->stays_out(*waiter, now)) && family->put_off(*waiter, now)) {
        account_.lines.set_aside(*waiter);
      } else {
        account_.lines.put(*waiter, place);
      }
    }
  }
}

void Starter::reopen(Time now) {
  WaitingLines& lines = account_.lines;
  const bool room = std::exchange(account_.room_changed, false);
  std::map<Crowd, std::map<Rank, LineKey>> first_of_many;
  for (const LineKey& key : std::set(room || !owed_.empty() ? lines.short_of_room() : std::set<LineKey>())) {
    const Crowd crowd = key.crowd();
    if (!under_way_.contains(crowd)) {
      if (room || owed_.contains(crowd)) {
        lines.open(key);
      }
    } else if (room) {
      // The first ones at once, so that those behind them do not get what came free; the others when their crowd has
      // been gone through.
      owed_.insert(crowd);
      auto& first = first_of_many[crowd];
      first.emplace(lines.find(key)->first().place->rank, key);
      if (first.size() > kAtOnce) {
        first.erase(std::prev(first.end()));
      }
    }
  }
  for (const auto& [crowd, first] : first_of_many) {
    for (const auto& [rank, key] : first) {
      lines.open(key);
    }
  }
  std::erase_if(owed_, [&](const Crowd& crowd) { return !under_way_.contains(crowd); });
  reopen_for_quota(std::exchange(account_.freed_quota, {}), now);
}

void Starter::reopen_for_quota(const std::set<QuotaId>& freed, Time now) {
  WaitingLines& lines = account_.lines;
  for (auto it = lines.lines().begin(); !freed.empty() && it != lines.lines().end();) {
    const Crowd crowd = it->first.crowd();
    const std::vector<QuotaId> cells = crowd.queue ? account_.quota.cells_of(*crowd.queue) : std::vector<QuotaId>();
    const bool concerned =
        std::any_of(cells.begin(), cells.end(), [&](QuotaId cell) { return freed.contains(account_.root_of(cell)); });
    const WaitingLine* first = nullptr;
    for (; it != lines.lines().end() && it->first.crowd() == crowd; ++it) {
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
      Waiter& waiter = first->first();
      precedence_.claim_again(waiter, waiter.place->line.in_order ? waiter.verdict : first->verdict, now);
    }
  }
}

// Whether what was told last is what one who comes now would be told.
bool Starter::is_known(const LineKey& key, const WaitingLine& line, Time now) {
  if (!line.verdict) {
    return false;
  }
  // The first one blocks the others, and not itself.
  return key.in_order ? line.verdict->reason == Reason::kQueueBlocked && line.head == line.waiters.begin()->first &&
                            line.first().verdict.has_value()
                      : now - line.tried_at < kStillTrue;
}

// Those at the front of a line that may start now, in order; or those by whom it shows why nobody does.
std::vector<Waiter*> Starter::front_of(const LineKey& key, Time now, const Rank*& left) {
  const WaitingLine& line = *account_.lines.find(key);
  const bool known = is_known(key, line, now);
  std::vector<Waiter*> front;
  std::vector<Waiter*> aside;
  const bool tried = line.hope != Hope::kTurn && (known || !key.in_order);
  for (auto it = line.waiters.begin(); !tried && it != line.waiters.end() && front.size() < kAtOnce; ++it) {
    Waiter& waiter = *it->second;
    if (waiter.family->put_off(waiter, now)) {
      if (key.in_order) {
        break;  // a gang that cannot be tried still blocks a strict queue
      }
      aside.push_back(&waiter);
      continue;
    }
    const int count = key.in_order ? 1 : static_cast<int>(front.size()) + 1;
    // Whoever comes to be the first was told of the one before it, which says nothing of its own chances.
    const bool told = key.in_order ? line.fresh.empty() && !(&waiter == &line.first() && is_blocked(waiter))
                                   : (line.verdict && waiter.verdict) || !front.empty();
    const bool explained = known || told;
    if (explained && !is_too_large(waiter) && !within_quota(waiter, count)) {
      left = &it->first;
      break;
    }
    front.push_back(&waiter);
  }
  // What is true of one is true of all that ask for the same.
  if (front.empty() && !known && !key.in_order) {
    const auto it = std::find_if(line.fresh.begin(), line.fresh.end(),
                                 [&](const auto& item) { return !item.second->family->put_off(*item.second, now); });
    if (it != line.fresh.end()) {
      front.push_back(it->second);
    }
  }
  for (Waiter* waiter : aside) {
    account_.lines.set_aside(*waiter);
  }
  return front;
}

void Starter::start(Time now, Step& step) {
  precedence_.begin();
  sort_in(now);
  were_held_up_.clear();
  for (const auto& [family, verdict] : std::exchange(held_up_, {})) {
    if (!family->held_up()) {
      were_held_up_.insert(family);
    } else {
      held_up_.emplace(family, verdict);
    }
  }
  note_held_up(now, step);
  precedence_.release_kept();
  reopen(now);
  std::set<LineKey> held_back;
  const int before = step.figures.gangs_tried;
  bool more = true;
  while (more && step.figures.gangs_tried - before < kMostTries) {
    more = try_fronts(held_back, now, step);
    note_held_up(now, step);
  }
  under_way_.clear();
  for (const LineKey& key : more ? account_.lines.open_lines() : std::set<LineKey>()) {
    if (!held_back.contains(key)) {
      under_way_.insert(key.crowd());
    }
  }
  if (!under_way_.empty() || !owed_.empty()) {
    step.wake_by(now);
  }
  precedence_.note_kept();
}

// What changed meanwhile stays to be looked at: their lines stay open.
void Starter::note_held_up(Time now, Step& step) {
  for (const Family* family : account_.families) {
    const std::optional<Verdict> verdict = family->held_up();
    if (!verdict) {
      continue;
    }
    const auto known = held_up_.find(family);
    const bool another = known == held_up_.end() || known->second != *verdict;
    held_up_.insert_or_assign(family, *verdict);
    for (const LineKey& key : std::set(account_.lines.open_lines())) {
      const WaitingLine& line = *account_.lines.find(key);
      if (line.first().family != family) {
        continue;
      }
      for (const auto& [rank, waiter] : std::map(another ? line.waiters : line.fresh)) {
        tell(*waiter, *verdict, now, step);
      }
    }
  }
}

// The first ones of each crowd, in order; without those behind one that comes first.
Starter::Batch Starter::fronts(std::set<LineKey>& held_back, Time now, Step& step) {
  WaitingLines& lines = account_.lines;
  std::map<Crowd, std::vector<Waiter*>> fronts;
  std::map<Crowd, const Rank*> bounds;
  const auto bound = [&](const Crowd& crowd, const Rank& rank) {
    const Rank*& known = bounds[crowd];
    known = known == nullptr || rank < *known ? &rank : known;
  };
  for (const LineKey& key : std::set(lines.open_lines())) {
    if (held_back.contains(key) || held_up_.contains(lines.find(key)->first().family)) {
      continue;
    }
    const Rank* left = nullptr;
    const std::vector<Waiter*> front = front_of(key, now, left);
    std::vector<Waiter*>& merged = fronts[key.crowd()];
    merged.insert(merged.end(), front.begin(), front.end());
    // It is the first of its line in the next round: then it shows whether others may be evicted for it.
    if (!front.empty() && left != nullptr && key.queue && account_.quota.rules(*key.queue).evicts()) {
      bound(key.crowd(), *left);
    }
    if (front.empty() && lines.find(key) != nullptr) {
      Waiter& first = lines.find(key)->first();
      precedence_.claim(first, first.verdict);
      close(key, nullptr, now, step);
      held_back.insert(key);
    }
  }
  Batch batch;
  for (auto& [crowd, front] : fronts) {
    // There may be a line for every gang that waits.
    const auto last_one = front.begin() + static_cast<std::ptrdiff_t>(std::min(kAtOnce, front.size()));
    std::partial_sort(front.begin(), last_one, front.end(), is_before);
    front.erase(last_one, front.end());
    if (const Waiter* first = precedence_.first_of(crowd)) {
      bound(crowd, first->place->rank);
    }
    if (const auto last = bounds.find(crowd); last != bounds.end()) {
      front.erase(std::upper_bound(front.begin(), front.end(), *last->second,
                                   [](const Rank& rank, const Waiter* waiter) { return rank < waiter->place->rank; }),
                  front.end());
    }
    for (Waiter* waiter : front) {
      batch.submissions.push_back(without_evictions(*waiter));
      batch.waiters.emplace(std::pair(waiter->submission->dialect, waiter->submission->key), waiter);
    }
  }
  return batch;
}

// One round: where somebody is turned down, so are all that stand behind in the same line.
bool Starter::try_fronts(std::set<LineKey>& held_back, Time now, Step& step) {
  Batch batch = fronts(held_back, now, step);
  if (batch.submissions.empty()) {
    return false;
  }
  step.figures.decided = true;
  precedence_.let_stand_by(batch.submissions);
  InTurn in_turn(batch, precedence_);
  const Plan plan = run_cycle(account_.cluster, account_.quota, std::move(batch.submissions), &in_turn);
  std::map<LineKey, const Waiter*> refused;
  for (const Decision& decision : plan.decisions) {
    Waiter& waiter = *batch.waiters.at({decision.dialect, decision.key});
    if (const auto line = settle(waiter, decision, now, step)) {
      refused[*line] = &waiter;
    }
  }
  for (const auto& [key, waiter] : refused) {
    close(key, waiter, now, step);
    held_back.insert(key);
  }
  return true;
}

// Those that are left of a line wait, and are told what the last one of it was told. `refused`: that one; nullptr where
// nobody was tried.
void Starter::close(const LineKey& key, const Waiter* refused, Time now, Step& step) {
  WaitingLines& lines = account_.lines;
  WaitingLine& line = *lines.find(key);
  if (refused != nullptr) {
    line.verdict = refused->verdict;
    line.head = line.waiters.begin()->first;
    line.tried_at = now;
  }
  if (refused != nullptr || is_known(key, line, now)) {
    // What was told of one whose pods had to be ready first is no longer so.
    const bool all = were_held_up_.contains(line.first().family);
    for (const auto& [rank, waiter] : std::map(all ? line.waiters : line.fresh)) {
      tell(*waiter, *line.verdict, now, step);
    }
  }
  const Waiter& first = line.first();
  const bool rejected = first.submission->rejection.has_value();
  const bool room = is_too_large(first) || within_quota(first, 1);
  lines.close(key, rejected ? Hope::kSetup : room ? Hope::kRoom : Hope::kQuota);
  if (key.in_order && first.family->is_busy(first, now)) {
    lines.open(key);  // those behind it are looked at again, whatever becomes of it
  }
  if (refused != nullptr && refused->verdict->state != GangState::kWaiting) {
    for (const auto& [rank, waiter] : std::map(line.waiters)) {
      lines.take_out(*waiter);  // they do not wait for anything
    }
  }
}

void Starter::tell(Waiter& waiter, const Verdict& verdict, Time now, Step& step) {
  account_.refused = true;
  waiter.waits_since = now;
  waiter.verdict = verdict;
  account_.lines.told(waiter);
  waiter.family->told(waiter, now, step);
}

std::optional<LineKey> Starter::settle(Waiter& waiter, const Decision& decision, Time now, Step& step) {
  ++step.figures.gangs_tried;
  if (decision.state != GangState::kPlaced) {
    const Time since = waiter.verdict ? waiter.waits_since : now;
    tell(waiter, {.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)}, now,
         step);
    waiter.waits_since = since;
    return waiter.place->line;
  }
  const LineKey line = waiter.place->line;
  waiter.family->grant(waiter, decision, now, step);
  account_.lines.take_out(waiter);
  if (account_.lines.find(line) != nullptr) {
    account_.lines.open(line);  // where one starts, so may the next
  }
  ++step.figures.gangs_placed;
  for (const PodSetDecision& set : decision.pod_sets) {
    step.figures.pods_placed += set.count;
  }
  return std::nullopt;
}

}  // namespace gantree
