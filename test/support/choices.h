// Where random instances take their decisions from: a seed, or a tape.
//
// A tape makes instances shrinkable: shortening it, or making its numbers
// smaller, leads to simpler instances, because 0 is always the simplest choice
// and a tape that has run out reads as zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace gantree::test {

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}
  explicit Choices(std::vector<std::uint16_t> tape) : tape_(std::move(tape)) {}

  // 0 to `most`, both included.
  int up_to(int most) { return most <= 0 ? 0 : static_cast<int>(next() % (static_cast<std::uint64_t>(most) + 1)); }
  int between(int least, int most) { return least + up_to(most - least); }
  bool one_in(int n) { return up_to(n - 1) == n - 1; }

  template <class T>
  const T& of(const std::vector<T>& options) {
    return options[static_cast<std::size_t>(up_to(static_cast<int>(options.size()) - 1))];
  }

 private:
  std::uint64_t next() {
    if (random_) {
      return (*random_)() >> 11U;
    }
    return at_ < tape_.size() ? tape_[at_++] : 0;
  }

  std::optional<std::mt19937_64> random_;
  std::vector<std::uint16_t> tape_;
  std::size_t at_ = 0;
};

}  // namespace gantree::test
