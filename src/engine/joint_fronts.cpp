#include <algorithm>
#include <numeric>

#include "engine/joint_limit.h"
#include "engine/joint_tables.h"

namespace gantree {

// Without the entries that a cheaper (or equal, earlier) one covers.
Joint::Front Joint::best_of(const Front& front) {
  sort_by_cost(front);
  // The entries to be kept stay at the beginning of the order.
  std::size_t kept = 0;
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::uint64_t combination = front.combination[order_[i]];
    steps += static_cast<std::int64_t>(kept);
    std::size_t other = kept;
    while (other > 0 && !combinations_.covers(front.combination[order_[other - 1]], combination)) {
      --other;
    }
    if (other == 0) {
      order_[kept++] = order_[i];
    }
    if (steps > 1024) {
      if (!budget_.spend(steps / 8)) {
        break;
      }
      steps = 0;
    }
  }
  Front best;
  best.reserve(kept, words_);
  for (std::size_t i = 0; i < kept; ++i) {
    append(best, front.combination[order_[i]], cost(front, order_[i]), front.from[order_[i]], front.with[order_[i]]);
  }
  return best;
}

// The cheapest first; of equal ones the one with more pods, so that it covers those that follow.
void Joint::sort_by_cost(const Front& front) {
  order_.resize(front.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const std::size_t tightness = words_ - 1;
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto by_cost = compare_costs(cost(front, a), cost(front, b), coarse_ ? tightness : words_);
    if (by_cost != 0) {
      return by_cost < 0;
    }
    if (front.combination[a] != front.combination[b]) {
      return front.combination[a] > front.combination[b];
    }
    return std::pair(cost(front, a)[tightness], a) < std::pair(cost(front, b)[tightness], b);
  });
}

Joint::Front Joint::add(const Front& sum, const Front& child, const ChildLimit* limit) {
  Front& out = sums_;
  out.clear();
  std::vector<std::uint64_t> both(words_);
  for (std::size_t a = 0; a < sum.size(); ++a) {
    if (!budget_.spend(static_cast<std::int64_t>(child.size())) || !room_for(out)) {
      break;
    }
    for (std::size_t b = 0; b < child.size(); ++b) {
      const std::uint64_t combination = combinations_.sum(sum.combination[a], child.combination[b]);
      for (std::size_t w = 0; w < words_; ++w) {
        both[w] = cost(sum, a)[w] + cost(child, b)[w];
      }
      if (limit != nullptr && !limit->allows(combinations_, combination, both.data())) {
        continue;
      }
      std::uint32_t& place = place_of(combination);
      if (place == kUnknown) {
        place = static_cast<std::uint32_t>(out.size());
        append(out, combination, both.data(), a, b);
        continue;
      }
      std::uint64_t* const old = &out.cost[place * words_];
      const auto order = compare_costs(both.data(), old, words_);
      // Of equal ones with groups that are alike, the one that leaves more to the first children.
      if (order < 0 || (alike_ && order == 0 && child.combination[b] < child.combination[out.with[place]])) {
        std::copy(both.begin(), both.end(), old);
        out.from[place] = static_cast<std::uint32_t>(a);
        out.with[place] = static_cast<std::uint32_t>(b);
      }
    }
  }
  forget_places();
  return stopped() ? Front{} : best_of(out);
}

void Joint::forget_places() {
  sparse_.clear();
  if (!dense_.empty()) {
    for (const std::uint64_t combination : sums_.combination) {
      dense_[combination] = kUnknown;
    }
  }
}

}  // namespace gantree
