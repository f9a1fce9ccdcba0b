// What other threads tell the loop, in order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace gantree {

// Thread safe. Has no bound: what the API server tells cannot be refused, and the loop is faster than the network.
template <class Letter>
class Mailbox {
 public:
  void post(Letter letter) {
    {
      const std::lock_guard lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    arrived_.notify_one();
  }

  // All that has come; waits for the first until that instant.
  [[nodiscard]] std::vector<Letter> take(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    arrived_.wait_until(lock, until, [this] { return !letters_.empty(); });
    return std::exchange(letters_, {});
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return letters_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Letter> letters_;
};

}  // namespace gantree
