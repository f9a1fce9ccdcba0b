// Branch and bound over the victims of one domain.
#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/victim_search.h"

namespace gantree {

namespace {

std::int64_t ceil_of(std::int64_t amount, std::int64_t by) {
  return (amount + by - 1) / by;
}

}  // namespace

// The members that a cheaper set can have, the most useful first. False where even all of them
// together are not enough.
bool VictimSearch::prepare(const VictimPool& pool) {
  VictimPool affordable{pool.domain, {}};
  for (const std::size_t i : pool.members) {
    // Budgets come first: only where they are not overrun at all is a priority bound to the best one's.
    const bool dear = victims_.excess_alone(i) > best_->cost.over_budget ||
                      (best_->cost.over_budget == 0 && victims_.priority(i) > best_->cost.priority);
    if (!dear) {
      affordable.members.push_back(i);
    }
  }
  enter(pool.domain);
  order_ = weigh(affordable);
  std::sort(order_.begin(), order_.end(), [&](const Member& a, const Member& b) {
    const auto key = [&](const Member& m) {
      return std::tuple(!m.keeps_out, -m.most, victims_.pods(m.index), victims_.age(m.index), m.index);
    };
    return key(a) < key(b);
  });
  summarize();
  gained_ = suffix_.front().most;
  for (const Member& member : order_) {
    choose(member.index);
  }
  const bool enough = suits(false);
  release(pool);
  gained_ = 0;
  return enough;
}

void VictimSearch::summarize() {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  suffix_.assign(order_.size() + 1, {.most = 0, .least_pods = kMost, .least_age = kMost, .least_priority = kMost});
  for (std::size_t at = order_.size(); at-- > 0;) {
    const Member& member = order_[at];
    const Suffix& after = suffix_[at + 1];
    suffix_[at] = {.most = after.most + member.most,
                   .least_pods = std::min(after.least_pods, victims_.pods(member.index)),
                   .least_age = std::min(after.least_age, victims_.age(member.index)),
                   .least_priority = std::min(after.least_priority, victims_.priority(member.index)),
                   .leanest = at};
    if (at + 1 < order_.size()) {
      const Member& lean = order_[after.leanest];
      if (member.most == 0 ||
          (lean.most > 0 && victims_.pods(lean.index) * member.most < victims_.pods(member.index) * lean.most)) {
        suffix_[at].leanest = after.leanest;
      }
    }
  }
}

// Whether some of the members from a position on, at least one, could complete a cheaper set.
bool VictimSearch::promising(std::size_t from) const {
  const Suffix& rest = suffix_[from];
  const std::int64_t lacking = std::max<std::int64_t>(0, missing_ - gained_);
  if (rest.most < lacking) {
    return false;
  }
  // The fewest that can add what is lacking: they are sorted by what they add, after those that keep
  // the gang out, of which none is ever left out.
  const auto after = std::partition_point(suffix_.begin() + static_cast<std::ptrdiff_t>(from), suffix_.end(),
                                          [&](const Suffix& s) { return rest.most - s.most < lacking; });
  const std::int64_t few = std::max<std::int64_t>(1, after - (suffix_.begin() + static_cast<std::ptrdiff_t>(from)));
  const Member& lean = order_[rest.leanest];
  const std::int64_t lean_pods = lean.most > 0 ? ceil_of(lacking * victims_.pods(lean.index), lean.most) : 0;
  EvictionCost least = victims_.cost();
  least.priority = std::max(least.priority, rest.least_priority);
  least.gangs += few;
  least.pods += std::max(few * rest.least_pods, lean_pods);
  least.age += few * rest.least_age;
  return least < best_->cost;
}

// Whether one already passed over would do as well in every respect.
bool VictimSearch::dominated(std::size_t member) const {
  if (!additive_ || checks_.admits || checks_.places) {
    return false;
  }
  return std::any_of(passed_over_.begin(), passed_over_.end(), [&](std::size_t other) {
    return victims_.gang(other).budgets.empty() && victims_.priority(other) <= victims_.priority(member) &&
           victims_.pods(other) <= victims_.pods(member) && victims_.age(other) <= victims_.age(member);
  });
}

void VictimSearch::note_passed_over(std::size_t member) {
  if (additive_ && victims_.gang(member).budgets.empty()) {
    passed_over_.push_back(member);
  }
}

void VictimSearch::try_member(std::size_t at) {
  const Member& member = order_[at];
  choose(member.index);
  gained_ += member.most;
  if (victims_.cost() < best_->cost) {
    if (suits(true)) {
      record();
    } else {
      descend(at + 1);
    }
  }
  gained_ -= member.most;
  spare(member.index);
}

void VictimSearch::descend(std::size_t from) {
  const std::size_t passed = passed_over_.size();
  for (std::size_t at = from; at < order_.size() && complete_; ++at) {
    if (!steps_.spend(1) || work_.exhausted()) {
      complete_ = false;
      break;
    }
    if (!promising(at)) {
      break;
    }
    if (dominated(order_[at].index)) {
      continue;
    }
    try_member(at);
    if (order_[at].keeps_out) {
      break;
    }
    note_passed_over(order_[at].index);
  }
  passed_over_.resize(passed);
}

bool VictimSearch::exhaust(const VictimPool& pool) {
  complete_ = !steps_.exhausted() && !work_.exhausted();
  if (complete_ && prepare(pool)) {
    passed_over_.clear();
    descend(0);
  }
  return complete_;
}

}  // namespace gantree
