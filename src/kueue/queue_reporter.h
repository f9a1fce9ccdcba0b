// Keeps the statuses of queues true: at most once a second each, and only where something else stands there.
//
// One thread owns it: the controller's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "dialects/object.h"
#include "dialects/write.h"
#include "kueue/queue_status.h"
#include "kueue/workload_object.h"
#include "live/guard.h"
#include "live/object.h"

namespace gantree::kueue {

class QueueReporter {
 public:
  // `fair`: queues share by weight whether they say so or not.
  explicit QueueReporter(bool fair) : fair_(fair) {}

  // Sends a write to an object, which is known by its key; returns the number of the order.
  using Send = std::function<std::uint64_t(const std::string& key, Write write)>;

  // An object of the administrators as it is now. `key` is the controller's.
  void changed(const std::string& key, const LiveObject& object, const Object& parsed);
  void removed(const std::string& key) { objects_.erase(key); }
  void answered(const std::string& key, Answer answer, Time now);

  // Something that statuses tell of may have changed.
  void note() { stale_ = true; }
  // When report() is to be called; nothing where all is told.
  [[nodiscard]] std::optional<Time> due() const { return stale_ ? std::optional(next_) : std::nullopt; }
  // Writes what differs.
  void report(const QueueStatuses& statuses, const Quota& quota, Time now, const Send& send);

 private:
  struct Target {
    ObjectRef ref;
    std::string resource_version;
    bool deleting = false;
    bool fair = false;           // its share is told
    std::int64_t weight = 1000;  // thousandths
    std::string status;          // JSON, as last seen; "" where there is none
    std::vector<Condition> conditions;
    std::optional<QueueStatus> told;  // what the object is known to say
    Guard guard;
  };

  [[nodiscard]] static std::optional<QueueStatus> wanted(const Target& target, const QueueStatuses& statuses,
                                                         const Quota& quota);
  // The status in full; nothing where the object says it.
  [[nodiscard]] static std::optional<json::Out> patch(const Target& target, const QueueStatus& status, Time now);

  bool fair_;
  std::map<std::string, Target> objects_;
  bool stale_ = true;
  Time next_ = {};
};

// What decisions depend on in an administrator's object: equal texts mean that nothing has to be decided anew. Of a
// Namespace that is its labels.
[[nodiscard]] std::string decided_text(std::string_view kind, json::Value object);

// Whether a value is what would be written.
[[nodiscard]] bool says(json::Value value, const json::Out& wanted);

}  // namespace gantree::kueue
