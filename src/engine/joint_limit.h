// How many children of a domain may be used by what is to become the answer of the joint tables: where the fewest do,
// entries with more of them need not be looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/combinations.h"
#include "engine/joint.h"

namespace gantree {

// Costs are counters of 16 bits, the most important first.
inline constexpr int kFieldsPerWord = 4;
// Children up to which it is worthwhile to limit their number.
inline constexpr std::uint32_t kMaxLimited = 64;

class ChildLimit {
 public:
  // The counts of the problem are borrowed.
  explicit ChildLimit(const JointProblem& problem);
  // One of at most kMaxLimited children of `problem.within`.
  void count_in(Domain child) { all_.push_back(counts_->capacity(child)); }
  // All are counted in: the fewest that could do and so many more, from the first child on.
  void allow(int spare);
  // The next child is about to be added: no longer among those that are still to come.
  void pass(Domain child);
  [[nodiscard]] bool allows(const PodCombinations& combinations, std::uint64_t combination,
                            const std::uint64_t* cost) const {
    if (most_ == kAnyNumber) {
      return true;
    }
    const int lacking = needed_ - combinations.pods(combination, part_);
    const int used = static_cast<int>(cost[word_] >> shift_ & 0xFFFF);
    return used + further_[static_cast<std::size_t>(lacking)] <= most_;
  }

 private:
  void count();

  const SlotCounts* counts_ = nullptr;
  std::size_t part_ = 0;  // the one of which most pods are needed
  int needed_ = 0;
  std::size_t word_ = 0;
  int shift_ = 0;
  int most_ = kAnyNumber;
  std::vector<int> all_;      // room in each of the children for that part
  std::vector<int> rest_;     // of those to come, largest first
  std::vector<int> further_;  // by pods lacking: the fewest of those to come that hold them
};

}  // namespace gantree
