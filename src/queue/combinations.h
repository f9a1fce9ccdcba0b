// Combinations of ways to start: one way of every part of a gang.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "model/quota_demand.h"

namespace gantree {

// What the ways of each part ask of quota, by part and way.
using WayDemands = std::vector<std::vector<QuotaDemand>>;

// Walks the combinations in lexicographic order, the first part counting most. Whatever begins with ways that together
// ask for too much is passed over at once, so that few steps lead to the next one, however many there are.
class Combinations {
 public:
  // False of a sum: so it is of every larger one.
  using Allows = std::function<bool(const QuotaDemand&)>;

  // The demands are borrowed, and sorted by cell.
  Combinations(const WayDemands& demands, Allows allows);

  // To the next one, the first at the first call; false where there is none, or it was not found in so many steps.
  [[nodiscard]] bool next();
  // The way of each part.
  [[nodiscard]] const std::vector<std::size_t>& ways() const { return ways_; }
  // No more of those that begin with the first `parts` (at least one) of the current one.
  void skip(std::size_t parts);
  // None with that way, from the next one on.
  void rule_out(std::size_t part, std::size_t way) { ruled_out_.emplace(part, way); }
  // Whether there may be more than were found.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  [[nodiscard]] bool enters();

  const WayDemands& demands_;
  Allows allows_;
  std::vector<std::size_t> ways_;
  std::vector<QuotaDemand> sums_;                          // of the parts before each
  std::vector<bool> fruitful_;                             // by part: a combination was found beyond it
  std::set<std::pair<std::size_t, QuotaDemand>> in_vain_;  // part, and what those before it ask for
  std::set<std::pair<std::size_t, std::size_t>> ruled_out_;
  std::size_t part_ = 0;  // whose way is to be looked at next
  bool at_one_ = false;   // which was given out
  std::size_t steps_ = 0;
  bool gave_up_ = false;
};

// Whether some combination is allowed, or it cannot be told in so many steps.
[[nodiscard]] bool some_are_allowed(const WayDemands& demands, const Combinations::Allows& allows);

}  // namespace gantree
