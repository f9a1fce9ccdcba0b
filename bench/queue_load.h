// Fifteen thousand workloads of two, four and eight pods in thirty queues on 640 nodes: the shape of Kueue's own
// performance test, with topologies.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace gantree {

inline constexpr std::string_view kQueueGroup = "kueue.x-k8s.io";
inline constexpr std::string_view kQueueVersion = "v1beta2";
inline constexpr std::string_view kQueueNamespace = "default";

struct QueueObject {
  const char* plural;
  const char* kind;
  bool namespaced;
  std::string name;
  std::string body;
};

// A topology of blocks, racks and hosts, its flavor, and 5 cohorts of 6 queues that lend each other what they do not
// use.
[[nodiscard]] std::vector<QueueObject> queue_objects();

struct PlannedWorkload {
  std::chrono::milliseconds at;  // it comes, after the first
  std::chrono::milliseconds runs;
  std::string name;
  std::string queue;
  std::string body;
  std::string admission;  // as the status of an admitted Workload, with hosts assigned without looking for room
};

// All of them, or a part, in the order in which they come.
[[nodiscard]] std::vector<PlannedWorkload> planned_workloads(int percent);

}  // namespace gantree
