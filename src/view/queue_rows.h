// Queues and workloads as rows: what `gantree get` shows of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/write.h"
#include "kueue/controller.h"
#include "kueue/queue_status.h"
#include "view/terminal_text.h"

namespace gantree::view {

struct QueueRow {
  std::string ns;  // "" for a ClusterQueue
  std::string name;
  std::string above;  // the cohort of a ClusterQueue, the ClusterQueue of a LocalQueue; "" where there is none
  kueue::QueueStatus status;
};

struct WorkloadRow {
  std::string ns;
  std::string name;
  std::string job;  // "Job/train"; "" where nothing owns it
  std::string queue;
  std::string cluster_queue;  // that admitted it; "" where none did
  std::int64_t priority = 0;
  std::string state;                 // Pending, Suspended, Reserved, Admitted, Running, Evicted, Inactive, Finished
  std::string reason;                // in a word; "" where there is nothing to say
  std::string message;               // in a sentence; the same
  std::string where;                 // domains, or flavors where it has none
  std::int64_t created_seconds = 0;  // Unix time; 0 where not known
};

// Those of one namespace, or of all where it is "". By name.
[[nodiscard]] std::vector<QueueRow> cluster_queue_rows(const kueue::Controller& queues);
[[nodiscard]] std::vector<QueueRow> local_queue_rows(const kueue::Controller& queues, std::string_view ns);
[[nodiscard]] std::vector<WorkloadRow> workload_rows(const kueue::Controller& queues, Cluster& cluster,
                                                     std::string_view ns, bool unicode);
// The hosts that have to be known to say where the workloads of a namespace are, by their label; all where it is "".
[[nodiscard]] std::set<std::string> hosts_to_know(const kueue::Controller& queues, std::string_view ns);

// Tables. `wide`: quota by flavor, and reasons in full.
[[nodiscard]] std::string queues_to_text(const std::vector<QueueRow>& rows, bool wide, const TextOptions& options);
[[nodiscard]] std::string workloads_to_text(const std::vector<WorkloadRow>& rows, bool wide, std::int64_t now_seconds,
                                            const TextOptions& options);
[[nodiscard]] json::Out queues_to_json(const std::vector<QueueRow>& rows);
[[nodiscard]] json::Out workloads_to_json(const std::vector<WorkloadRow>& rows);

// "45s", "12m", "3h", "5d": the age of something, the largest unit of which there are at least two, or one.
[[nodiscard]] std::string age_text(std::int64_t seconds);

}  // namespace gantree::view
