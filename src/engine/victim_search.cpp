#include "engine/victim_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace gantree {

VictimSearch::VictimSearch(Victims& victims, std::vector<FreedSlots>& parts, VictimChecks checks, Budget& steps)
    : victims_(victims), parts_(parts), checks_(std::move(checks)), steps_(steps) {}

void VictimSearch::enter(Domain domain) {
  domain_ = domain;
  for (FreedSlots& part : parts_) {
    part.enter(domain);
  }
}

void VictimSearch::choose(std::size_t member) {
  victims_.add(member);
  if (!additive_) {
    for (FreedSlots& part : parts_) {
      part.evict(member);
      steps_.spend(static_cast<std::int64_t>(part.size(member)));
    }
  }
}

void VictimSearch::spare(std::size_t member) {
  victims_.remove(member);
  if (!additive_) {
    for (FreedSlots& part : parts_) {
      part.restore(member);
    }
  }
}

bool VictimSearch::suits(bool really) const {
  const bool room = additive_
                        ? gained_ >= missing_
                        : std::all_of(parts_.begin(), parts_.end(), [](const FreedSlots& p) { return p.holds(); });
  return room && (!checks_.admits || checks_.admits()) && (!really || !checks_.places || checks_.places());
}

void VictimSearch::record() {
  const EvictionCost cost = victims_.cost();
  if (best_ && best_->cost <= cost) {
    return;
  }
  best_ = {cost, {}, domain_};
  for (std::size_t i = 0; i < victims_.size(); ++i) {
    if (victims_.chosen(i)) {
      best_->members.push_back(i);
    }
  }
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
  std::vector<char> helps(members.size(), parts_.size() == 1 && !checks_.admits && !checks_.places ? 0 : 1);
  for (FreedSlots& part : parts_) {
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
      additive_ = parts_.size() == 1 && gains.additive;
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
void VictimSearch::spare_dearest(std::vector<std::size_t> dearest_first, bool really) {
  std::size_t stride = 1;
  for (std::size_t at = 0; at < dearest_first.size();) {
    const std::size_t now = std::min(stride, dearest_first.size() - at);
    for (std::size_t i = at; i < at + now; ++i) {
      spare(dearest_first[i]);
    }
    if (suits(really)) {
      at += now;
      stride *= 2;
      continue;
    }
    for (std::size_t i = at; i < at + now; ++i) {
      choose(dearest_first[i]);
    }
    at += now == 1 ? 1 : 0;
    stride = std::max<std::size_t>(1, now / 2);
  }
}

// Chooses the whole pool, then spares what can be spared. False where even the pool is not enough;
// the caller releases what is chosen.
bool VictimSearch::reduce(const VictimPool& pool, bool really) {
  enter(pool.domain);
  std::vector<Member> members = weigh(pool);
  additive_ = false;
  std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
    const auto key = [&](const Member& m) {
      return std::tuple(victims_.excess_alone(m.index), victims_.priority(m.index), -m.most, victims_.pods(m.index),
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
  // Those that overrun a budget together first.
  for (const std::size_t member : dearest_first) {
    if (victims_.over_budget() == 0) {
      break;
    }
    if (victims_.relief(member) > 0) {
      spare(member);
      if (!suits(really)) {
        choose(member);
      }
    }
  }
  std::erase_if(dearest_first, [&](std::size_t member) { return !victims_.chosen(member); });
  spare_dearest(std::move(dearest_first), really);
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
      release(pool);
      if (reduce(pool, true)) {
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
