// How many pods of each part: one number that stands for all.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/joint.h"

namespace gantree {

// A combination: the pods of every part packed into one word, each with a
// spare bit above, so that comparing two of them is a few instructions.
class PodCombinations {
 public:
  explicit PodCombinations(const std::vector<JointPart>& parts) {
    int shift = 0;
    for (const JointPart& part : parts) {
      const int bits = std::bit_width(static_cast<unsigned>(part.count));
      if (shift + bits + 1 > 64) {
        valid_ = false;
        return;
      }
      shifts_.push_back(shift);
      masks_.push_back((std::uint64_t{1} << bits) - 1);
      const std::uint64_t spare = std::uint64_t{1} << bits;
      bias_ += (spare - 1 - static_cast<unsigned>(part.count)) << shift;
      guard_ |= spare << shift;
      full_ += static_cast<std::uint64_t>(part.count) << shift;
      shift += bits + 1;
    }
    bits_ = shift;
  }

  [[nodiscard]] bool valid() const { return valid_; }
  // How many there are.
  [[nodiscard]] double number() const {
    double number = 1;
    for (std::size_t p = 0; p < shifts_.size(); ++p) {
      number *= pods(full_, p) + 1;
    }
    return number;
  }
  [[nodiscard]] int bits() const { return bits_; }  // of any combination
  [[nodiscard]] std::uint64_t full() const { return full_; }
  [[nodiscard]] int pods(std::uint64_t combination, std::size_t part) const {
    return static_cast<int>(combination >> shifts_[part] & masks_[part]);
  }
  [[nodiscard]] std::uint64_t of(std::size_t part, int pods) const {
    return static_cast<std::uint64_t>(pods) << shifts_[part];
  }
  [[nodiscard]] std::uint64_t without(std::uint64_t combination, std::size_t part) const {
    return combination & ~(masks_[part] << shifts_[part]);
  }
  // Both together, but of no part more than there are.
  [[nodiscard]] std::uint64_t sum(std::uint64_t a, std::uint64_t b) const {
    const std::uint64_t both = a + b;
    if (((both + bias_) & guard_) == 0) {
      return both;
    }
    std::uint64_t capped = 0;
    for (std::size_t p = 0; p < shifts_.size(); ++p) {
      capped += of(p, std::min(pods(a, p) + pods(b, p), pods(full_, p)));
    }
    return capped;
  }
  [[nodiscard]] std::uint64_t least(std::uint64_t a, std::uint64_t b) const {
    std::uint64_t out = 0;
    for (std::size_t p = 0; p < shifts_.size(); ++p) {
      out += of(p, std::min(pods(a, p), pods(b, p)));
    }
    return out;
  }
  // Whether a has at least as many of every part as b.
  [[nodiscard]] bool covers(std::uint64_t a, std::uint64_t b) const { return (((a | guard_) - b) & guard_) == guard_; }

 private:
  bool valid_ = true;
  int bits_ = 0;
  std::uint64_t bias_ = 0;
  std::uint64_t guard_ = 0;
  std::uint64_t full_ = 0;
  std::vector<int> shifts_;
  std::vector<std::uint64_t> masks_;
};

}  // namespace gantree
