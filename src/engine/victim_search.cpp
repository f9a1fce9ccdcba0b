#include "engine/victim_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace gantree {

VictimSearch::VictimSearch(Victims& victims, FreedParts& parts, VictimChecks checks, Budget& steps)
    : victims_(victims), parts_(parts), checks_(std::move(checks)), steps_(steps) {}

void VictimSearch::enter(Domain domain) {
  domain_ = domain;
  parts_.enter(domain);
}

void VictimSearch::choose(std::size_t member) {
  victims_.add(member);
  if (!additive_) {
    steps_.spend(parts_.evict(member));
  }
}

void VictimSearch::spare(std::size_t member) {
  victims_.remove(member);
  if (!additive_) {
    parts_.restore(member);
  }
}

bool VictimSearch::suits(bool really) const {
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
    if (really && checks_.patient && !checks_.patient()) {
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
  for (std::size_t most = dearest_first.size() + 1; most - spared > 1;) {
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

// Chooses the whole pool, then spares what can be spared. False where even the pool is not enough;
// the caller releases what is chosen.
bool VictimSearch::reduce(const VictimPool& pool, bool really, const std::vector<std::size_t>& needed) {
  enter(pool.domain);
  std::vector<Member> members = weigh(pool);
  additive_ = false;
  std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
    const auto key = [&](const Member& m) {
      // For quota alone the largest gangs are the likeliest to be few.
      const std::int64_t pods = parts_.empty() ? -victims_.pods(m.index) : victims_.pods(m.index);
      return std::tuple(victims_.excess_alone(m.index), victims_.priority(m.index), -m.most, pods,
                        victims_.age(m.index), m.index);
    };
    return key(a) > key(b);
  });
  std::vector<std::size_t> dearest_first;
  for (const Member& member : members) {
    choose(member.index);
    dearest_first.push_back(member.index);
  }
  if (!suits(really)) {
    return false;
  }
  if (really && checks_.places) {
    std::stable_partition(dearest_first.begin(), dearest_first.end(), [&](std::size_t member) {
      return std::find(needed.begin(), needed.end(), member) == needed.end();
    });
    spare_first(dearest_first);
  }
  if (victims_.over_budget() > 0) {
    spare_dearest(dearest_first, true, really);
  }
  spare_dearest(dearest_first, false, really);
  return true;
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
      if (reduce(pool, true, needed)) {
        record();
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
