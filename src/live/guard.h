// One write at a time to one object, and the next one only when the outcome of the last has been seen.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "live/order.h"

namespace gantree {

class Guard {
 public:
  // Whether nothing may be written to the object now. `version`: its resourceVersion as last seen.
  [[nodiscard]] bool closed(const std::string& version, Time now) const {
    return order_ != 0 || now < not_before_ || (unseen_ == version && !version.empty() && now < unseen_until_);
  }
  // When closed() has to be asked again where no event comes.
  [[nodiscard]] Time opens() const { return std::max(not_before_, unseen_until_); }

  void sent(std::uint64_t order, const std::string& version) {
    order_ = order;
    refusals_ = version == unseen_ ? refusals_ : 0;
    unseen_ = version;
  }
  void answered(Answer answer, Time now) {
    using std::chrono::seconds;
    constexpr seconds kUnseen{15};  // after that an event that should have come is not waited for any more
    order_ = 0;
    unseen_until_ = now;
    if (answer == Answer::kDone) {
      failures_ = 0;
      refusals_ = 0;
      unseen_until_ = now + kUnseen;
    } else if (answer == Answer::kUncertain) {
      unseen_until_ = now + kUnseen;  // another was faster, or it was done: its event is on its way
    } else if (answer != Answer::kWithdrawn) {
      failures_ = std::min(failures_ + 1, 6);
      ++refusals_;
      not_before_ = now + seconds(1) * (1 << (failures_ - 1)) / 2;
    }
  }
  // So many writes to this version of the object were refused, one after the other. The first may have come too late
  // for it; the second tells that something is wrong.
  [[nodiscard]] int refusals() const { return refusals_; }
  [[nodiscard]] bool in_flight() const { return order_ != 0; }
  // The resourceVersion of the object when the last write was sent.
  [[nodiscard]] const std::string& version() const { return unseen_; }

 private:
  std::uint64_t order_ = 0;
  std::string unseen_;
  Time unseen_until_ = {};
  Time not_before_ = {};
  int failures_ = 0;
  int refusals_ = 0;
};

}  // namespace gantree
