#include "queue/combinations.h"

#include <algorithm>
#include <limits>

namespace gantree {

namespace {

constexpr std::size_t kMostSteps = 10'000;

// Both are sorted by cell, and so is their sum.
QuotaDemand sum_of(const QuotaDemand& a, const QuotaDemand& b) {
  QuotaDemand sum;
  sum.reserve(a.size() + b.size());
  auto left = a.begin();
  for (const auto& [cell, amount] : b) {
    for (; left != a.end() && left->first < cell; ++left) {
      sum.push_back(*left);
    }
    const bool both = left != a.end() && left->first == cell;
    std::int64_t total = amount;
    if (both && __builtin_add_overflow(left++->second, amount, &total)) {
      total = std::numeric_limits<std::int64_t>::max();
    }
    sum.emplace_back(cell, total);
  }
  sum.insert(sum.end(), left, a.end());
  return sum;
}

}  // namespace

Combinations::Combinations(const WayDemands& demands, Allows allows)
    : demands_(demands),
      allows_(std::move(allows)),
      ways_(demands.size(), 0),
      sums_(demands.size() + 1),
      fruitful_(demands.size(), false) {}

// Whether the way that is looked at goes with those before it, and something may go with them.
bool Combinations::enters() {
  if (ruled_out_.contains({part_, ways_[part_]})) {
    return false;
  }
  sums_[part_ + 1] = sum_of(sums_[part_], demands_[part_][ways_[part_]]);
  return allows_(sums_[part_ + 1]) && !in_vain_.contains({part_ + 1, sums_[part_ + 1]});
}

bool Combinations::next() {
  if (std::exchange(at_one_, false)) {
    ++ways_[part_];
  }
  while (!demands_.empty()) {
    if (ways_[part_] == demands_[part_].size()) {
      if (!fruitful_[part_]) {
        in_vain_.emplace(part_, sums_[part_]);
      }
      if (part_ == 0) {
        return false;
      }
      ++ways_[--part_];
      continue;
    }
    if (++steps_ > kMostSteps) {
      gave_up_ = true;
      return false;
    }
    if (!enters()) {
      ++ways_[part_];
    } else if (part_ + 1 < demands_.size()) {
      ways_[++part_] = 0;
      fruitful_[part_] = false;
    } else {
      fruitful_.assign(fruitful_.size(), true);
      at_one_ = true;
      return true;
    }
  }
  return false;
}

void Combinations::skip(std::size_t parts) {
  part_ = std::min(part_, parts - 1);
}

bool some_are_allowed(const WayDemands& demands, const Combinations::Allows& allows) {
  if (demands.size() == 1) {
    return std::any_of(demands.front().begin(), demands.front().end(), allows);
  }
  Combinations walk(demands, allows);
  return walk.next() || walk.gave_up();
}

}  // namespace gantree
