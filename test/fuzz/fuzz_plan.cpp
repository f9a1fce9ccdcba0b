// Any bytes as manifests: one error that names its place, or a decision for
// every job; and no host with more on it than before it was full.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cycle/cycle.h"
#include "dialects/dialects.h"
#include "json/read.h"
#include "view/decision_json.h"

namespace {

using namespace gantree;

bool overcommitted(const Inventory& inventory, NodeId id) {
  for (std::size_t i = 0; i < inventory.resources().size(); ++i) {
    if (inventory.alive(id) && inventory.free(id, make_id<ResourceTag>(i)) < 0) {
      return true;
    }
  }
  return false;
}

std::vector<bool> overcommitted_hosts(const Inventory& inventory) {
  std::vector<bool> hosts;
  for (std::size_t i = 0; i < inventory.size(); ++i) {
    hosts.push_back(overcommitted(inventory, make_id<NodeTag>(i)));
  }
  return hosts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto documents = json::read_documents("f", std::string(reinterpret_cast<const char*>(data), size));
  if (!documents) {
    return 0;
  }
  Cluster cluster;
  Quota quota;
  auto reading = take_in(*documents, {}, cluster, quota);
  if (!reading) {
    GANTREE_CHECK(reading.error().message.starts_with("f:"));
    return 0;
  }
  const std::size_t asked = reading->queue.size();
  const std::vector<bool> before = overcommitted_hosts(cluster.inventory());
  const Plan plan = run_cycle(cluster, quota, std::move(reading->queue));
  GANTREE_CHECK(plan.decisions.size() == asked);
  const std::vector<bool> after = overcommitted_hosts(cluster.inventory());
  GANTREE_CHECK(before == after);
  for (const Decision& decision : plan.decisions) {
    GANTREE_CHECK(decision.state == GangState::kPlaced || !decision.message.empty());
    for (const PodSetDecision& set : decision.pod_sets) {
      std::int64_t placed = 0;
      for (const HostShare& share : set.hosts) {
        placed += share.count;
      }
      GANTREE_CHECK(decision.state != GangState::kPlaced || placed == set.count);
    }
  }
  GANTREE_CHECK(!plan_to_json(plan, cluster).to_json(false).empty());
  return 0;
}
