#include "live/preemption.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "cycle/cycle.h"
#include "live/notices.h"
#include "queue/victims.h"

namespace gantree {

namespace {

// So many are tried, so often: the search for victims is dear.
constexpr std::size_t kMostTried = 16;
constexpr std::chrono::milliseconds kEvery{250};

// The usual grace of pods, twice.
constexpr std::chrono::seconds kPatience{60};

std::int64_t seconds_of(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

// The parts above its minimum that go; none: the whole gang.
std::vector<std::size_t> parts_named(const RunningGang& gang, const Eviction& eviction) {
  const std::set<std::string> gone(eviction.spare.begin(), eviction.spare.end());
  std::vector<std::size_t> parts;
  for (std::size_t i = 0; i < gang.spare.size(); ++i) {
    if (!gang.spare[i].pods.empty() && gone.contains(gang.spare[i].pods.front())) {
      parts.push_back(i);
    }
  }
  return parts;
}

RunningGang what_goes(const RunningGang& gang, const Eviction& eviction) {
  return eviction.spare.empty() ? gang : only_spare(gang, parts_named(gang, eviction));
}

}  // namespace

// Whether it takes nothing by share now, though others like it may: it gave way itself, and nothing has ended since.
bool Preemption::is_modest(const Waiter& waiter) const {
  const std::optional<QueueId> queue = waiter.submission->queue;
  return queue && waiter.gave_way == account_.ended && !account_.quota.share_strategies(*queue).empty();
}

// The one of a line that others may be evicted for: those behind it have no better right.
Waiter* Preemption::first_of(const LineKey& key, Time now) {
  const WaitingLine* line = account_.lines.find(key);
  if (line == nullptr ||
      !asks_for_room(account_, line->first(), key.in_order ? line->first().verdict : line->verdict)) {
    return nullptr;
  }
  for (const auto& [rank, waiter] : line->waiters) {
    if (waiter->preempts_at > now) {
      look_at(waiter->preempts_at);
      if (!is_modest(*waiter) || key.in_order) {
        return nullptr;
      }
      continue;
    }
    if (!waiter->family->is_busy(*waiter, now)) {
      return waiter;
    }
    look_at(now + kEvery);
    if (key.in_order) {
      return nullptr;
    }
  }
  return nullptr;
}

Preemption::Asking Preemption::crowded_out(Time now) {
  // Where very many ask, no queue or namespace keeps the others from being looked at.
  std::map<Crowd, Asking> crowds;
  for (const auto& [key, line] : account_.lines.lines()) {
    if (Waiter* waiter = line.first().family->held_up() ? nullptr : first_of(key, now)) {
      crowds[key.crowd()].emplace(waiter->place->rank, waiter);
    }
  }
  for (const auto& [id, waiter] : account_.lines.aside()) {
    if (!waiter->family->stays_out(*waiter, now) && asks_for_room(account_, *waiter, waiter->verdict)) {
      look_at(now + kEvery);
    }
  }
  Asking asking;
  const std::size_t share = std::max<std::size_t>(1, kMostTried / std::max<std::size_t>(1, crowds.size()));
  for (const auto& [crowd, waiters] : crowds) {
    std::size_t taken = 0;
    for (auto it = waiters.begin(); it != waiters.end() && taken < share; ++it, ++taken) {
      asking.insert(*it);
    }
    if (taken < waiters.size()) {
      look_at(now + kEvery);
    }
  }
  return asking;
}

// They are where it was given a place; or there is not enough quota without theirs, which is of the same tree.
void Preemption::wait_for(Waiter& waiter, const std::vector<Leaver>& leaving) {
  Quota& quota = account_.quota;
  quota.give(waiter.used);
  const bool short_of_quota = !quota.fits(waiter.used, waiter.submission->borrowing);
  quota.take(waiter.used);
  std::set<QuotaId> roots;
  for (const auto& [cell, amount] : short_of_quota ? waiter.used : QuotaDemand()) {
    roots.insert(account_.root_of(cell));
  }
  const std::set<std::string> hosts = waiter.family->held_hosts(waiter);
  for (const Leaver& leaver : leaving) {
    const bool counts = std::any_of(leaver.used.begin(), leaver.used.end(),
                                    [&](const auto& one) { return roots.contains(account_.root_of(one.first)); }) ||
                        std::any_of(leaver.pods.begin(), leaver.pods.end(), [&](const std::string& pod) {
                          return hosts.contains(std::string(account_.cluster.node_of(pod)));
                        });
    if (counts) {
      waiter.blockers.insert(leaver.id);
    }
  }
}

// What others of its queue need that wait and could evict it; of importance where shares count.
std::vector<WayDemands> Preemption::outranked_by(const Waiter& waiter, Time now) const {
  const Submission& own = *waiter.submission;
  std::vector<WayDemands> found;
  if (!own.queue || account_.quota.share_strategies(*own.queue).empty()) {
    return found;
  }
  const auto add = [&](const Waiter& other) {
    if (other.family->waits(other) && !other.family->stays_out(other, now) && other.submission &&
        !other.submission->rejection && !other.least.empty() && other.submission->queue == own.queue &&
        outranks(account_.quota.rules(*own.queue), *other.submission, own)) {
      found.push_back(other.least);
    }
  };
  // Nobody in a line outranks whom its first one does not, and all of it ask for the same.
  const auto& lines = account_.lines.lines();
  for (auto it = account_.lines.begin_of(*own.queue); it != lines.end() && it->first.queue == own.queue; ++it) {
    add(it->second.first());
  }
  for (const auto& [id, other] : account_.lines.aside()) {
    add(*other);
  }
  return found;
}

void Preemption::preempt(Time now, Step& step) {
  if (std::exchange(account_.refused, false)) {
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
  for (Waiter* waiter : precedence_.all()) {
    if (waiter->family->is_busy(*waiter, now) || waiter->family->held_up()) {
      look_at(now + kEvery);
    } else {
      asking.emplace(waiter->place->rank, waiter);
    }
  }
  return asking;
}

void Preemption::look(Asking asking, Time now, Step& step) {
  std::vector<Leaver> leaving = account_.leavers(now);
  std::vector<Victim> running;
  const auto highest = std::max_element(
      asking.begin(), asking.end(), [](const auto& a, const auto& b) { return a.first.priority < b.first.priority; });
  for (Family* family : account_.families) {
    family->add_victims(highest->first.priority, running);
  }
  account_.budgets.shield(running);
  std::map<Key, Victim> victims;
  for (Victim& victim : running) {
    account_.cluster.add_running(victim.gang);
    victims.emplace(Key(victim.gang.dialect, victim.gang.key), std::move(victim));
  }
  for (std::size_t tried = 0; tried < kMostTried && !asking.empty(); ++tried) {
    Waiter& waiter = *asking.begin()->second;
    asking.erase(asking.begin());
    const LineKey line = waiter.place->line;
    const bool modest = is_modest(waiter);
    waiter.submission->may_evict_by_share = !modest;
    waiter.submission->outranked_by = outranked_by(waiter, now);
    preempt_for(waiter, victims, leaving, now, step);
    Waiter* next = waiter.place && !modest ? nullptr : first_of(line, now);
    if (next != nullptr) {
      asking.emplace(next->place->rank, next);
    }
  }
  if (!asking.empty()) {
    look_at(now + kEvery);
  }
  account_.cluster.forget_running();
}

// When the first of those may be evicted for it that have not run for long enough.
std::optional<Time> Preemption::first_free(const Waiter& waiter, const std::map<Key, Victim>& victims, Time now) const {
  std::optional<Time> first;
  for (const auto& [key, victim] : victims) {
    const Time until{std::chrono::seconds(kept_until(account_.quota, *waiter.submission, victim.gang))};
    if (victim.gang.evictable && until > now) {
      first = std::min(first.value_or(until), until);
    }
  }
  return first;
}

// Little changes for it from one moment to the next, and looking is dear.
void Preemption::refuse(Waiter& waiter, const Decision& decision, Time now, Step& step) {
  waiter.verdict =
      Verdict{.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)};
  if (waiter.fruitless == 0) {
    step.wake_by(now);  // what was kept for it until then others may have
  }
  waiter.fruitless = std::min(waiter.fruitless + 1, 5);
  waiter.preempts_at = now + kEvery * (1 << waiter.fruitless);
  look_at(waiter.preempts_at);
}

void Preemption::preempt_for(Waiter& waiter, std::map<Key, Victim>& victims, std::vector<Leaver>& leaving, Time now,
                             Step& step) {
  Cluster& cluster = account_.cluster;
  std::vector<Submission> asks{*waiter.submission};
  asks.front().may_evict = asks.front().may_evict && !account_.is_restless(waiter.id);
  asks.front().now_seconds = seconds_of(now);
  precedence_.let_stand_by(asks);
  const std::int64_t priority = waiter.submission->priority;
  const auto goes = [&](const Leaver& leaver) { return !leaver.priority || *leaver.priority < priority; };
  for (const Leaver& leaver : leaving) {
    if (goes(leaver)) {
      account_.quota.give(leaver.used);
      std::for_each(leaver.pods.begin(), leaver.pods.end(), [&](const auto& pod) { cluster.lend(pod); });
    }
  }
  waiter.looked_at = now;
  const Plan plan = run_cycle(cluster, account_.quota, std::move(asks));
  const Decision& decision = plan.decisions.front();
  // Victims, and what leaves, hold what they have until they are gone.
  for (const Eviction& eviction : plan.evictions) {
    const RunningGang gone = what_goes(victims.at({eviction.dialect, eviction.key}).gang, eviction);
    cluster.engine().restore(gone);
    account_.quota.take(gone.used);
  }
  for (const Leaver& leaver : leaving) {
    if (goes(leaver)) {
      account_.quota.take(leaver.used);
      std::for_each(leaver.pods.begin(), leaver.pods.end(), [&](const auto& pod) { cluster.take_back(pod); });
    }
  }
  if (decision.state != GangState::kPlaced) {
    refuse(waiter, decision, now, step);
    if (const auto free = first_free(waiter, victims, now)) {
      waiter.preempts_at = std::min(waiter.preempts_at, *free);
      look_at(waiter.preempts_at);
    }
    return;
  }
  waiter.fruitless = 0;
  waiter.family->hold(waiter, decision, now);
  step.wake_by(now);  // those that it held up may be tried
  const std::set<std::string> hosts = waiter.family->held_hosts(waiter);
  for (Family* family : account_.families) {
    family->make_way(hosts, priority, step);
  }
  for (Leaver& leaver : leaving) {
    std::erase_if(leaver.pods, [&](const std::string& pod) { return cluster.node_of(pod).empty(); });
  }
  std::vector<Leaver> evicted;
  for (const Eviction& eviction : plan.evictions) {
    Victim& victim = victims.at({eviction.dialect, eviction.key});
    evicted.push_back(victim.family->evict(victim.gang, waiter, eviction, now, step));
    waiter.family->told_of_victim(waiter, evicted.back().id, eviction, now, step);
    waiter.blockers.insert(evicted.back().id);
    account_.displace(evicted.back().id);
    take_spare_off(victim.gang, parts_named(victim.gang, eviction));
  }
  wait_for(waiter, leaving);
  // What they leave over counts for the next one that asks.
  std::move(evicted.begin(), evicted.end(), std::back_inserter(leaving));
  if (plan.evictions.empty()) {
    waiter.held_until = now + kPatience;
  }
  waiter.verdict = Verdict{.state = GangState::kWaiting,
                           .reason = Reason::kPreempting,
                           .message = fmt::format("{} {} to make room", fmt::join(waiter.blockers, ", "),
                                                  waiter.blockers.size() == 1 ? "has" : "have")};
  waiter.family->told(waiter, now, step);
}

}  // namespace gantree
