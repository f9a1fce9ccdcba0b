#include "engine/joint_limit.h"

#include <algorithm>
#include <functional>

namespace gantree {

ChildLimit::ChildLimit(const JointProblem& problem) {
  for (std::size_t p = 0; p < problem.parts.size(); ++p) {
    if (problem.parts[p].count > needed_) {
      part_ = p;
      needed_ = problem.parts[p].count;
    }
  }
  counts_ = problem.parts[part_].counts;
  const int field = problem.within.level + 1;  // of the units compared first
  word_ = static_cast<std::size_t>(field / kFieldsPerWord);
  shift_ = 16 * (kFieldsPerWord - 1 - field % kFieldsPerWord);
}

void ChildLimit::allow(int spare) {
  rest_ = all_;
  std::sort(rest_.begin(), rest_.end(), std::greater<>());
  most_ = 0;
  count();
  const int least = further_.back();
  most_ = spare > static_cast<int>(all_.size()) - least ? kAnyNumber : least + spare;
}

void ChildLimit::pass(Domain child) {
  if (most_ != kAnyNumber) {
    rest_.erase(std::find(rest_.begin(), rest_.end(), counts_->capacity(child)));
    count();
  }
}

void ChildLimit::count() {
  further_.assign(static_cast<std::size_t>(needed_) + 1, static_cast<int>(kMaxLimited) + 1);
  std::size_t held = 0;
  for (std::size_t k = 0; held < further_.size(); ++k) {
    further_[held] = static_cast<int>(k);
    const std::size_t room = k < rest_.size() ? static_cast<std::size_t>(rest_[k]) : 0;
    if (room == 0) {
      break;
    }
    for (std::size_t pods = held + 1; pods <= held + room && pods < further_.size(); ++pods) {
      further_[pods] = static_cast<int>(k) + 1;
    }
    held += room;
  }
}

}  // namespace gantree
