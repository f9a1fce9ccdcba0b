#include "engine/victim_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace gantree {

namespace {

constexpr std::size_t kScattered = 4;      // times as many as each part by itself needs: then domains are cleared
constexpr std::size_t kFirstCleared = 64;  // members of the first domains that are cleared
constexpr std::size_t kFewMembers = 1024;  // of a pool, to look for victims in more than one way

}  // namespace

VictimSearch::VictimSearch(Victims& victims, FreedParts& parts, VictimChecks checks, Budget& steps, Budget& work)
    : victims_(victims), parts_(parts), checks_(std::move(checks)), steps_(steps), work_(work) {}

void VictimSearch::enter(Domain domain) {
  domain_ = domain;
  parts_.enter(domain);
}

void VictimSearch::choose(std::size_t member) {
  victims_.add(member);
  if (!additive_) {
    const std::int64_t changed = parts_.evict(member);
    steps_.spend(changed);
    work_.spend(changed + 1);
  }
}

void VictimSearch::spare(std::size_t member) {
  victims_.remove(member);
  if (!additive_) {
    work_.spend(parts_.restore(member) + 1);
  }
}

bool VictimSearch::suits(bool really) const {
  work_.spend(1);
  const bool room = additive_ ? gained_ >= missing_ : parts_.fit();
  return room && (!checks_.admits || checks_.admits()) && (!really || !checks_.places || checks_.places());
}

void VictimSearch::record() {
  const EvictionCost cost = victims_.cost();
  if (best_ && best_->cost <= cost) {
    return;
  }
  best_ = {cost, victims_.all_chosen(), domain_};
  std::sort(best_->members.begin(), best_->members.end());
}

// The members with what they can add to the part that lacks most.
std::vector<VictimSearch::Member> VictimSearch::weigh(const VictimPool& pool) {
  std::vector<Member> members;
  for (const std::size_t i : pool.members) {
    members.push_back({.index = i});
  }
  missing_ = 0;
  additive_ = false;
  bool first = true;
  std::vector<char> helps(members.size(), parts_.single() && !checks_.admits && !checks_.places ? 0 : 1);
  for (FreedSlots& part : parts_.each()) {
    Gains gains = part.gains(pool.members);
    work_.spend(2 * gains.looks);
    for (std::size_t m = 0; m < members.size(); ++m) {
      helps[m] = static_cast<char>(helps[m] | gains.helps[m]);
      members[m].keeps_out = members[m].keeps_out || part.keeps_out(members[m].index);
    }
    if (first || gains.missing > missing_) {
      for (std::size_t m = 0; m < members.size(); ++m) {
        members[m].most = gains.most[m];
      }
      missing_ = gains.missing;
      additive_ = parts_.single() && gains.additive;
    }
    first = false;
  }
  std::vector<Member> useful;
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (helps[m] != 0) {
      useful.push_back(members[m]);
    }
  }
  return useful;
}

// Tries to do without the members, one after the other, and as many at a time as has worked lately.
// For budgets: only those that overrun one, as long as one is overrun.
void VictimSearch::spare_dearest(const std::vector<std::size_t>& dearest_first, bool for_budgets, bool really) {
  std::size_t stride = 1;
  std::vector<std::size_t> spared;
  for (std::size_t at = 0; at < dearest_first.size();) {
    if (work_.exhausted() || (really && checks_.patient && !checks_.patient())) {
      break;
    }
    spared.clear();
    std::size_t next = at;
    for (; next < dearest_first.size() && spared.size() < stride; ++next) {
      const std::size_t member = dearest_first[next];
      if (victims_.chosen(member) && (!for_budgets || victims_.relief(member) > 0)) {
        spare(member);
        spared.push_back(member);
      }
    }
    if (spared.empty() || suits(really)) {
      at = next;
      stride *= 2;
      continue;
    }
    for (const std::size_t member : spared) {
      choose(member);
    }
    at = spared.size() == 1 ? next : at;
    stride = std::max<std::size_t>(1, spared.size() / 2);
  }
}

// More victims never hurt: how many of the first can all be spared, a bisection finds with few trials.
void VictimSearch::spare_first(const std::vector<std::size_t>& dearest_first) {
  std::size_t spared = 0;
  for (std::size_t most = dearest_first.size() + 1; most - spared > 1 && !work_.exhausted();) {
    const std::size_t middle = spared + (most - spared) / 2;
    for (std::size_t i = spared; i < middle; ++i) {
      spare(dearest_first[i]);
    }
    if (suits(true)) {
      spared = middle;
      continue;
    }
    for (std::size_t i = spared; i < middle; ++i) {
      choose(dearest_first[i]);
    }
    most = middle;
  }
}

const std::vector<std::size_t>& VictimSearch::dearest_first(const VictimPool& pool) {
  if (pool.domain == dearest_of_.domain && pool.members == dearest_of_.members && !dearest_.empty()) {
    return dearest_;  // the same domain is looked at several times in a row
  }
  dearest_of_ = pool;
  std::vector<Member> members = weigh(pool);
  std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
    const auto key = [&](const Member& m) {
      // For quota alone the largest gangs are the likeliest to be few.
      const std::int64_t pods = parts_.empty() ? -victims_.pods(m.index) : victims_.pods(m.index);
      return std::tuple(victims_.excess_alone(m.index), victims_.priority(m.index), -m.most, pods,
                        victims_.age(m.index), m.index);
    };
    return key(a) > key(b);
  });
  dearest_.clear();
  dearest_.reserve(members.size());
  for (const Member& member : members) {
    dearest_.push_back(member.index);
  }
  return dearest_;
}

// Chooses the cheapest that suit, first so many and then twice as many each time: nobody looks at all that runs in a
// large cluster who needs a few. Leaves in the list those that are chosen. False where even all of them are not enough.
bool VictimSearch::choose_cheapest(std::vector<std::size_t>& dearest_first, bool really, Amount amount) {
  std::size_t left = dearest_first.size();
  bool enough = false;
  const auto go_on = [&] {
    return !enough && left > 0 && dearest_first.size() - left < amount.most && !work_.exhausted();
  };
  for (std::size_t more = std::max<std::size_t>(1, amount.first); go_on(); more *= 2) {
    for (std::size_t i = std::min(more, left); i > 0; --i) {
      choose(dearest_first[--left]);
    }
    enough = suits(really);
  }
  if (dearest_first.empty()) {
    enough = suits(really);
  }
  // Budgets come before priorities: where the cheapest overrun one, dearer ones may not.
  while (enough && !really && victims_.over_budget() > 0 && left > 0 && !work_.exhausted()) {
    choose(dearest_first[--left]);
  }
  dearest_first.erase(dearest_first.begin(), dearest_first.begin() + static_cast<std::ptrdiff_t>(left));
  return enough;
}

// Chooses members that suffice, then spares what can be spared. False where even the whole pool is not enough, or the
// work is exhausted before that is known; the caller releases what is chosen.
bool VictimSearch::reduce(const VictimPool& pool, bool really, const std::vector<std::size_t>& needed,
                          std::size_t most) {
  enter(pool.domain);
  std::vector<std::size_t> order = dearest_first(pool);
  additive_ = false;
  const bool place = really && checks_.places;
  if (place) {
    std::vector<bool> last(victims_.size());
    for (const std::size_t member : needed) {
      last[member] = true;
    }
    std::stable_partition(order.begin(), order.end(), [&](std::size_t member) { return !last[member]; });
  }
  return reduce_order(std::move(order), really, {.first = place ? 2 * needed.size() : 1, .most = most});
}

bool VictimSearch::reduce_order(std::vector<std::size_t> dearest_first, bool really, Amount amount) {
  if (!choose_cheapest(dearest_first, really, amount)) {
    return false;
  }
  if (really && checks_.places) {
    spare_first(dearest_first);
  }
  if (victims_.over_budget() > 0) {
    spare_dearest(dearest_first, true, really);
  }
  spare_dearest(dearest_first, false, really);
  return true;
}

// Domain after domain: where several groups want one each, the cheapest candidates are scattered and leave none with
// much room. Those domains come first in which candidates hold most, of these the cheapest.
bool VictimSearch::clear_domains(const VictimPool& pool) {
  enter(pool.domain);
  struct Place {
    std::int64_t pods = 0;
    std::int64_t excess = 0;
    std::int64_t priority = kNoVictim;
  };
  std::vector<std::size_t> order = dearest_first(pool);
  std::vector<Place> places(parts_.tree().size(checks_.each_in));
  std::int64_t most = 0;
  for (const std::size_t member : order) {
    Place& place = places[parts_.home(member, checks_.each_in)];
    place.pods += parts_.held(member);
    place.excess += victims_.excess_alone(member);
    place.priority = std::max(place.priority, victims_.priority(member));
    most = std::max(most, place.pods);
  }
  additive_ = false;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t member) {
      const std::uint32_t at = parts_.home(member, checks_.each_in);
      const Place& place = places[at];
      return std::tuple(2 * place.pods < most, place.excess, place.priority, -place.pods, at);
    };
    return key(a) > key(b);
  });
  return reduce_order(std::move(order), true, {.first = kFirstCleared});
}

void VictimSearch::release(const VictimPool& pool) {
  for (const std::size_t i : pool.members) {
    if (victims_.chosen(i)) {
      spare(i);
    }
  }
}

std::optional<EvictionCost> VictimSearch::estimate(const VictimPool& pool) {
  std::optional<EvictionCost> cost;
  if (reduce(pool, false)) {
    cost = victims_.cost();
    if (!checks_.places) {
      record();
    }
  }
  release(pool);
  return cost;
}

void VictimSearch::sketch(const VictimPool& pool) {
  if (reduce(pool, false)) {
    if (suits(true)) {
      record();
    } else {
      const std::vector<std::size_t> needed = victims_.all_chosen();
      release(pool);
      const bool apart = checks_.each_in > pool.domain.level;
      const bool few = !apart || pool.members.size() <= kFewMembers;
      bool found = reduce(pool, true, needed, few ? pool.members.size() : kScattered * needed.size());
      if (found) {
        record();
      }
      if (apart && (few || !found)) {
        release(pool);
        found = clear_domains(pool);
        if (found) {
          record();
        }
      }
    }
  }
  release(pool);
}

void VictimSearch::tidy() {
  GANTREE_CHECK(best_.has_value());
  const Best best = *best_;
  sketch({best.domain, best.members});
}

}  // namespace gantree
