// Search effort, counted in steps, never in time: the same input gives the same
// answer on every machine.
#pragma once

#include <cstdint>

namespace gantree {

class Budget {
 public:
  explicit Budget(std::int64_t steps) : left_(steps) {}

  // False, from now on, once the steps are used up.
  bool spend(std::int64_t steps) {
    left_ -= steps;
    return left_ >= 0;
  }
  [[nodiscard]] bool can_spend(std::int64_t steps) const { return left_ >= steps; }
  [[nodiscard]] std::int64_t left() const { return left_; }
  [[nodiscard]] bool exhausted() const { return left_ < 0; }

 private:
  std::int64_t left_;
};

}  // namespace gantree
