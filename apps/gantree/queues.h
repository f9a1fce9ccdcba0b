// Queues and workloads as the Kueue dialect knows them, read from objects.
#pragma once

#include <vector>

#include "base/error.h"
#include "dialects/object.h"
#include "json/value.h"
#include "kueue/controller.h"
#include "pods/pod_family.h"

namespace gantree {

// What is known of queues and workloads, with the hosts that these are on.
struct Queues {
  PodFamily scheduler{PodOptions{}};
  kueue::Controller controller{scheduler.cluster(), {}};
};

// The kinds of queues and workloads.
[[nodiscard]] std::vector<ApiKind> queue_kinds();

// Takes in what concerns queues, and nodes, and passes over the rest. A broken object is told on stderr and passed
// over.
[[nodiscard]] Result<> take_queues(const std::vector<json::Document>& documents, Queues& queues);

}  // namespace gantree
