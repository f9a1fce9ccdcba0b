// What the cluster has for jobs that name nothing of their own: LocalQueues `default`, by namespace, and a
// WorkloadPriorityClass of that name.
//
// Any thread.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "dialects/kueue/names.h"
#include "dialects/mutation.h"

namespace gantree::kueue {

class ClusterDefaults {
 public:
  // Objects of any kind and name.
  void see(std::string_view kind, std::string_view ns, std::string_view name) {
    if (is_one(kind, name)) {
      const std::lock_guard lock(mutex_);
      found_.emplace(kind, ns);
    }
  }
  void lose(std::string_view kind, std::string_view ns, std::string_view name) {
    if (is_one(kind, name)) {
      const std::lock_guard lock(mutex_);
      found_.erase({std::string(kind), std::string(ns)});
    }
  }
  [[nodiscard]] JobDefaults in(std::string_view ns) const {
    const std::lock_guard lock(mutex_);
    return {.queue = found_.contains({std::string(kQueueKind), std::string(ns)}),
            .priority_class = found_.contains({std::string(kClassKind), ""})};
  }

 private:
  static constexpr std::string_view kQueueKind = "LocalQueue";
  static constexpr std::string_view kClassKind = "WorkloadPriorityClass";

  [[nodiscard]] static bool is_one(std::string_view kind, std::string_view name) {
    return (kind == kQueueKind && name == kDefaultQueue) || (kind == kClassKind && name == kDefaultPriorityClass);
  }

  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> found_;  // kind, namespace
};

}  // namespace gantree::kueue
