// What a workload asks for in the terms of this family: pod sets with a topology request each.
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
  json::Value at;    // where it stands
  json::Value spec;  // of its pods
  int count = 1;     // 0: there is nothing to place
  int min_count = 1;
  PodShape shape;
  TopologyRequest topology;
  std::vector<std::string> pods;  // names in rank order, where the pods exist already
};

struct JobRequest {
  GangKey key;
  std::optional<GangKey> made_for = {};  // of a Workload: the job that controls it
  json::Place place;
  json::Value queue_name;                     // absent where not given
  json::Value priority_class;                 // of workloads; absent where not given
  std::optional<std::int64_t> priority = {};  // settled already, whatever the class
  std::int64_t created_seconds = 0;
  std::vector<PodSetRequest> pod_sets;
  std::optional<std::string> objection;   // why it can be rejected at once
  std::optional<std::string> incomplete;  // what is still missing of it
  std::vector<NodeId> runs_on;  // where some of its pods run already: it asks for the others, and its quota is used
};

// The queue that a workload names, itself or (a CronJob) in the Jobs that it makes; absent where it names none.
[[nodiscard]] json::Value queue_name_of(const Workload& workload);

// Fails where a pod template is malformed; what is well-formed but wrong is the request's objection.
[[nodiscard]] Result<JobRequest> read_request(const Workload& workload, Inventory& inventory);

// The minimum of a Job that may start with fewer pods than it has; its parallelism where it may not.
[[nodiscard]] int read_min_parallelism(Objection& objection, const Workload& workload, int parallelism);

// Objects to groups of pod sets (podset-group-name) whose members do not agree. Of the sets, names and topologies are
// looked at.
void check_groups(Objection& objection, const std::vector<PodSetRequest>& sets);

// The same of an object of kind Workload, which says it in its own words: podSets with a topologyRequest each.
[[nodiscard]] Result<JobRequest> read_workload_request(const NamedObject& named, Inventory& inventory);

// What is said of a Workload with more pods than can be meant.
[[nodiscard]] std::string too_many_pods(std::int64_t pods);

// What pod sets must keep to beside each other.
void check_pod_sets(Objection& objection, const std::vector<PodSetRequest>& sets);

}  // namespace gantree::kueue
