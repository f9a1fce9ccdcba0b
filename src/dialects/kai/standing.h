// How a gang stands among others: its priority, and whether others may evict it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/core/objects.h"
#include "dialects/kai/remarks.h"
#include "dialects/workloads/workload.h"

namespace gantree::kai {

struct Standing {
  std::int64_t priority = 0;
  bool preemptible = true;
  bool may_evict = true;  // its class or its pods do not say preemptionPolicy: Never
};

// Where a gang says how it stands. Absent values say nothing.
struct StandingRequest {
  std::string_view file;
  std::vector<json::Value> classes;           // names, the first that is there counts
  std::vector<json::Value> preemptibilities;  // the same
  std::vector<json::Value> specs;             // of pods: their priorityClassName counts after `classes`
  std::string_view default_class = "train";
};

// What a workload says: labels of its own, then those of its pods.
[[nodiscard]] StandingRequest standing_request(const Workload& workload);

// A class that a label names and that is not there does not count, as in KAI, but a remark says so. Fails, with
// file:line, where pods name one that is not there, while the input has others.
[[nodiscard]] Result<Standing> standing_of(const StandingRequest& request, const CoreObjects& core, Remarks& remarks);

}  // namespace gantree::kai
