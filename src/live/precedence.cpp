#include "live/precedence.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "queue/own_quota.h"
#include "queue/victims.h"

namespace gantree {

namespace {

// So long after victims were looked for in vain nobody waits for another look: looking is dear.
constexpr std::chrono::seconds kLooksAgainAfter{1};

bool waits_for_room(const std::optional<Verdict>& verdict) {
  return verdict && (verdict->reason == Reason::kTopologyBusy || verdict->reason == Reason::kQuotaExceeded ||
                     verdict->reason == Reason::kSearchLimit);
}

}  // namespace

bool may_evict(const Account& account, const Waiter& waiter) {
  const std::optional<Submission>& submission = waiter.submission;
  return submission && submission->may_evict && waiter.family->waits(waiter) &&
         (!submission->queue || account.quota.rules(*submission->queue).evicts());
}

bool asks_for_room(const Account& account, const Waiter& waiter, const std::optional<Verdict>& verdict) {
  return waits_for_room(verdict) && may_evict(account, waiter);
}

// Those behind the first of a line have no better right than that.
bool Precedence::is_first_of_line(const Waiter& waiter, const std::set<const Waiter*>& started) const {
  const auto& waiters = account_.lines.lines().find(waiter.place->line)->second.waiters;
  const auto first =
      std::find_if(waiters.begin(), waiters.end(), [&](const auto& item) { return !started.contains(item.second); });
  return first != waiters.end() && first->second == &waiter;
}

bool Precedence::still_comes_first(const Waiter& waiter, const Rank& rank) const {
  return waiter.place && waiter.place->rank == rank && !waiter.place->line.in_order && waiter.fruitless == 0 &&
         is_first_of_line(waiter, {}) && may_evict(account_, waiter);
}

bool Precedence::claim(Waiter& waiter, const std::optional<Verdict>& verdict, const std::set<const Waiter*>& started) {
  if (!waiter.place || !is_first_of_line(waiter, started) || !has_hope(waiter, verdict)) {
    return false;
  }
  if (waiter.place->line.in_order) {
    account_.refused = true;  // nobody behind it is tried in any case: it is looked at with all the others
    hopes_[waiter.id] = true;
    return true;
  }
  first_[waiter.place->line.crowd()].insert_or_assign(waiter.place->rank, waiter.place->line);
  return true;
}

bool Precedence::claim_again(Waiter& waiter, const std::optional<Verdict>& verdict, Time now) {
  if (waiter.fruitless > 0 && now < waiter.looked_at + kLooksAgainAfter) {
    return false;
  }
  const int fruitless = std::exchange(waiter.fruitless, 0);
  const bool first = claim(waiter, verdict);
  waiter.fruitless = first ? 0 : fruitless;
  waiter.preempts_at = first ? Time() : waiter.preempts_at;
  return first;
}

Waiter* Precedence::first_of(const Crowd& crowd) {
  const auto found = first_.find(crowd);
  if (found == first_.end()) {
    return nullptr;
  }
  auto& waiting = found->second;
  while (!waiting.empty()) {
    const auto& [rank, key] = *waiting.begin();
    if (const WaitingLine* line = account_.lines.find(key)) {
      const auto it = line->waiters.find(rank);
      if (it != line->waiters.end() && still_comes_first(*it->second, rank)) {
        return it->second;
      }
    }
    waiting.erase(waiting.begin());
  }
  first_.erase(found);
  return nullptr;
}

std::vector<Waiter*> Precedence::all() {
  std::vector<Crowd> crowds;
  for (const auto& [crowd, waiting] : first_) {
    crowds.push_back(crowd);
  }
  std::vector<Waiter*> waiters;
  for (const Crowd& crowd : crowds) {
    if (Waiter* waiter = first_of(crowd)) {
      waiters.push_back(waiter);
    }
  }
  return waiters;
}

bool Precedence::has_hope(const Waiter& waiter, const std::optional<Verdict>& verdict) {
  return waiter.fruitless == 0 && asks_for_room(account_, waiter, verdict) && evictions_could_help(waiter);
}

std::vector<Waiter*> Precedence::keepers() {
  std::vector<Waiter*> keepers = all();
  std::erase_if(keepers, [](const Waiter* waiter) { return !waiter->submission->queue; });
  for (const LineKey& key : account_.lines.in_order()) {
    Waiter& first = account_.lines.lines().at(key).first();
    if (!waits_for_room(first.verdict)) {
      continue;
    }
    bool keeps = keeps_quota(account_.quota.rules(*key.queue));
    if (!keeps && first.fruitless == 0) {
      const auto [known, is_new] = hopes_.try_emplace(first.id, false);
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
  for (const Waiter* keeper : keepers()) {
    if (keeper->submission && keeper->submission->queue) {
      kept.emplace(*keeper->submission->queue, kept_quota(account_.quota, *keeper->submission));
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
      if (cell.index() < account_.quota.size()) {
        account_.freed_quota.insert(account_.root_of(cell));
      }
    }
  }
}

void Precedence::let_stand_by(std::vector<Submission>& submissions) {
  std::set<std::string_view> trees;
  std::set<std::pair<std::string_view, GangKey>> known;
  for (const Submission& submission : submissions) {
    if (submission.queue) {
      trees.insert(account_.quota.rules(*submission.queue).tree);
    }
    known.emplace(submission.dialect, submission.key);
  }
  std::vector<Submission> stand_by;
  for (const Waiter* keeper : keepers()) {
    const std::optional<Submission>& submission = keeper->submission;
    if (submission && submission->queue && !known.contains({submission->dialect, submission->key}) &&
        trees.contains(account_.quota.rules(*submission->queue).tree)) {
      stand_by.push_back(*submission);
      stand_by.back().stands_by = true;
    }
  }
  std::move(stand_by.begin(), stand_by.end(), std::back_inserter(submissions));
}

void Precedence::count_running() {
  running_.emplace();
  leaving_.clear();
  for (const Family* family : account_.families) {
    family->add_usage(*running_, leaving_);
  }
}

std::optional<std::int64_t> Precedence::lowest_elsewhere() {
  if (!elsewhere_) {
    elsewhere_.emplace();
    for (const Family* family : account_.families) {
      if (const auto lowest = family->lowest_running()) {
        *elsewhere_ = std::min(elsewhere_->value_or(*lowest), *lowest);
      }
    }
  }
  return *elsewhere_;
}

bool Precedence::evictions_could_help(const Waiter& waiter) {
  if (!running_) {
    count_running();
  }
  const Submission& submission = *waiter.submission;
  const auto outranked = [&](const RunningGang& gang) { return gang.priority < submission.priority; };
  const auto elsewhere = lowest_elsewhere();
  const bool others = elsewhere && *elsewhere < submission.priority;
  if (!submission.queue) {
    return others || std::any_of(running_->begin(), running_->end(), outranked);
  }
  if (waiter.least.size() != 1) {
    return waiter.least.empty() || some_are_allowed(waiter.least, [&](const QuotaDemand& least) {
             return account_.quota.could_fit(least, submission.borrowing);
           });
  }
  Quota& quota = account_.quota;
  const bool by_priority = others && quota.rules(*submission.queue).within != WithinRule::kNever;
  return std::any_of(waiter.least.front().begin(), waiter.least.front().end(), [&](const QuotaDemand& least) {
    const std::vector<VictimCandidate> candidates = victim_candidates(quota, submission, least, *running_, Offer::kAll);
    if (candidates.empty() && leaving_.empty() && !by_priority) {
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
    const bool fits = quota.fits(least, submission.borrowing);
    std::for_each(gone.begin(), gone.end(), [&](const QuotaDemand* used) { quota.take(*used); });
    return fits;
  });
}

}  // namespace gantree
