// What a new cluster of `gantree up` is filled with: kinds of workloads, nodes, the network they are in.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "apiserver/api.h"
#include "base/error.h"

namespace gantree {

// What was done to the cluster once, kept as annotations of the namespace kube-system.
inline constexpr std::string_view kNodesMark = "gantree.dev/nodes";        // what its nodes were made from
inline constexpr std::string_view kNetworkMark = "gantree.dev/network";    // and its topologies
inline constexpr std::string_view kWebhooksMark = "gantree.dev/webhooks";  // the uids of its webhooks, joined by commas
[[nodiscard]] std::string read_mark(apiserver::Api& api, std::string_view mark);
[[nodiscard]] Result<> set_mark(apiserver::Api& api, std::string_view mark, const std::string& value);

[[nodiscard]] bool has_nodes(apiserver::Api& api);

// The kinds that the controllers know and no API server has by itself.
[[nodiscard]] Result<> add_workload_kinds(apiserver::Api& api);

// Nodes as the shape says ("nvl72", "blocks=4,racks=8"). Those that are there stay as they are.
[[nodiscard]] Result<> add_generated_nodes(apiserver::Api& api, const std::string& shape);
// The network that they are in. Waits for the scheduler's webhooks, which judge it, but not for ever.
[[nodiscard]] Result<> add_topologies(apiserver::Api& api, const std::string& shape, const std::stop_token& stop);

// The Nodes of a file of manifests, a dump of a real cluster for example; other kinds in it are passed over.
[[nodiscard]] Result<> add_nodes_of_file(apiserver::Api& api, const std::string& file);

}  // namespace gantree
