// The Workload that is made for a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/write.h"
#include "json/write.h"
#include "kueue/job.h"

namespace gantree::kueue {

// What a job's Workload is made from, beside its pod sets.
struct WorkloadSeed {
  ObjectRef job;
  std::string queue;           // its LocalQueue
  std::string priority_class;  // of workloads; "" where it names none
  std::string pod_priority_class;
  std::optional<std::int64_t> priority;
  std::optional<std::int64_t> most_seconds;  // it may run
  bool group = false;                        // the job is a group of pods, and gives its name
  std::vector<ObjectRef> owners = {};        // of a group: with the last of them the Workload goes
};

// `spec.maximumExecutionTimeSeconds`, and what a job says of it; nothing where it may run without end.
inline constexpr std::string_view kMaximumTime = "maximumExecutionTimeSeconds";
[[nodiscard]] std::optional<std::int64_t> most_seconds(const Workload& job);

// A name by which a job's Workload is known: the kind, the job's name, and a piece that tells jobs of one name apart.
[[nodiscard]] std::string workload_name(const ObjectRef& job);

// References to the owners of a group's Workload, none of whom controls it.
[[nodiscard]] json::Out owners_body(const std::vector<ObjectRef>& owners);

// `spec.podSets`.
[[nodiscard]] json::Out pod_sets_body(const std::vector<SetSpec>& sets);
[[nodiscard]] Write create_workload(const WorkloadSeed& seed, const std::vector<SetSpec>& sets);

}  // namespace gantree::kueue
