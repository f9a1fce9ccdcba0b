// The namespaces whose LocalQueue `default` takes those that name no queue.
//
// Any thread.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace gantree::kueue {

class DefaultQueues {
 public:
  void add(std::string_view ns) {
    const std::lock_guard lock(mutex_);
    namespaces_.emplace(ns);
  }
  void remove(std::string_view ns) {
    const std::lock_guard lock(mutex_);
    if (const auto it = namespaces_.find(ns); it != namespaces_.end()) {
      namespaces_.erase(it);
    }
  }
  [[nodiscard]] bool contains(std::string_view ns) const {
    const std::lock_guard lock(mutex_);
    return namespaces_.contains(ns);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> namespaces_;
};

}  // namespace gantree::kueue
