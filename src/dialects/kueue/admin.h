// What administrators set up: topologies, flavors, queues, priorities.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/core/label_selector.h"
#include "dialects/dialects.h"
#include "dialects/kueue/cohorts.h"
#include "dialects/kueue/policy.h"
#include "dialects/kueue/resource_groups.h"
#include "json/decode.h"
#include "model/pod_shape.h"
#include "model/topology.h"
#include "queue/quota.h"

namespace gantree::kueue {

struct Flavor {
  std::string name;
  json::Place place;
  std::vector<Label> node_labels;  // sorted by key
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::string topology_name;  // "" where there is none
  std::optional<TopologyId> topology;
  std::string broken;  // what it refers to and is not there, in a sentence; "" where all is
};

struct ClusterQueue {
  std::string name;
  std::string stop_policy;  // "" where it runs
  LabelSelector namespace_selector;
  bool no_namespace = false;  // it has no selector, and so selects none: on a live cluster; plans pass over it
  std::string cohort_name;    // "" where it stands alone
  QueuePolicy policy;
  std::vector<ResourceGroup> groups;
  QueueId id;
  bool has_checks = false;  // admission checks, which nobody runs
  bool leaves = false;      // it is being deleted
  std::string inactive;     // why it admits nothing: what it refers to is not there; "" where all is
};

struct LocalQueue {
  std::string cluster_queue_name;
  json::Place place;
  std::string stop_policy;
  const ClusterQueue* cluster_queue = nullptr;
  std::string inactive;  // why it admits nothing; then there may be no cluster_queue
};

// All of them by name. Maps, because flavors and queues point to each other and order must not
// depend on hashing.
struct Setup {
  std::map<std::string, TopologyId, std::less<>> topologies;
  std::set<TopologyId> partial;  // topologies that leave nodes out
  std::map<std::string, Flavor, std::less<>> flavors;
  Cohorts cohorts;
  std::map<std::string, ClusterQueue, std::less<>> cluster_queues;
  std::map<std::pair<std::string, std::string>, LocalQueue, std::less<>> local_queues;  // namespace, name
  std::map<std::string, std::int64_t, std::less<>> priority_classes;

  [[nodiscard]] bool has_queues() const { return !cluster_queues.empty() || !local_queues.empty(); }
};

// Each takes one object into the setup, checked for itself.
[[nodiscard]] Result<> read_topology(const NamedObject& named, Intake& intake, Setup& setup);
[[nodiscard]] Result<> read_flavor(const NamedObject& named, Intake& intake, Setup& setup);
[[nodiscard]] Result<> read_cluster_queue(const NamedObject& named, Intake& intake, Setup& setup);
[[nodiscard]] Result<> read_cohort(const NamedObject& named, Intake& intake, Setup& setup);
[[nodiscard]] Result<> read_local_queue(const NamedObject& named, Setup& setup);
[[nodiscard]] Result<> read_priority_class(const NamedObject& named, Setup& setup);

// When all is read: follows the references between them, opens the quota cells, and notes which
// topologies are partial. A queue with a reference that points nowhere is not active, and the user is told.
// Fails where cohorts go round in a circle.
[[nodiscard]] Result<> connect(Setup& setup, Intake& intake);

}  // namespace gantree::kueue
