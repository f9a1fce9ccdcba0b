// What an evaluation of CEL may cost. Rules come from whoever may define kinds, and all of them are evaluated on the
// thread that serves everybody: not only steps count, but also what they copy and compare, so that neither time nor
// memory can grow beyond a bound that is known before.
#pragma once

#include <cstddef>
#include <string_view>

#include "apiserver/json.h"

namespace gantree::apiserver {

// One point is a step, a value or a few letters of text. One thread.
class CelCost {
 public:
  explicit CelCost(std::size_t points) : left_(points) {}

  // False, from then on, where there are not as many left.
  [[nodiscard]] bool pay(std::size_t points) {
    spent_ |= points > left_;
    left_ = spent_ ? 0 : left_ - points;
    return !spent_;
  }
  [[nodiscard]] bool pay_text(std::string_view text) { return pay(points_of(text)); }
  // For a value with all that is in it. Looks no further than there are points.
  [[nodiscard]] bool pay_value(const Value& value);
  // For finding out whether they are the same: that ends where they differ in size.
  [[nodiscard]] bool pay_comparison(const Value& a, const Value& b);
  // For looking for one text in another.
  [[nodiscard]] bool pay_search(std::string_view text, std::string_view wanted) {
    return pay(points_of(text) * points_of(wanted));
  }

  [[nodiscard]] bool spent() const { return spent_; }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  static constexpr std::size_t kLettersPerPoint = 16;
  static std::size_t points_of(std::string_view text) { return 1 + text.size() / kLettersPerPoint; }

  std::size_t left_;
  bool spent_ = false;
};

}  // namespace gantree::apiserver
