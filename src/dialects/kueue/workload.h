// Jobs and JobSets as one shape: pod sets with a request each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/dialects.h"
#include "dialects/kueue/request.h"
#include "model/gang.h"

namespace gantree::kueue {

struct PodSetRequest {
  std::string name;
  json::Value at;  // where it stands
  int count = 1;   // 0: there is nothing to place
  int min_count = 1;
  PodShape shape;
  TopologyRequest topology;
  json::Value priority_class;  // absent where not given
  std::optional<std::int64_t> priority;
};

struct Workload {
  GangKey key;
  json::Place place;
  json::Value queue_name;      // absent where not given
  json::Value priority_class;  // of workloads; absent where not given
  std::int64_t created_seconds = 0;
  bool running = false;
  bool over = false;  // finished or being deleted: it neither asks nor uses quota
  std::string owner;  // of what controls it: "JobSet/name"; "" where nothing does
  std::vector<PodSetRequest> pod_sets;
  std::optional<std::string> objection;  // why it can be rejected at once
};

// Fail where the object is malformed; what is well-formed but wrong is the workload's objection.
[[nodiscard]] Result<Workload> read_job(const NamedObject& named, Inventory& inventory);
[[nodiscard]] Result<Workload> read_jobset(const NamedObject& named, Inventory& inventory);

}  // namespace gantree::kueue
