// What queues tell of themselves: whether they admit, how much of what is used, how many wait. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "dialects/kueue/admin.h"
#include "json/write.h"
#include "queue/quota.h"

namespace gantree::kueue {

inline constexpr std::string_view kActive = "Active";
inline constexpr std::string_view kClusterQueueStopped = "ClusterQueueStopped";
inline constexpr std::string_view kLocalQueueStopped = "LocalQueueStopped";

// How a Workload that is not over stands with its queues. All is borrowed.
struct QueueMember {
  std::string_view ns;
  std::string_view local_queue;
  std::string_view cluster_queue;  // that gave it quota; "" where none did
  bool waits = false;
  bool admitted = false;
  const QuotaDemand* used = nullptr;
};

struct ResourceUse {
  std::string resource;
  gantree::Unit unit = gantree::Unit::kOne;
  std::int64_t total = 0;
  std::int64_t borrowed = 0;  // of the total, beyond the quota of the queue
  std::int64_t nominal = 0;   // the quota itself
  friend bool operator==(const ResourceUse&, const ResourceUse&) = default;
};

struct FlavorUse {
  std::string flavor;
  std::vector<ResourceUse> resources;
  friend bool operator==(const FlavorUse&, const FlavorUse&) = default;
};

// The reason of Active=False of a queue that is being deleted.
inline constexpr std::string_view kTerminating = "Terminating";

// Whether a queue admits workloads, in a word and in a sentence.
struct Standing {
  bool active = true;
  std::string reason = "Ready";
  std::string message = {};
  friend bool operator==(const Standing&, const Standing&) = default;
};

struct QueueStatus {
  Standing standing;
  int pending = 0;
  int reserving = 0;  // have quota, those that are admitted included
  int admitted = 0;
  std::vector<FlavorUse> reservation;  // by flavor, in the order of the queue; of those that have quota
  std::vector<FlavorUse> usage;        // the same of those that are admitted
  std::int64_t weighted_share = 0;     // thousandths of what may be borrowed, divided by the weight
  friend bool operator==(const QueueStatus&, const QueueStatus&) = default;
};

struct QueueStatuses {
  std::map<std::string, QueueStatus, std::less<>> cluster_queues;
  std::map<std::pair<std::string, std::string>, QueueStatus, std::less<>> local_queues;  // namespace, name
};

[[nodiscard]] QueueStatuses queue_statuses(const Setup& setup, const Quota& quota,
                                           const std::vector<QueueMember>& members);

// The share of a cohort in what its own cohort lends; 0 for those at the top. `weight` in thousandths.
[[nodiscard]] std::int64_t cohort_share(std::string_view cohort, std::int64_t weight, const Quota& quota);

// Why what runs in a queue has to go: the reason and a sentence. Nothing where it may stay.
struct Drain {
  std::string_view reason;
  std::string message;
};
[[nodiscard]] std::optional<Drain> drain_of(const Setup& setup, std::string_view ns, std::string_view local_queue,
                                            std::string_view cluster_queue);

// The fields of the status beside the conditions. Amounts borrowed are told by ClusterQueues alone.
[[nodiscard]] json::Out write_counts(const QueueStatus& status, bool cluster_queue);

}  // namespace gantree::kueue
