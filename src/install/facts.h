// What the doctor knows of a cluster: answers of the API server, boiled down.
//
// The readers take what the API server sent: a list, of which each page is added, or one object. They fail with a
// sentence where it is not what was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/kai/neighbour.h"
#include "dialects/koordinator/coverage.h"
#include "dialects/kueue/neighbour.h"

namespace gantree {

struct NodeFact {
  koordinator::NodeLabels node;
  bool ready = false;
  bool schedulable = true;
};

struct WaitingPod {
  std::string ns;
  std::string name;
  std::string scheduler;
  std::int64_t created_seconds = 0;
  std::string message;  // of the condition PodScheduled; "" where there is none yet
};

struct DeploymentFact {
  std::string ns;
  std::string name;
  std::int64_t wanted = 0;
  std::int64_t available = 0;
  std::vector<std::string> arguments = {};  // of all its containers
};

struct LeaseFact {
  std::string holder;  // "" where nobody holds it
  std::int64_t renewed_seconds = 0;
  std::int64_t duration_seconds = 0;
};

struct WebhookFact {
  std::string name;
  std::string bundle;  // PEM
};

// How a definition has its objects converted from one version to another.
struct ConversionFact {
  bool webhook = false;  // by somebody who is asked; else only the apiVersion is changed
  std::string service;   // "namespace/name" of who that is; "" where it is a URL
  std::string bundle;    // PEM
};

// Kueue's description of the network, and of the nodes for which it counts.
struct LevelsFact {
  std::string name;
  std::vector<std::string> labels;  // coarse to fine
};
struct FlavorFact {
  std::string name;
  std::string topology;  // "" where it has none
  LabelMap labels;       // of its nodes
};

// A ClusterQueue, by its own word.
struct QueueFact {
  std::string name;
  bool active = true;
  std::string reason;
  std::string message;
};

// A resource that the server has in one version of a group.
struct ServedKind {
  std::string plural;
  bool status = false;  // has a status of its own
};

[[nodiscard]] Result<std::string> read_version(std::string_view json);  // "v1.36.3"
[[nodiscard]] Result<> read_nodes(std::string_view json, std::vector<NodeFact>& nodes);
[[nodiscard]] Result<> read_waiting_pods(std::string_view json, std::vector<WaitingPod>& pods);
[[nodiscard]] Result<> read_deployments(std::string_view json, std::vector<DeploymentFact>& deployments);
[[nodiscard]] Result<LeaseFact> read_lease_fact(std::string_view json);
[[nodiscard]] Result<std::vector<WebhookFact>> read_webhooks(std::string_view json);
// Adds the configurations of a list.
[[nodiscard]] Result<> read_neighbour(std::string_view json, kueue::Neighbour& neighbour);
[[nodiscard]] Result<> read_neighbour(std::string_view json, kai::Neighbour& neighbour);
[[nodiscard]] Result<ConversionFact> read_conversion(std::string_view json);
[[nodiscard]] Result<> read_levels(std::string_view json, std::vector<LevelsFact>& topologies);
[[nodiscard]] Result<> read_flavors(std::string_view json, std::vector<FlavorFact>& flavors);
[[nodiscard]] Result<> read_queues(std::string_view json, std::vector<QueueFact>& queues);
[[nodiscard]] Result<> read_names(std::string_view json, std::vector<std::string>& names);  // "namespace/name"
[[nodiscard]] Result<> read_ready_endpoints(std::string_view json, std::size_t& ready);
[[nodiscard]] Result<std::vector<ServedKind>> read_served(std::string_view json);
[[nodiscard]] Result<bool> read_allowed(std::string_view json);  // of an access review

// Where the next page of a list begins; "" at its end.
[[nodiscard]] std::string continue_token(std::string_view json);

}  // namespace gantree
